# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""TCP and UDP between the same hosts, for reference.

Latency and message rates by qperf, bandwidth by iperf3. Not the same work as
RDMA: a yardstick of what the same pair's network stack can do.
"""

import json
import re

from bench.exchange import CellError, Ports, exchange
from bench.matrix import Run
from qemu.lab import Lab

SECONDS = 1             # of one measurement
TIMEOUT = 40            # seconds of wall clock for one client
IP_UDP = 28             # bytes of IPv4 and UDP headers

# qperf with -uu prints plain units; what it calls what.
_LATENCY = re.compile(r"^\s+latency\s+=\s+([\d.]+) ns$", re.M)
_RECEIVED = re.compile(r"^\s+(?:recv_)?bw\s+=\s+([\d.]+) bytes/sec$", re.M)


def datagram(run: Run) -> int:
    """Bytes of payload in a datagram: the cell's size, or what fits a
    packet."""
    return min(run.size, run.mtu - IP_UDP)


def measure(lab: Lab, ports: Ports, run: Run, proto: str) -> dict[str, float]:
    """Figures of "tcp" or "udp" by kind: {"lat": us}, {"rate": ...} or
    {"bw": MiB/s}. Raises CellError, GuestError."""
    if run.test == "lat":
        out = _qperf(lab, ports, run.size, f"{proto}_lat")
        return {"lat": _one(_LATENCY, out) / 1000}
    if "rate" in run.kinds:
        out = _qperf(lab, ports, run.size, f"{proto}_bw")
        return {"rate": _one(_RECEIVED, out) / run.size}
    return {"bw": _iperf3(lab, ports, run, proto)}


def _one(pattern: re.Pattern, out: str) -> float:
    found = pattern.findall(out)
    if len(found) != 1 or not float(found[0]) > 0:
        raise CellError(f"{len(found)} figures instead of one in:\n{out}")
    return float(found[0])


def _qperf(lab: Lab, ports: Ports, size: int, test: str) -> str:
    """qperf's -n hangs in socket tests (0.4.11), so it runs for a time."""
    port = ports.take()
    went = exchange(lab.b, f"qperf -lp {port}", lab.a,
                    f"qperf {lab.b.ip4} -lp {port} -t {SECONDS} "
                    f"-m {size} -uu -e 6 {test}", port, TIMEOUT, ends=False)
    return went.asked.out


def _iperf3(lab: Lab, ports: Ports, run: Run, proto: str) -> float:
    port = ports.take()
    size = f"-u -b 0 -l {datagram(run)}" if proto == "udp" else f"-l {run.size}"
    went = exchange(lab.b, f"iperf3 -s -1 -p {port}", lab.a,
                    f"iperf3 -c {lab.b.ip4} -p {port} -t {SECONDS} -J {size}",
                    port, TIMEOUT)
    return received(went.asked.out)


def received(out: str) -> float:
    """MiB/s that arrived, from iperf3's JSON; CellError if it has none."""
    try:
        end = json.loads(out)["end"]
        figure = end["sum_received"]["bits_per_second"] / 8 / 2**20
    except (ValueError, KeyError, TypeError) as error:
        raise CellError(f"not iperf3's report ({error!r}):\n{out[-2000:]}") \
            from None
    if not figure > 0:
        raise CellError("iperf3 received nothing")
    return figure
