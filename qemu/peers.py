# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What behaviour tests do: a server program on one host, its client on the
other, and what both say afterwards.
"""

import contextlib
import time
from collections.abc import Callable, Iterator

from qemu.limits import scaled
from qemu.machine import Job, Result
from qemu.verdict import Skip

CHECK_PORT = 18520      # verbs_check's side channel
PERFTEST_PORT = 18515   # perftest's default, and ibv_*_pingpong's
SKIPPED = 77            # exit status of a guest program that skips

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


def _listening(host, port: int, job: Job) -> bool:
    if not job.running():
        raise AssertionError(f"the server on host {host.name} ended at once: "
                             f"{job.cmd}\n{job.output()}{job.errors()}")
    return bool(host.sh(f"ss -Hltn 'sport = :{port}'").strip())


@contextlib.contextmanager
def serving(host, cmd: str, port: int = 0, ready: str = "") -> Iterator[Job]:
    """A server's job, from when it can be connected to until the block ends.

    port: TCP port it listens on then; ready: what it has written then.
    """
    job = host.start(cmd)
    try:
        if port:
            poll(lambda: _listening(host, port, job), 20,
                 f"{cmd} listens on port {port}")
        if ready:
            poll(lambda: ready in job.output() or not job.running(), 20,
                 f"{cmd} says {ready!r}")
        yield job
    finally:
        job.stop()


def expect_ok(what: str, *results: tuple[str, Result]) -> None:
    """AssertionError unless every (role, result) exited with status 0."""
    bad = [f"{role} exited {result.code}: "
           f"{(result.err or result.out).strip()[-1500:]}"
           for role, result in results if result.code]
    if bad:
        # The end that names the cause first, the one that heard of it after.
        bad.sort(key=lambda line: "the peer" in line)
        raise AssertionError(f"{what}: " + "; ".join(bad))


def exchange(what: str, server, server_cmd: str, client, client_cmd: str,
             port: int = 0, ready: str = "", limit: float = 40) -> str:
    """Run a server and its client, both to their ends; returns what the
    client wrote. AssertionError unless both exit 0.

    limit: seconds for the client, scaled.
    """
    with serving(server, server_cmd, port, ready) as job:
        result = client.run(client_cmd, timeout=scaled(limit))
        if result.code:
            expect_ok(what, ("client", result), ("server", job.stop()))
        done = job.wait(scaled(10))
    expect_ok(what, ("client", result), ("server", done))
    return result.out


def verbs_check(lab, options: str, family: int = 4, swap: bool = False,
                limit: float = 50) -> str:
    """Run verbs_check between the hosts; returns what the client wrote.

    family: 4 or 6, of the addresses and GIDs; swap: b is the client;
    limit: seconds, scaled. AssertionError when it fails, Skip when it skips.
    """
    client, server = (lab.b, lab.a) if swap else (lab.a, lab.b)
    seconds = int(scaled(limit))
    common = (f"/payload/bin/verbs_check -p {CHECK_PORT} -T {seconds} "
              f"-W {int(scaled(15) * 1000)}")
    with serving(server, f"{common} -d {server.dev}", ready="ready") as job:
        result = client.run(f"{common} -d {client.dev} {options} "
                            f"{address(server, family)}",
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


def gid_index(host, family: int = 4) -> int:
    """The index of a host's RoCE v2 GID of a family, for tools that ask.

    AssertionError when there is none.
    """
    port = f"/sys/class/infiniband/{host.dev}/ports/1"
    table = host.sh(f"cd {port}/gids; for i in *; do "
                    f"t=$(cat ../gid_attrs/types/$i 2>/dev/null) && "
                    f"echo $i $(cat $i) $t; done")
    for line in table.splitlines():
        index, gid, *kind = line.split()
        mapped = gid.startswith("0000:0000:0000:0000:0000:ffff:")
        local = gid.startswith("fe80:")
        if (" ".join(kind) == "RoCE v2" and not local
                and mapped == (family == 4)):
            return int(index)
    raise AssertionError(f"host {host.name} has no RoCE v2 GID of IPv"
                         f"{family}:\n{table}")


def perftest(lab, tool: str, options: str, limit: float = 40) -> str:
    """Run a program of perftest, a is the client; returns its output."""
    server, client = (f"{tool} -F -d {host.dev} -x {gid_index(host)} "
                      f"{options}" for host in (lab.b, lab.a))
    return exchange(f"{tool} {options}", lab.b, server, lab.a,
                    f"{client} {lab.b.ip4}", port=PERFTEST_PORT, limit=limit)


def pingpong(lab, tool: str, options: str, limit: float = 40) -> str:
    """Run ibv_*_pingpong, a is the client; returns its output."""
    server, client = (f"{tool} -d {host.dev} -g {gid_index(host)} {options}"
                      for host in (lab.b, lab.a))
    return exchange(f"{tool} {options}", lab.b, server, lab.a,
                    f"{client} {lab.b.ip4}", port=PERFTEST_PORT, limit=limit)
