# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""posts what depends on each other, on receives and regions that come and go."""

from qemu.peers import verbs_rules

REQUIRES = {"seconds": 90}


def run(lab):
    for case in ("mixed-list", "not-ready", "dereg-busy"):
        verbs_rules(lab.a, case)
