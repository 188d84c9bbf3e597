# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""exchanges messages with GIDs of a VLAN on the device."""

from qemu import uppers
from qemu.peers import path_mtu, sizes_around, verbs_check

REQUIRES = {"seconds": 120}
NUMBER = 9


def run(lab):
    sizes = sizes_around(path_mtu(lab))
    small = [str(size) for size in sizes if size <= path_mtu(lab)]
    with uppers.vlan(lab, NUMBER) as families:
        for gids in families:
            verbs_check(lab, "-t rc -o send,write,read -n 8 -b 1048576 "
                             f"-s {','.join(map(str, sizes))}", gids=gids)
            verbs_check(lab, "-t rc -o fetch_add -n 40", gids=gids)
            verbs_check(lab, "-t uc -o send,write -n 8 -b 1048576 "
                             "-s 64,40000", gids=gids)
            verbs_check(lab, f"-t ud -o send -n 8 -s {','.join(small)}",
                        gids=gids)
