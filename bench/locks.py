# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Which locks a message takes, for A and B, by the kernel's lock_stat.

    /usr/bin/python3 -m bench.locks

One VM, two network namespaces, 64-byte writes, a kernel of its own with
CONFIG_LOCK_STAT (Documentation/locking/lockstat.rst). What start-up takes is
subtracted: a short run from a long one.
"""

import re

from bench.exchange import Ports
from bench.matrix import DEPTH, Run
from bench.perftest import Link, measure
from qemu import lab as labs
from scripts.errors import LabError, run_main
from scripts.kernel import kernel

SHORT, LONG = 500, 4500         # messages
SIDES = ("A", "B")
LEAST = 0.02                    # acquisitions per message that are shown
STAT = "/proc/lock_stat"
CLASS = re.compile(r"^ *(\S.*?): +((?:[\d.]+ +){11}[\d.]+)$", re.M)
ACQUISITIONS = 7                # of the numbers behind a class's name

WRITES = Run("insn", "write", "bw", size=64, qps=1, mtu=labs.MTU, post_list=1,
             depth=DEPTH, events=False, iterations=LONG, short=SHORT,
             kinds=(), refs=())


def parse(text: str) -> dict[str, int]:
    """Acquisitions by lock class in what /proc/lock_stat says.

    The read and the write side of a class count together. Raises LabError if
    there is no class in it.
    """
    counts: dict[str, int] = {}
    for name, numbers in CLASS.findall(text):
        name = re.sub(r"-[RW]$", "", name)
        counts[name] = (counts.get(name, 0)
                        + int(numbers.split()[ACQUISITIONS]))
    if not counts:
        raise LabError(f"no lock class in:\n{text[:500]}")
    return counts


def per_message(short: dict[str, int], long: dict[str, int]
                ) -> dict[str, float]:
    """Acquisitions per message from those of the two runs."""
    return {name: (long[name] - short.get(name, 0)) / (LONG - SHORT)
            for name in long}


def _count(link: Link, messages: int) -> dict[str, int]:
    host = link.lab.a
    host.sh(f"echo 0 > {STAT}")
    measure(link, WRITES, messages)
    return parse(host.sh(f"cat {STAT}"))


def of_sides() -> dict[str, dict[str, float]]:
    """Acquisitions per message by lock class, of each side."""
    found = {}
    with labs.single(kernel("lockstat")) as lab:
        for side in SIDES:
            lab.load(side)
            link = Link.of(lab, side, Ports())
            measure(link, WRITES, SHORT)
            found[side] = per_message(_count(link, SHORT),
                                      _count(link, LONG))
            splats = lab.splats()
            if splats:
                raise LabError("\n".join(splats))
    return found


def table(found: dict[str, dict[str, float]]) -> str:
    """Lines for people: a class per line, the most taken ones first."""
    names = {name for counts in found.values() for name, taken in
             counts.items() if taken >= LEAST}
    rows = sorted((-max(found[side].get(name, 0) for side in SIDES), name)
                  for name in names)
    lines = [f"{'acquisitions per 64-byte write':44}"
             + "".join(f"{side:>8}" for side in SIDES)]
    for _, name in rows:
        lines.append(f"{name:44}" + "".join(
            f"{max(found[side].get(name, 0.0), 0.0):8.2f}" for side in SIDES))
    return "\n".join(lines)


def main() -> int:
    print(table(of_sides()))
    return 0


if __name__ == "__main__":
    run_main("bench.locks", main)
