# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""lets mainline's driver be the client of the tested one."""

from qemu.peers import interoperate

REQUIRES = {"sides": ("A", "B"), "seconds": 120}


def run(lab):
    interoperate(lab)
