# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""resets a queue pair with work in it, and uses it again."""

from qemu.peers import verbs_rules

REQUIRES = {"seconds": 60}


def run(lab):
    for case in ("reset-pending", "reset-failed"):
        verbs_rules(lab.a, case)
