# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""writes 8-byte words atomically."""

from qemu.peers import both_families


def run(lab):
    both_families(lab, "-t rc -o atomic_write -n 100")
