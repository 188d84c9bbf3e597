# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Instruction mode: virtual time and kernel instructions per message.

One guest, one vCPU, one instruction is one nanosecond, so perftest's own
figures are in virtual time. Kernel instructions are counted by the emulator
from when the server listens to when both have ended; what start-up costs is
in a short and in a long run alike, and the difference is that of the messages
between them.
"""

from dataclasses import dataclass

from bench import perftest
from bench.exchange import CellError, Exchange, Probe
from bench.matrix import Run
from qemu.lab import Lab


@dataclass(frozen=True)
class Counted:
    """A measurement in instruction mode; kernel is per message, both ends."""

    numbers: perftest.Numbers
    kernel: float

    def of(self, kind: str) -> float:
        return self.kernel if kind == "kinsn" else self.numbers.of(kind)


class InsnProbe(Probe):
    """kernel: instructions from when the server listens to both ends' end.

    The guest marks both moments itself: a host that looks a little later
    finds that the idle guest's timers have gone on executing.
    """

    # The server's last word, so that the client's shell can wait for it
    # without starting a program.
    FIFO = "/run/bench.fifo"

    def __init__(self, lab: Lab):
        self.kernel = 0
        self._lab = lab
        self._marks = lab.between_marks()[0]

    def wrap(self, serve: str, ask: str) -> tuple[str, str]:
        return (f"rm -f {self.FIFO}; mkfifo {self.FIFO}; {serve}; r=$?; "
                f"echo $r > {self.FIFO}; exit $r",
                f"mark; {ask}; r=$?; [ $r -ne 0 ] || read -r s < {self.FIFO}; "
                "mark; exit $r")

    def unwrap(self, went: Exchange) -> str:
        marks, _, self.kernel = self._lab.between_marks()
        if marks != self._marks + 2:
            raise CellError(f"{marks - self._marks} marks of the instruction "
                            "counter instead of 2")
        return went.asked.out


def measure(link: perftest.Link, run: Run) -> Counted:
    """A short and a long run; raises like perftest.measure()."""
    short = InsnProbe(link.lab)
    perftest.measure(link, run, run.short, short)
    long = InsnProbe(link.lab)
    numbers = perftest.measure(link, run, run.iterations, long)
    kernel = (long.kernel - short.kernel) / (run.messages
                                             - run.short * run.qps)
    if kernel <= 0:
        raise CellError(f"{run.iterations} iterations took {long.kernel} "
                        f"kernel instructions, {run.short} {short.kernel}")
    return Counted(numbers, kernel)
