# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""loses one packet in a hundred on the wire, each way, and no byte."""

from qemu.peers import with_faults

REQUIRES = {"faults": True, "seconds": 150}


def run(lab):
    with_faults(lab, "lost", loss=0.01)
