# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""runs ibv_rc_pingpong with completion events."""

from qemu.peers import pingpong

REQUIRES = {"tools": ("ibv_rc_pingpong",)}


def run(lab):
    pingpong(lab, "ibv_rc_pingpong", "-e -n 500 -s 4096")
