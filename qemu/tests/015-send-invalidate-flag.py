# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""finds IBV_WC_WITH_INV, by its value in verbs.h, in a receive completion."""

from qemu.peers import verbs_check


def run(lab):
    verbs_check(lab, "-t rc -f -o send_inv -n 2 -s 64")
