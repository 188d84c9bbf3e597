# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""flushes written ranges to global visibility."""

from qemu.peers import around


def run(lab):
    around(lab, "-t rc -o flush")
