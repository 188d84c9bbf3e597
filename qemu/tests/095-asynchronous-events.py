# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""drains a send queue, empties a shared receive queue: its user is told."""

from qemu.peers import verbs_rules

REQUIRES = {"seconds": 60}


def run(lab):
    for case in ("event-drained", "event-srq-limit", "event-last-wqe"):
        verbs_rules(lab.a, case)
