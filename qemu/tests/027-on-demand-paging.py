# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""moves bytes from and to a region that is paged on demand."""

from qemu.peers import verbs_rules

REQUIRES = {"seconds": 30}


def run(lab):
    verbs_rules(lab.a, "on-demand")
