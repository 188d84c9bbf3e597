# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""lets packets overtake one in a hundred on the wire, each way."""

from qemu.peers import with_faults

REQUIRES = {"faults": True, "seconds": 150}


def run(lab):
    with_faults(lab, "late", reorder=0.01)
