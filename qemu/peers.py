# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What behaviour tests do: a server program on one host, its client on the
other, and what both say afterwards.
"""

import contextlib
import re
import time
from collections.abc import Callable, Iterator

from qemu.limits import scaled
from qemu.machine import Job, Result
from qemu.verdict import Lacking, Skip

CHECK_PORT = 18520      # verbs_check's side channel
PERFTEST_PORT = 18515   # perftest's default, and ibv_*_pingpong's
SKIPPED = 77            # exit status of a guest program that skips
TRACE = "/sys/kernel/tracing/trace"
UNIT = re.compile(r"rxe_unit: .* packets=(\d+) bytes=(\d+)")

# Message sizes around every boundary of segmentation; see sizes_around().
LARGE = (64 << 10, 1 << 20)


def path_mtu(lab) -> int:
    """The path MTU that a lab's Ethernet MTU allows, in bytes.

    60 bytes are the headers beyond the payload that every driver reserves:
    IPv6, UDP, BTH and the longest extension.
    """
    mtu = 256
    while mtu < 4096 and mtu * 2 + 60 <= lab.facts["mtu"]:
        mtu *= 2
    return mtu


def sizes_around(mtu: int) -> list[int]:
    """Sizes at which segmentation changes, for a path MTU in bytes."""
    return sorted({1, mtu - 1, mtu, mtu + 1, 4 * mtu - 1, 4 * mtu,
                   4 * mtu + 1, *LARGE})


def address(host, family: int) -> str:
    """A host's IPv4 (4) or IPv6 (6) address."""
    return host.ip6 if family == 6 else host.ip4


def poll(condition: Callable[[], bool], limit: float, what: str) -> None:
    """Wait until a condition holds; AssertionError when it does not.

    limit: seconds, scaled for slow kernels.
    """
    end = time.monotonic() + scaled(limit)
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {scaled(limit):.0f} s")
        time.sleep(0.05)


@contextlib.contextmanager
def serving(host, cmd: str, port: int = 0, ready: str = "",
            cm_port: int = 0) -> Iterator[Job]:
    """A server's job, from when it can be connected to until the block ends.

    port: TCP port it listens on then; ready: what it has written then;
    cm_port: port of the RDMA connection manager it listens on then.
    """
    conditions = {
        f"listen on TCP port {port}":
            port and (lambda: bool(host.sh(f"ss -Hltn 'sport = :{port}'"))),
        f"say {ready!r}":
            ready and (lambda: ready in job.output()),
        f"listen on CM port {cm_port}":
            cm_port and (lambda: f":{cm_port} " in
                         host.sh("rdma resource show cm_id"))}
    job = host.start(cmd)
    try:
        for what, holds in conditions.items():
            if holds:
                poll(lambda: holds() or not job.running(), 20,
                     f"host {host.name}: expected {cmd!r} to {what}")
        yield job
    finally:
        job.stop()


def expect_ok(what: str, *results: tuple[str, Result]) -> None:
    """AssertionError unless every (role, result) exited with status 0."""
    bad = [f"{role} exited {result.code}: "
           f"{(result.err or result.out).strip()[-1500:]}"
           for role, result in results if result.code]
    # An end that only heard of the other's failure has nothing to add.
    causes = [line for line in bad if "the peer failed" not in line] or bad
    if causes:
        raise AssertionError(f"{what}: " + "; ".join(causes))


def exchange(what: str, server, server_cmd: str, client, client_cmd: str,
             limit: float = 40, **until) -> str:
    """Run a server and its client, both to their ends; returns what the
    client wrote. AssertionError unless both exit 0.

    limit: seconds for the client, scaled; until: as for serving().
    """
    with serving(server, server_cmd, **until) as job:
        result = client.run(client_cmd, timeout=scaled(limit))
        if result.code:
            expect_ok(what, ("client", result), ("server", job.stop()))
        done = job.wait(scaled(10))
    expect_ok(what, ("client", result), ("server", done))
    return result.out


def verbs_check(lab, options: str, family: int = 4, swap: bool = False,
                limit: float = 50, offset: int = 0,
                gids: dict[str, str] | None = None) -> str:
    """Run verbs_check between the hosts; returns what the client wrote.

    family: 4 or 6, of the addresses and GIDs; swap: b is the client;
    limit: seconds, scaled; offset: of the TCP port, for several at once;
    gids: other addresses whose GIDs the hosts (by name) use.
    AssertionError when it fails, Skip when it skips.
    """
    client, server = (lab.b, lab.a) if swap else (lab.a, lab.b)
    seconds = int(scaled(limit))
    gid = {host.name: f"-x {host.gid(gids[host.name])}" if gids else ""
           for host in (lab.a, lab.b)}
    common = (f"/payload/bin/verbs_check -p {CHECK_PORT + offset} "
              f"-T {seconds} -W {int(scaled(15) * 1000)}")
    with serving(server, f"{common} -d {server.dev} {gid[server.name]}",
                 ready="ready") as job:
        result = client.run(f"{common} -d {client.dev} {gid[client.name]} "
                            f"{options} {address(server, family)}",
                            timeout=seconds + 15)
        # A server whose client could not reach it would wait for it.
        done = job.stop() if result.code else job.wait(scaled(20))
    for end in (result, done):
        if end.code == SKIPPED:
            raise Skip(end.err.strip().partition("skipped: ")[2])
    expect_ok(f"verbs_check {options} over IPv{family}", ("client", result),
              ("server", done))
    return result.out


def both_families(lab, options: str, limit: float = 50) -> None:
    """verbs_check over IPv4 and over IPv6."""
    for family in (4, 6):
        verbs_check(lab, options, family, limit=limit)


def around(lab, options: str, limit: float = 50, large: bool = True) -> None:
    """verbs_check with sizes around the path MTU, over both families.

    large: with sizes of more than one packet.
    """
    mtu = path_mtu(lab)
    sizes = [s for s in sizes_around(mtu) if large or s <= mtu]
    both_families(lab, f"{options} -s {','.join(map(str, sizes))}", limit)


def perftest(lab, tool: str, options: str, limit: float = 40,
             under: str = "") -> str:
    """Run a program of perftest, a is the client; returns its output.

    under: what starts the client, as "taskset 1".
    """
    server, client = (f"{tool} -F -d {host.dev} -x {host.gid(host.ip4)} "
                      f"{options}" for host in (lab.b, lab.a))
    return exchange(f"{tool} {options}", lab.b, server, lab.a,
                    f"{under} {client} {lab.b.ip4}".lstrip(),
                    port=PERFTEST_PORT, limit=limit)


def counter(host, name: str) -> int:
    """A hardware counter of a host's device, sent_pkts for example."""
    return int(host.sh(f"cat /sys/class/infiniband/{host.dev}/ports/1/"
                       f"hw_counters/{name}"))


def flows(host, when: str = "now") -> None:
    """Wait until data arrive at a host: so few that a slow kernel does it."""
    before = counter(host, "rcvd_bytes")
    poll(lambda: counter(host, "rcvd_bytes") > before + (64 << 10), 10,
         f"{when}, the peer receives data")


def rests(host) -> None:
    """Nothing may arrive at a host, but what has been on the way."""
    time.sleep(0.3)
    before = counter(host, "rcvd_bytes")
    time.sleep(0.3)
    more = counter(host, "rcvd_bytes") - before
    assert not more, f"{more} bytes arrived"


def verbs_rules(host, case: str, limit: float = 40) -> None:
    """Run one case of verbs_rules on a host; limit: seconds, scaled."""
    result = host.run(f"/payload/bin/verbs_rules {host.dev} "
                      f"{host.gid(host.ip4)} {case}", timeout=scaled(limit))
    expect_ok(f"verbs_rules {case}", (f"host {host.name}", result))


def pingpong(lab, tool: str, options: str, limit: float = 40) -> str:
    """Run ibv_*_pingpong, a is the client; returns its output."""
    server, client = (f"{tool} -d {host.dev} -g {host.gid(host.ip4)} {options}"
                      for host in (lab.b, lab.a))
    return exchange(f"{tool} {options}", lab.b, server, lab.a,
                    f"{client} {lab.b.ip4}", port=PERFTEST_PORT, limit=limit)


@contextlib.contextmanager
def queueing(host, qdisc: str) -> Iterator[None]:
    """Another queueing discipline at a host's interface until the block ends.

    Lacking when the kernel does not have it.
    """
    result = host.run(f"tc qdisc replace dev {host.netdev} root {qdisc}")
    if re.search("kind is unknown|not supported", result.err):
        raise Lacking(f"the kernel has no {qdisc.partition(' ')[0]}")
    expect_ok(f"tc qdisc {qdisc}", ("tc", result))
    try:
        yield
    finally:
        host.sh(f"tc qdisc del dev {host.netdev} root")


@contextlib.contextmanager
def traced(host, event: str) -> Iterator[bool]:
    """Record a tracepoint of the driver, from an empty trace, until the block
    ends; yields whether the driver has it.

    Lacking when the kernel does not trace.
    """
    if host.run(f"echo > {TRACE}").code:
        raise Lacking("the kernel does not trace")
    enable = f"/sys/kernel/tracing/events/rxe/{event}/enable"
    known = not host.run(f"echo 1 > {enable}").code
    try:
        yield known
    finally:
        if known:
            host.sh(f"echo 0 > {enable}")


def largest_unit(host) -> int:
    """The most packets that left a host together, by its trace of rxe_unit; 0
    if there is none."""
    seen = UNIT.findall(host.sh(f"cat {TRACE}"))
    assert all(int(size) < 1 << 16 for _, size in seen), seen
    return max((int(packets) for packets, _ in seen), default=0)


def interoperate(lab) -> None:
    """Every operation from host a to host b, whatever drivers they have."""
    around(lab, "-t rc -o send,send_imm,write,write_imm,read -n 8 -b 1048576")
    around(lab, "-t rc -o send_inv -n 2")
    both_families(lab, "-t rc -o cmp_swap,fetch_add,atomic_write -n 40")
    around(lab, "-t rc -w -o write,read -n 4")
    # Deep enough that the requester, not the round, asks for ACKs.
    both_families(lab, "-t rc -D 64 -l 16 -n 128 -b 1048576 "
                       "-o send,write,read -s 1,64,5000,65536")
    around(lab, "-t uc -o send,write -n 8 -b 1048576")
    around(lab, "-t ud -o send -n 8", large=False)


def with_faults(lab, count: str, **rates: float) -> None:
    """Every RC operation over a faulty wire, both ways, with validation.

    count: the field of faultwire.Counts that must have grown, or the test
    has tested nothing; rates: of the faults, see faultwire.Faults.
    """
    deep = "-t rc -r 14 -D 32 -l 8 -n 64 -b 1048576 -s 64,4096,40000"
    with lab.wire.faults(**rates):
        for swap in (False, True):
            verbs_check(lab, f"{deep} -o send,write,write_imm,read",
                        swap=swap)
        verbs_check(lab, "-t rc -r 14 -D 16 -n 200 "
                         "-o cmp_swap,fetch_add")
        verbs_check(lab, "-t rc -r 14 -o send_inv -n 40 -s 64")
        for way in (lab.wire.forward, lab.wire.back):
            assert getattr(way.counts, count) > 5, (
                f"too few packets were {count}: {way.counts}")
