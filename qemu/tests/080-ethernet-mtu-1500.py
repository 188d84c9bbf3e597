# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""exchanges messages of every size over an Ethernet MTU of 1500."""

from qemu.peers import around, path_mtu

REQUIRES = {"mtu": 1500}


def run(lab):
    assert path_mtu(lab) == 1024, lab.facts
    around(lab, "-t rc -o send,write,read -n 8 -b 524288")
    around(lab, "-t ud -o send -n 8", large=False)
