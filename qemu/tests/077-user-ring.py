# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""writes to a mapped send queue what no library would: it is refused."""

from qemu.peers import verbs_rules

REQUIRES = {"seconds": 120, "own_boot": True}
CASES = ("ring-state", "ring-num-sge", "ring-inline-length", "ring-length",
         "ring-index", "ring-scribble", "ring-opcode", "ring-reg-mr")


def run(lab):
    for case in CASES:
        verbs_rules(lab.a, case)
