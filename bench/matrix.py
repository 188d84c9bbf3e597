# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The matrix: which perftest runs each mode makes, and what they yield."""

import itertools
import tomllib
from dataclasses import dataclass
from pathlib import Path

MODES = ("two-vm", "insn", "native")
SETS = ("quick", "full")
VERBS = ("send", "write", "read", "atomic")
TESTS = ("lat", "bw")
REFS = ("siw", "tcp", "udp")
MATRIX = Path(__file__).with_name("matrix.toml")

# kind of a cell -> unit, and which direction is better
KINDS = {
    "bw": ("MiB/s", "higher"),
    "lat": ("us", "lower"),
    "rate": ("msg/s", "higher"),
    "kinsn": ("instructions/msg", "lower"),
    "p99": ("us", "lower"),
}

LEAST = 5           # iterations that perftest accepts
DEPTH = 128         # of the send queue, perftest's default

_LISTS = ("verb", "test", "sizes", "qps", "mtu", "post_list", "depth",
          "events", "family", "qdisc")


class MatrixError(Exception):
    """The matrix file says something impossible; the message says where."""


@dataclass(frozen=True)
class Run:
    """One perftest command; `kinds` are the cells that it yields."""

    mode: str
    verb: str
    test: str               # "lat" | "bw"
    size: int               # bytes per message
    qps: int
    mtu: int                # of the link, bytes
    post_list: int          # work requests per post
    depth: int              # of the send queue (bw only)
    events: bool            # sleep on completion events instead of polling
    iterations: int         # per QP
    short: int              # iterations of the run to subtract; 0: none
    kinds: tuple[str, ...]
    refs: tuple[str, ...]
    family: int = 4         # of the addresses that the QPs use
    qdisc: str = ""         # its name in the matrix; "": the interface's own
    shape: tuple[str, ...] = ()     # that qdisc, as arguments of calls of tc

    @property
    def name(self) -> str:
        """Unique within a matrix: "two-vm write_bw 64B q4"."""
        words = [self.mode, f"{self.verb}_{self.test}", f"{self.size}B"]
        if self.qps > 1:
            words.append(f"q{self.qps}")
        if self.post_list > 1:
            words.append(f"l{self.post_list}")
        if self.depth != DEPTH:
            words.append(f"d{self.depth}")
        if self.events:
            words.append("events")
        if self.family != 4:
            words.append(f"ip{self.family}")
        if self.qdisc:
            words.append(self.qdisc)
        words.append(f"m{self.mtu}")
        return " ".join(words)

    @property
    def messages(self) -> int:
        """Messages of one run, all QPs together."""
        return self.iterations * self.qps


@dataclass(frozen=True)
class Plan:
    """What one mode does."""

    mode: str
    reps: int               # of A and of B
    ref_reps: int           # of the reference variants
    runs: tuple[Run, ...]

    def cells(self) -> int:
        return sum(len(run.kinds) for run in self.runs)


def load(which: str = "quick", path: Path = MATRIX) -> dict[str, Plan]:
    """The plans of a set by mode, in the order of MODES.

    Raises MatrixError.
    """
    with path.open("rb") as file:
        data = tomllib.load(file)
    if which not in SETS or which not in data:
        raise MatrixError(f"no matrix {which!r}: MATRIX is one of {SETS}")
    unknown = set(data[which]) - set(MODES)
    if unknown:
        raise MatrixError(f"{which}: no such mode: {sorted(unknown)}")
    return {mode: _plan(data, which, mode) for mode in MODES
            if mode in data[which]}


def _plan(data: dict, which: str, mode: str) -> Plan:
    section = data[which][mode]
    where = f"{which}.{mode}"
    if section["reps"] < 1:
        raise MatrixError(f"{where}: reps must be at least 1")
    runs = [run for entry in section["run"]
            for run in _expand(data, mode, entry, where)]
    names = [run.name for run in runs]
    for name in names:
        if names.count(name) > 1:
            raise MatrixError(f"{where}: {name} is there twice")
    return Plan(mode, section["reps"], section["ref_reps"], tuple(runs))


def _expand(data: dict, mode: str, entry: dict, where: str) -> list[Run]:
    """All the runs of an entry: the product of its lists."""
    unknown = set(entry) - set(_LISTS) - {"refs"}
    if unknown:
        raise MatrixError(f"{where}: unknown key {sorted(unknown)} in {entry}")
    given = {"qps": [1], "mtu": [data["mtu"]], "post_list": [1],
             "depth": [DEPTH], "events": [False], "family": [4],
             "qdisc": [""]} | entry
    lists = []
    for key in _LISTS:
        value = given[key]
        lists.append(value if isinstance(value, list) else [value])
    refs = tuple(entry.get("refs", ()))
    return [_run(data, mode, combination, refs, where)
            for combination in itertools.product(*lists)]


def _run(data: dict, mode: str, combination: tuple, refs: tuple,
         where: str) -> Run:
    (verb, test, size, qps, mtu, post_list, depth, events, family,
     qdisc) = combination
    refused = (_refuse(verb, test, size, qps, post_list, depth, events, refs)
               or _refuse_link(test, family, qdisc, refs, data))
    if refused:
        raise MatrixError(f"{where}: {combination}: {refused}")
    table = data["iterations"][mode]
    count = _messages(table[test], size, where) // qps
    count -= count % post_list      # perftest refuses anything else
    short = max(LEAST, count // table["short"]) if mode == "insn" else 0
    short -= short % post_list
    kinds = _kinds(mode, test, size, data["rate_below"])
    return Run(mode, verb, test, size, qps, mtu, post_list, depth, events,
               count, short, kinds, refs, family, qdisc,
               tuple(data["qdisc"][qdisc]) if qdisc else ())


def _refuse(verb: str, test: str, size: int, qps: int, post_list: int,
            depth: int, events: bool, refs: tuple) -> str:
    """Why perftest cannot do this; "" when it can."""
    lists = {"post lists": post_list > 1, "a depth": depth != DEPTH,
             "several QPs": qps > 1}
    if verb not in VERBS or test not in TESTS:
        return f"verbs are {VERBS}, tests {TESTS}"
    if set(refs) - set(REFS):
        return f"reference variants are {REFS}"
    if not 2 <= size <= 1 << 20:
        return "sizes are 2 B to 1 MiB"
    if verb == "atomic" and size != 8:
        return "an atomic operation has 8 bytes"
    if verb == "atomic" and "siw" in refs:
        return "siw has no atomic operations"
    if verb == "write" and events:
        return "a write causes no event at its target"
    if events and qps > 1:
        return "perftest hangs with events when several QPs share a queue"
    if test == "lat" and any(lists.values()):
        return f"latency runs have none of {list(lists)}"
    if post_list > depth:
        return "a post list is not longer than the queue"
    return ""


def _refuse_link(test: str, family: int, qdisc: str, refs: tuple,
                 data: dict) -> str:
    """Why the hosts cannot be connected like this; "" when they can."""
    if family not in (4, 6):
        return "families are 4 and 6"
    if family == 6 and refs:
        return "the reference variants use IPv4"
    if qdisc and qdisc not in data.get("qdisc", {}):
        return f"queueing disciplines are {list(data.get('qdisc', {}))}"
    if qdisc and test == "lat":
        return "latency runs have no queueing discipline"
    return ""


def _messages(rows: list, size: int, where: str) -> int:
    for limit, count in rows:
        if size <= limit:
            return count
    raise MatrixError(f"{where}: no iteration count for {size} bytes")


def _kinds(mode: str, test: str, size: int, rate_below: int) -> tuple:
    if test == "lat":
        first = "lat"
    else:
        first = "rate" if size < rate_below else "bw"
    if mode == "insn":
        return (first, "kinsn")
    return ("lat", "p99") if test == "lat" else (first,)


def choose(plans: dict[str, Plan], modes: str = "", cells: str = "",
           reps: int | None = None) -> dict[str, Plan]:
    """Narrow the plans, for developers.

    modes: names separated by commas or blanks; empty: all.
    cells: alternatives separated by commas, each of words of a run's name,
           verb or test, all of which it must have ("write bw 64B, lat").
    reps:  repetitions instead of the plan's.
    Raises MatrixError when nothing is left.
    """
    wanted = modes.replace(",", " ").split() or list(plans)
    for mode in wanted:
        if mode not in plans:
            raise MatrixError(f"no mode {mode!r}: MODES are {list(plans)}")
    filters = [item.split() for item in cells.split(",") if item.strip()]
    chosen = {}
    for mode, plan in plans.items():
        runs = tuple(run for run in plan.runs if mode in wanted
                     and _matches(run, filters))
        if runs:
            chosen[mode] = Plan(mode, reps or plan.reps, plan.ref_reps, runs)
    if not chosen:
        raise MatrixError(f"CELLS={cells!r} leaves nothing to measure")
    return chosen


def _matches(run: Run, filters: list[list[str]]) -> bool:
    words = {*run.name.split(), run.verb, run.test}
    return not filters or any(words.issuperset(item) for item in filters)
