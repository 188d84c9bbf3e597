# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""reads messages of every size over RC."""

from qemu.peers import around


def run(lab):
    around(lab, "-t rc -o read")
