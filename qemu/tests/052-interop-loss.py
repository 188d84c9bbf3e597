# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""talks to mainline's driver, both ways, on a wire that loses packets."""

from qemu.peers import with_faults

REQUIRES = {"sides": ("B", "A"), "faults": True, "seconds": 150}


def run(lab):
    with_faults(lab, "lost", loss=0.01)
