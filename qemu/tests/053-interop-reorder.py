# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""talks to mainline's driver, both ways, on a wire that reorders packets."""

from qemu.peers import with_faults

REQUIRES = {"sides": ("B", "A"), "faults": True, "seconds": 150}


def run(lab):
    with_faults(lab, "late", reorder=0.02)
