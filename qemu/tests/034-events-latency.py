# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""runs ib_send_lat with completion events."""

from qemu.peers import perftest

REQUIRES = {"tools": ("ib_send_lat",), "seconds": 140}


def run(lab):
    for _ in range(3):
        perftest(lab, "ib_send_lat", "-e -n 200 -s 64", limit=40)
