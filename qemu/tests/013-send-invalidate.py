# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""invalidates a memory window with each send, and finds its key dead."""

from qemu.peers import around


def run(lab):
    around(lab, "-t rc -o send_inv -n 4")
