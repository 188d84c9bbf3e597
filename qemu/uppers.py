# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A VLAN on top of the hosts' interfaces, with addresses of its own: the RDMA
devices below get their GIDs.
"""

import contextlib
from collections.abc import Iterator

from qemu.errors import CommandFailed
from qemu.peers import poll

VLAN = "vlan0"          # its device in a guest
VRF = "vrf0"            # likewise, of the VRF that it is in
TABLE = 77              # of that VRF's routes


def has_gid(host, address: str) -> bool:
    """Whether a host's RDMA device has the GID of an address."""
    try:
        host.gid(address)
    except CommandFailed:
        return False
    return True


def addresses(host, number: int) -> tuple[str, str]:
    """A host's IPv4 and IPv6 address in a VLAN."""
    last = host.ip4.rpartition(".")[2]
    return f"10.79.{number}.{last}", f"fd79:{number}::{last}"


def _add(host, number: int, vrf: bool) -> None:
    ip4, ip6 = addresses(host, number)
    master = f"ip link set {VLAN} master {VRF}" if vrf else ""
    # The addresses come last: another master takes IPv6's away.
    host.sh(f"""set -e
ip link add link {host.netdev} name {VLAN} type vlan id {number}
{master}
echo 0 > /proc/sys/net/ipv6/conf/{VLAN}/accept_dad
ip link set {VLAN} up
ip addr add {ip4}/24 dev {VLAN}
ip addr add {ip6}/64 dev {VLAN} nodad""")
    for ip in (ip4, ip6):
        poll(lambda: has_gid(host, ip), 10, f"host {host.name}: a GID of {ip}")


@contextlib.contextmanager
def vlan(lab, number: int,
         vrf: bool = False) -> Iterator[list[dict[str, str]]]:
    """A VLAN between the hosts until the block ends; yields its addresses by
    the hosts' names, those of IPv4 and those of IPv6.

    vrf: in a VRF on both hosts.
    """
    with contextlib.ExitStack() as stack:
        for host in (lab.a, lab.b):
            if vrf:
                host.sh(f"ip link add {VRF} type vrf table {TABLE} && "
                        f"ip link set {VRF} up")
                stack.callback(host.sh, f"ip link del {VRF}")
            stack.callback(host.run, f"ip link del {VLAN}")
            _add(host, number, vrf)
        yield [{host.name: addresses(host, number)[which]
                for host in (lab.a, lab.b)} for which in (0, 1)]
