# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""changes a host's MTU and its address while data are sent."""

from collections.abc import Callable

from qemu.limits import scaled
from qemu.machine import Result
from qemu.peers import (PERFTEST_PORT, address, expect_ok, flows, poll,
                        rests, serving, verbs_check)
from qemu.uppers import has_gid

REQUIRES = {"tools": ("ib_write_bw",), "seconds": 120, "two_guests": True}
SECONDS = 8             # on a fast kernel; longer than the changes take
SMALL_MTU = 1500        # of a path of 4096


def small_mtu(lab) -> None:
    """What is too long for the interface does not leave."""
    dev = lab.a.netdev
    lab.a.sh(f"ip link set {dev} mtu {SMALL_MTU}")
    try:
        rests(lab.b)
    finally:
        lab.a.sh(f"ip link set {dev} mtu {lab.mtu}")
    flows(lab.b, "with the old MTU")


def no_address(lab) -> None:
    """A host takes nothing for an address that it has not. When it has it
    again, that is another GID; a connection that used the first one has ended.
    """
    ip = lab.b.ip6
    net = f"{ip}/64 dev {lab.b.netdev}"
    lab.b.sh(f"ip addr del {net}")
    try:
        rests(lab.b)
    finally:
        lab.b.sh(f"ip addr add {net} nodad")
    poll(lambda: has_gid(lab.b, ip), 10, f"host b: a GID of {ip}")


def write_while(lab, family: int, change: Callable) -> Result:
    """Writes with GIDs of IPv4 (4) or IPv6 (6) during a change; how the client
    ended."""
    server, client = (
        f"ib_write_bw -F -d {host.dev} -x {host.gid(address(host, family))} "
        f"-s 4096 -u 14 -D {scaled(SECONDS):.0f}" for host in (lab.b, lab.a))
    with serving(lab.b, server, PERFTEST_PORT):
        job = lab.a.start(f"{client} {lab.b.ip4}")
        flows(lab.b, "at first")
        change(lab)
        return job.wait(scaled(30))


def run(lab):
    for family in (4, 6):
        expect_ok(f"ib_write_bw over IPv{family}",
                  ("client", write_while(lab, family, small_mtu)))
    write_while(lab, 6, no_address)
    verbs_check(lab, "-t rc -o write,read -s 64,65536", 6)
