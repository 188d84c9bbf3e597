# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Instruction mode: virtual time and kernel instructions per message.

One guest, one vCPU, one instruction is one nanosecond, so perftest's own
figures are in virtual time. Kernel instructions are counted by the emulator
over whole commands; what start-up costs is in a short and in a long run
alike, and the difference is that of the messages between them.
"""

from dataclasses import dataclass

from bench import perftest
from bench.exchange import CellError
from bench.matrix import Run


@dataclass(frozen=True)
class Counted:
    """A measurement in instruction mode; kernel is per message, both ends."""

    numbers: perftest.Numbers
    kernel: float

    def of(self, kind: str) -> float:
        return self.kernel if kind == "kinsn" else self.numbers.of(kind)


def measure(link: perftest.Link, run: Run) -> Counted:
    """A short and a long run; raises like perftest.measure()."""
    start = link.lab.instructions()[1]
    perftest.measure(link, run, run.short)
    middle = link.lab.instructions()[1]
    numbers = perftest.measure(link, run, run.iterations)
    end = link.lab.instructions()[1]
    more = (run.iterations - run.short) * run.qps
    kernel = ((end - middle) - (middle - start)) / more
    if kernel <= 0:
        raise CellError(f"{more} more messages took {end - middle} kernel "
                        f"instructions, not more than {middle - start}")
    return Counted(numbers, kernel)
