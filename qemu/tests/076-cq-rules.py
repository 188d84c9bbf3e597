# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""looks for what a completion queue promises: events for errors, overflow."""

from qemu.peers import verbs_rules

REQUIRES = {"seconds": 60}


def run(lab):
    for case in ("solicited-error", "overflow", "overflow-recv"):
        verbs_rules(lab.a, case)
