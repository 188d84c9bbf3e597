# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What the series may not cost: connections per second, and memory.

    python3 -m bench.bounds [REPETITIONS]

Two VMs; A and B take turns. Of each turn:
- the time that cmtime(1) needs to set up and tear down connections;
- how much less memory a guest has available, at worst, while 64 queue pairs
  write at full speed, than it had before the driver was loaded. Both guests'
  drivers' memory, that of perftest's processes and buffers included.
"""

import re
import sys
from dataclasses import replace
from statistics import median

from bench import perftest
from bench.exchange import Ports
from bench.matrix import Run
from bench.perftest import Link
from bench.schedule import turns
from qemu import lab as labs
from qemu.lab import Host, Lab
from qemu.peers import serving
from scripts.errors import LabError, run_main
from scripts.kernel import kernel
from scripts.progress import Step

REPS = 3
PORT = 7175
CONNECTIONS = 200
QPS = 64
MESSAGES = 200          # of 4 KiB, per queue pair
# More than the wire's queues (1000 packets and the NIC's 256) take is lost, and
# A's queue pairs end with an error then.
DEPTH = 8
LIMIT = 120             # seconds for cmtime
WARM = Run("two-vm", "write", "bw", size=4096, qps=1, mtu=labs.MTU,
           post_list=1, depth=DEPTH, events=False, iterations=MESSAGES,
           short=0, kinds=("bw",), refs=())
BUSY = replace(WARM, qps=QPS)
STEP = re.compile(r"^[a-z ]+: +([\d.]+)(?: +[\d.]+){3}$", re.M)
# Prints the least memory that was available, in KiB, when it is ended.
WATCH = ("least=99999999; trap 'echo $least; exit' TERM; while :; do "
         "while read -r name kib unit; do [ $name != MemAvailable: ] || "
         "[ $kib -ge $least ] || least=$kib; done < /proc/meminfo; "
         "sleep 0.1; done")

# kind -> unit, and how many times A's median B's may be, at least or at most
BOUNDS = {"connections": ("1/s", 0.9, None), "memory": ("MiB", None, 1.3)}


def connections(out: str) -> float:
    """Connections per second in what cmtime's client printed.

    It takes all connections through one step after the other; a step's first
    figure is the milliseconds of all of them.
    """
    steps = [float(total) for total in STEP.findall(out)]
    if not steps or not sum(steps) > 0:
        raise LabError(f"no table of cmtime:\n{out}")
    return CONNECTIONS / sum(steps) * 1000


def connect(lab: Lab) -> float:
    """Connections per second that the two hosts set up and tear down."""
    with serving(lab.b, f"cmtime -p {PORT} -b {lab.b.ip4}", cm_port=PORT):
        return connections(lab.a.sh(
            f"cmtime -p {PORT} -s {lab.b.ip4} -c {CONNECTIONS}", LIMIT))


def available(host: Host) -> int:
    """KiB that a guest could give to processes."""
    return int(host.sh("sync; echo 3 > /proc/sys/vm/drop_caches; "
                       "grep MemAvailable /proc/meminfo").split()[1])


def memory(link: Link, before: list[int]) -> float:
    """MiB that both guests have less at worst than they had before."""
    watches = [host.start(WATCH) for host in (link.lab.a, link.lab.b)]
    perftest.measure(link, BUSY, MESSAGES)
    least = [int(watch.stop().out) for watch in watches]
    return sum(had - has for had, has in zip(before, least)) / 1024


def measure(reps: int) -> dict[str, dict[str, list[float]]]:
    """Samples by kind and side."""
    found = {kind: {"A": [], "B": []} for kind in BOUNDS}
    order = turns(reps, 0, ())
    ports = Ports()
    with (labs.pair(kernel("perf")) as lab,
          Step("connections and memory", "bench-bounds", len(order),
               "turns") as step):
        for turn in order:
            step.at(step.done, turn.variant)
            lab.unload()
            before = [available(host) for host in (lab.a, lab.b)]
            lab.load(turn.variant)
            link = Link.of(lab, turn.variant, ports)
            perftest.measure(link, WARM, MESSAGES)
            found["memory"][turn.variant].append(memory(link, before))
            found["connections"][turn.variant].append(connect(lab))
            if splats := lab.splats():
                raise LabError("\n".join(splats))
            step.add()
        lab.unload()
    return found


def verdict(kind: str, a: list[float], b: list[float]) -> tuple[bool, str]:
    """Whether B keeps to the bound, and a line that says so."""
    unit, least, most = BOUNDS[kind]
    ratio = median(b) / median(a)
    kept = (least is None or ratio >= least) and (most is None
                                                  or ratio <= most)
    sides = ", ".join(
        f"{side} {median(taken):.1f} {unit} "
        f"[{min(taken):.1f}..{max(taken):.1f}]"
        for side, taken in (("A", a), ("B", b)))
    bound = f"at least {least}" if least else f"at most {most}"
    return kept, (f"{kind}: {sides}, B/A {ratio:.2f} ({bound}): "
                  f"{'kept' if kept else 'NOT KEPT'}")


def main(argv: list[str]) -> int:
    reps = int(argv[0]) if argv else REPS
    found = measure(reps)
    verdicts = [verdict(kind, sides["A"], sides["B"])
                for kind, sides in found.items()]
    print("\n".join(line for _, line in verdicts))
    return 0 if all(kept for kept, _ in verdicts) else 1


if __name__ == "__main__":
    run_main("bench.bounds", lambda: main(sys.argv[1:]))
