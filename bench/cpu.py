# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Guest CPU time of a command, from /proc/stat around it."""

from dataclasses import dataclass

from bench import stats
from bench.exchange import Exchange, Probe

USER_HZ = 100       # ticks per second in /proc/stat, on every architecture


@dataclass(frozen=True)
class Ticks:
    """Busy time of a guest in ticks of 1/USER_HZ s."""

    user: int
    kernel: int     # system, hardirq and softirq

    def __add__(self, other: "Ticks") -> "Ticks":
        return Ticks(self.user + other.user, self.kernel + other.kernel)

    def __sub__(self, other: "Ticks") -> "Ticks":
        return Ticks(self.user - other.user, self.kernel - other.kernel)


def parse(line: str) -> Ticks:
    """Ticks of /proc/stat's first line; ValueError if it is another."""
    words = line.split()
    if len(words) < 8 or words[0] != "cpu":
        raise ValueError(f"not the first line of /proc/stat: {line!r}")
    user, nice, system, _idle, _iowait, irq, softirq = map(int, words[1:8])
    return Ticks(user + nice, system + irq + softirq)


def wrap(cmd: str) -> str:
    """A shell command that prints /proc/stat's first line before and after
    cmd and exits with cmd's status. No extra process runs beside cmd."""
    return ("read -r s < /proc/stat; echo \"$s\"; "
            f"{cmd}; r=$?; read -r s < /proc/stat; echo \"$s\"; exit $r")


def unwrap(out: str) -> tuple[Ticks, Ticks, str]:
    """(ticks before, ticks after, output of cmd) of what wrap(cmd) printed."""
    lines = out.splitlines()
    if len(lines) < 2:
        raise ValueError(f"no two lines of /proc/stat in {out!r}")
    return parse(lines[0]), parse(lines[-1]), "\n".join(lines[1:-1])


class CpuProbe(Probe):
    """spent: CPU time of both guests, from when the server listened."""

    def __init__(self) -> None:
        self.spent = Ticks(0, 0)

    def wrap(self, serve: str, ask: str) -> tuple[str, str]:
        return wrap(serve), wrap(ask)

    def unwrap(self, went: Exchange) -> str:
        before, after, out = unwrap(went.asked.out)
        _, ended, _ = unwrap(went.served.out)
        self.spent = after - before + (ended - parse(went.ready))
        return out


def median(ticks: list[Ticks]) -> Ticks:
    """Medians of both kinds of at least one."""
    return Ticks(round(stats.median([t.user for t in ticks])),
                 round(stats.median([t.kernel for t in ticks])))


def per_message(run: Ticks, base: Ticks, messages: int) -> tuple[float, float]:
    """(all, kernel only) CPU time of a message in us.

    run:      of a run with `messages` more messages than the run
    base:     whose start-up is subtracted.
    Raises ValueError when the runs are too short to tell.
    """
    spent = run - base
    busy = spent.user + spent.kernel
    if busy <= 0 or spent.kernel <= 0:
        raise ValueError("too short a run for /proc/stat's ticks")
    scale = 1e6 / USER_HZ / messages
    return busy * scale, spent.kernel * scale
