# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""sends messages of every size over UC, with and without immediate data."""

from qemu.peers import around


def run(lab):
    around(lab, "-t uc -o send,send_imm")
