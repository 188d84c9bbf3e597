# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""posts bursts of any length; all of each is sent, though no doorbell follows."""

from qemu.peers import verbs_rules

REQUIRES = {"seconds": 60}


def run(lab):
    verbs_rules(lab.a, "bursts")
