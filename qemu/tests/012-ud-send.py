# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""sends datagrams up to the path MTU over UD, alone and in lists."""

from qemu.peers import around, both_families


def run(lab):
    around(lab, "-t ud -o send,send_imm", large=False)
    both_families(lab, "-t ud -o send -D 16 -l 8 -n 64 -s 1,64,1000")
