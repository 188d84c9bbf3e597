# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""writes words atomically over a wire that loses, doubles and reorders."""

from qemu.peers import verbs_check

REQUIRES = {"faults": True, "seconds": 150}


def run(lab):
    for rates in ({"loss": 0.02}, {"duplicate": 0.05}, {"reorder": 0.05}):
        with lab.wire.faults(**rates):
            verbs_check(lab, "-t rc -r 14 -D 16 -n 400 -o atomic_write")
