# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""exchanges messages with GIDs of a VLAN on the device."""

from qemu import uppers
from qemu.peers import path_mtu, sizes_around, verbs_check

REQUIRES = {"seconds": 120}
NUMBER = 9


def both(lab, options: str) -> None:
    """verbs_check with the VLAN's GIDs, of IPv4 and of IPv6."""
    for which in (0, 1):
        gids = {host.name: uppers.addresses(host, NUMBER)[which]
                for host in (lab.a, lab.b)}
        verbs_check(lab, options, gids=gids)


def run(lab):
    sizes = sizes_around(path_mtu(lab))
    small = [str(size) for size in sizes if size <= path_mtu(lab)]
    with uppers.vlan(lab, NUMBER):
        both(lab, "-t rc -o send,write,read -n 8 -b 1048576 "
                  f"-s {','.join(map(str, sizes))}")
        both(lab, "-t rc -o fetch_add -n 40")
        both(lab, "-t uc -o send,write -n 8 -b 1048576 -s 64,40000")
        both(lab, f"-t ud -o send -n 8 -s {','.join(small)}")
