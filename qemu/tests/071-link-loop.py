# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""creates and deletes the device fifty times, also with its netdev down."""

from qemu.limits import scaled
from qemu.peers import verbs_check

REQUIRES = {"seconds": 240}

# Without keep_addr_on_down the IPv6 address, and its GID, would be lost.
LOOP = """set -e
echo 1 > /proc/sys/net/ipv6/conf/{netdev}/keep_addr_on_down
for i in $(seq 50); do
    rdma link del {dev}
    [ $((i % 10)) != 0 ] || ip link set {netdev} down
    rdma link add {dev} type rxe netdev {netdev}
    [ $((i % 10)) != 0 ] || ip link set {netdev} up
done
rdma link del {dev}
[ ! -e /sys/class/infiniband/{dev} ]
"""


def run(lab):
    lab.a.sh(LOOP.format(dev=lab.a.dev, netdev=lab.a.netdev), scaled(200))
    lab.a.link("rxe")
    verbs_check(lab, "-t rc -o send -s 64")
