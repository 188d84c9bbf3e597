# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""changes the route to the peer while data are sent."""

from qemu.limits import scaled
from qemu.peers import (PERFTEST_PORT, address, expect_ok, flows, rests,
                        serving)

REQUIRES = {"tools": ("ib_write_bw",), "seconds": 120}
SECONDS = 8             # on a fast kernel; longer than the changes take


def change(lab, routes: tuple[str, ...]) -> None:
    """Routes of a to nowhere, and back each time; they are ip's words."""
    flows(lab.b)
    for route in routes:
        lab.a.sh(f"ip route add {route}")
        try:
            rests(lab.b)
        finally:
            lab.a.sh(f"ip route del {route}")
        flows(lab.b)


def write_and_change(lab, family: int, routes: tuple[str, ...]) -> None:
    """Writes over IPv4 (4) or IPv6 (6), which go on after each change."""
    server, client = (
        f"ib_write_bw -F -d {host.dev} -x {host.gid(address(host, family))} "
        f"-s 4096 -u 14 -D {scaled(SECONDS):.0f}" for host in (lab.b, lab.a))
    with serving(lab.b, server, PERFTEST_PORT):
        job = lab.a.start(f"{client} {lab.b.ip4}")
        change(lab, routes)
        expect_ok("ib_write_bw", ("client", job.wait(scaled(30))))


def run(lab):
    # A neighbour that is not there; without a route IPv4 would think that the
    # peer is a neighbour.
    nobody = lab.b.ip4.rpartition(".")[0] + ".77"
    write_and_change(lab, 4, (f"{lab.b.ip4} via {nobody}",))
    write_and_change(lab, 6, (f"unreachable {lab.b.ip6}",
                              f"blackhole {lab.b.ip6}"))
