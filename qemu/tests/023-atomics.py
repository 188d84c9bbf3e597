# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""compares and swaps, fetches and adds, many times on one word."""

from qemu.peers import both_families


def run(lab):
    both_families(lab, "-t rc -o cmp_swap,fetch_add -n 200")
