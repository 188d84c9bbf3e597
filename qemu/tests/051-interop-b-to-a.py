# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""lets mainline's driver be the server of the tested one."""

from qemu.peers import interoperate

REQUIRES = {"sides": ("B", "A"), "seconds": 120}


def run(lab):
    interoperate(lab)
