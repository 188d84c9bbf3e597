# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""sends datagrams up to the path MTU over UD, with and without immediate."""

from qemu.peers import around


def run(lab):
    around(lab, "-t ud -o send,send_imm", large=False)
