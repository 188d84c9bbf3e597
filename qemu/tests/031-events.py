# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""sleeps on completion events in every kind of exchange."""

from qemu.peers import around, verbs_check


def run(lab):
    around(lab, "-t rc -e -o send,write,write_imm,read -n 8 -b 524288")
    verbs_check(lab, "-t rc -e -o send -D 1 -n 300 -s 64")
    verbs_check(lab, "-t ud -e -o send -D 1 -n 300 -s 64")
