# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""uses every path MTU below the port's, with sizes around each."""

from qemu.peers import path_mtu, sizes_around, verbs_check


def run(lab):
    mtu = 256
    while mtu < path_mtu(lab):
        sizes = ",".join(map(str, sizes_around(mtu)[:-1]))
        verbs_check(lab, f"-t rc -o send,write_imm,read -m {mtu} -n 8 "
                         f"-b 131072 -s {sizes}")
        mtu *= 2
