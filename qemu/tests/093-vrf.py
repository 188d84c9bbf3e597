# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""exchanges messages with GIDs of a device that is in a VRF."""

from qemu import uppers
from qemu.peers import verbs_check

REQUIRES = {"seconds": 120}
NUMBER = 10

# Sockets that are bound to no device are for VRFs too: Documentation/networking/
# vrf.rst, "Applications". RoCE's socket is one of them.
ACCEPT = "/proc/sys/net/ipv4/udp_l3mdev_accept"


def run(lab):
    hosts = (lab.a, lab.b)
    with uppers.vlan(lab, NUMBER, vrf=True) as families:
        for host in hosts:
            host.sh(f"echo 1 > {ACCEPT}")
        try:
            for gids in families:
                verbs_check(lab, "-t rc -o send,write,read -n 8 -b 1048576 "
                                 "-s 1,4096,65536", gids=gids)
                verbs_check(lab, "-t ud -o send -n 8 -s 64,1024", gids=gids)
        finally:
            for host in hosts:
                host.sh(f"echo 0 > {ACCEPT}")
