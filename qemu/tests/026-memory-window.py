# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""reaches memory through a type 2 window, until that is invalidated."""

from qemu.peers import around


def run(lab):
    around(lab, "-t rc -w -o write,write_imm,read,cmp_swap,fetch_add -n 8 "
                "-b 524288")
