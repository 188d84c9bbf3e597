# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""runs ib_send_bw with completion events."""

from qemu.peers import perftest

REQUIRES = {"tools": ("ib_send_bw",)}


def run(lab):
    perftest(lab, "ib_send_bw", "-e -n 500 -s 4096")
