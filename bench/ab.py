# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A against B in one boot: unload, load, all runs, and again.

A failed run is recorded and the others go on: the driver is loaded anew, and
when the guest is lost another is booted. What failed once on A or B is not
tried again; a reference variant only fails when no repetition succeeds.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from bench import cpu, insn, perftest, sockets
from bench.exchange import CellError, Ports
from bench.matrix import DEPTH, Plan, Run
from bench.modes import Opener, Session
from bench.schedule import Turn, turns
from qemu.errors import CommandFailed, GuestError, JobTimeout
from qemu.lab import Lab
from scripts.errors import LabError

# Samples that variants take beside the kinds of their cells.
CPU = ("cpu", "cpu_kernel")

# The run before the first of a load. It is not recorded: neighbours are
# resolved, code is paged in, and its CPU time is that of a start-up.
WARM_UP = 60

Progress = Callable[[str], None]


@dataclass
class Samples:
    """What one run collected: values by variant, kind and repetition.

    errors: by variant; a variant with an error has no samples that count.
    missed: why repetitions of reference variants are missing.
    """

    run: Run
    values: dict[str, dict[str, dict[int, float]]] = field(
        default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    missed: dict[str, str] = field(default_factory=dict)

    def add(self, variant: str, kind: str, rep: int, value: float) -> None:
        kinds = self.values.setdefault(variant, {})
        kinds.setdefault(kind, {})[rep] = value

    def fail(self, variant: str, why: str) -> None:
        kept = self.errors if variant in ("A", "B") else self.missed
        kept.setdefault(variant, why)

    def settle(self) -> None:
        """Turn into errors what no repetition of a reference measured."""
        for name, why in self.missed.items():
            if not self.values.get(name):
                self.errors.setdefault(name, why)


def variants(run: Run) -> list[str]:
    """All variants that a run compares."""
    return ["A", "B", *run.refs]


def takes_part(run: Run, turn: Turn) -> bool:
    """Whether a run has something to measure in a turn."""
    if turn.variant == "sockets":
        return bool({"tcp", "udp"} & set(run.refs))
    return turn.variant in variants(run)


def order(plan: Plan) -> list[Turn]:
    """The turns of a plan; only with the references that its runs name."""
    refs = tuple(name for name in ("siw", "sockets")
                 if any(takes_part(run, Turn(name, 0)) for run in plan.runs))
    return turns(plan.reps, plan.ref_reps, refs)


def units(plan: Plan) -> int:
    """How many measurements a plan makes, for progress."""
    return sum(takes_part(run, turn)
               for turn in order(plan) for run in plan.runs)


@contextlib.contextmanager
def _shaped(lab: Lab, run: Run) -> Iterator[None]:
    """The run's queueing discipline where its data leaves, until the end."""
    if not run.shape:
        yield
        return
    host = lab.b if run.verb == "read" else lab.a
    try:
        for words in run.shape:
            host.sh(f"tc qdisc add dev {host.netdev} {words}")
        yield
    finally:
        host.sh(f"tc qdisc del dev {host.netdev} root")


class Bench:
    """The measurement of one mode.

    plan:     its runs; say: called with what each measurement is, before it.
    """

    def __init__(self, plan: Plan, boot: Opener, say: Progress):
        self.plan = plan
        self.boot = boot
        self.say = say
        self.samples = {run.name: Samples(run) for run in plan.runs}
        self.facts: dict = {}
        self.fault = ""         # what ended the boot, if something did
        self._ports = Ports()
        self._start_ups: list[cpu.Ticks] = []
        self._spent: list[tuple[Run, Turn, cpu.Ticks]] = []
        self._paged_in: set[tuple[str, str]] = set()

    def measure(self) -> list[Samples]:
        """All turns. Never raises LabError: when no guest can be booted, or
        the driver cannot be removed in the end, `fault` says so, and what
        could not be measured has that as its error."""
        try:
            with Session(self.boot) as session:
                self.facts = dict(session.lab.facts)
                for turn in order(self.plan):
                    self._turn(session, turn)
                session.lab.unload()
        except LabError as error:
            self.fault = str(error)
            self._fail_missing()
        self._account()
        for samples in self.samples.values():
            samples.settle()
        return list(self.samples.values())

    def _fail_missing(self) -> None:
        for samples in self.samples.values():
            for name in variants(samples.run):
                reps = (self.plan.reps if name in ("A", "B")
                        else self.plan.ref_reps)
                taken = samples.values.get(name, {}).values()
                if not taken or min(len(v) for v in taken) < reps:
                    samples.fail(name, self.fault)

    def _turn(self, session: Session, turn: Turn) -> None:
        runs = sorted((run for run in self.plan.runs
                       if takes_part(run, turn)), key=lambda run: -run.mtu)
        link = self._load(session, turn, runs)
        for run in runs:
            self._say(turn, run)
            if link is None or self._failed(run, turn):
                continue
            try:
                self._run(session, link, turn, run)
            except (CellError, CommandFailed, JobTimeout, GuestError) as error:
                self._fail(run, turn, str(error))
                if isinstance(error, GuestError):
                    self._reboot(session)
                link = self._load(session, turn, runs)

    def _load(self, session: Session, turn: Turn,
              runs: list[Run]) -> perftest.Link | None:
        """Load the turn's driver; None, and errors recorded, if that fails."""
        lab = session.lab
        try:
            if turn.variant == "sockets":
                return perftest.Link(lab, "sockets", self._ports)
            self._set_mtu(session, runs[0])
            lab.load(turn.variant)
            link = perftest.Link.of(lab, turn.variant, self._ports)
            self._warm_up(link, runs[0])
            self._check(session)
            return link
        except LabError as error:
            why = f"cannot load {turn.variant}: {error}"
        for run in runs:
            self._fail(run, turn, why)
        self._reboot(session)
        return None

    def _warm_up(self, link: perftest.Link, run: Run) -> None:
        warm = Run(run.mode, "write", "bw", 64, 1, run.mtu, 1, DEPTH, False,
                   WARM_UP, 0, ("rate",), ())
        probe = cpu.CpuProbe()
        perftest.measure(link, warm, WARM_UP, probe)
        self._start_ups.append(probe.spent)

    def _run(self, session: Session, link: perftest.Link, turn: Turn,
             run: Run) -> None:
        self._set_mtu(session, run)
        with _shaped(session.lab, run):
            found = self._found(session, link, turn, run)
        self._check(session)
        for variant, values in found.items():
            for kind, value in values.items():
                self.samples[run.name].add(variant, kind, turn.rep, value)

    def _found(self, session: Session, link: perftest.Link, turn: Turn,
               run: Run) -> dict[str, dict[str, float]]:
        """Measure a run once; its values by variant and kind."""
        if turn.variant == "sockets":
            return {name: sockets.measure(session.lab, self._ports, run, name)
                    for name in run.refs if name in ("tcp", "udp")}
        if run.mode == "insn":
            self._page_in(link, run)
            counted = insn.measure(link, run)
            return {turn.variant: {k: counted.of(k) for k in run.kinds}}
        probe = cpu.CpuProbe()
        numbers = perftest.measure(link, run, run.iterations, probe)
        self._spent.append((run, turn, probe.spent))
        return {turn.variant: {k: numbers.of(k) for k in run.kinds}}

    def _page_in(self, link: perftest.Link, run: Run) -> None:
        """Run a program once per boot before its instructions count."""
        if (run.verb, run.test) not in self._paged_in:
            perftest.measure(link, run, run.short)
            self._paged_in.add((run.verb, run.test))

    def _reboot(self, session: Session) -> None:
        self._paged_in.clear()
        session.reboot()

    def _set_mtu(self, session: Session, run: Run) -> None:
        if session.lab.mtu != run.mtu:
            session.lab.set_mtu(run.mtu)

    def _account(self) -> None:
        """CPU time per message, where guests have CPUs of their own.

        None for a run that was too short for the guests' clock ticks.
        """
        if self.plan.mode != "two-vm" or not self._start_ups:
            return
        base = cpu.median(self._start_ups)
        for run, turn, spent in self._spent:
            try:
                found = cpu.per_message(spent, base, run.messages - WARM_UP)
            except ValueError:
                continue
            for kind, value in zip(CPU, found):
                self.samples[run.name].add(turn.variant, kind, turn.rep, value)

    def _check(self, session: Session) -> None:
        splats = session.lab.splats()
        if splats:
            raise CellError("kernel splat:\n" + "\n".join(splats))

    def _failed(self, run: Run, turn: Turn) -> bool:
        errors = self.samples[run.name].errors
        return all(name in errors for name in self._names(run, turn))

    def _names(self, run: Run, turn: Turn) -> list[str]:
        """The variants that a turn measures of a run."""
        if turn.variant == "sockets":
            return [name for name in run.refs if name in ("tcp", "udp")]
        return [turn.variant]

    def _fail(self, run: Run, turn: Turn, why: str) -> None:
        for name in self._names(run, turn):
            self.samples[run.name].fail(name, why)

    def _say(self, turn: Turn, run: Run) -> None:
        what = turn.variant
        reps = (self.plan.reps if what in ("A", "B") else self.plan.ref_reps)
        self.say(f"{what} {turn.rep + 1} of {reps}: {run.name}")
