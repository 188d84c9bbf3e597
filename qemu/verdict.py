# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What a test did, what side A is recorded to do, and what follows from both.

A record is one line, `pass`, `skip: reason`, `fail: cause` or
`crash: cause`: the first word is compared, the rest is for people.
"""

import enum
from dataclasses import dataclass
from textwrap import shorten

NOTE = 100      # characters of side A's cause beside an outcome on B


class Verdict(enum.Enum):
    """How a test ended. CRASH: a guest was lost in it."""

    PASS = "pass"
    SKIP = "skip"
    FAIL = "fail"
    CRASH = "crash"


class Skip(Exception):
    """Raised by a test that cannot run; the text names what is missing."""


class Lacking(Skip):
    """Raised by a test that this guest has no program or no module for."""


@dataclass(frozen=True)
class Outcome:
    """The end of one test.

    name:    test, or suite/case;
    reason:  why it did not pass, its first line tells the cause;
    seconds: wall clock;
    lacking: a skip because of this machine, not because of the driver.
    """

    name: str
    verdict: Verdict
    reason: str = ""
    seconds: float = 0.0
    lacking: bool = False

    @property
    def cause(self) -> str:
        """The first line of the reason."""
        return self.reason.strip().partition("\n")[0]

    def record(self) -> str:
        """The line that records this outcome."""
        if self.verdict is Verdict.PASS:
            return "pass"
        return f"{self.verdict.value}: {self.cause}"


def parse_record(line: str) -> tuple[Verdict, str]:
    """(verdict, cause) of a record line; ValueError if it is none."""
    word, _, cause = line.strip().partition(":")
    verdict = Verdict(word)
    if verdict is not Verdict.PASS and not cause.strip():
        raise ValueError(f"{line.strip()!r} gives no cause")
    return verdict, cause.strip()


@dataclass(frozen=True)
class Judged:
    """An outcome on B beside the record of A.

    counts_as: "passed", "failed" or "skipped", what B did;
    note:      "", or what the comparison says;
    regression: B is worse than A, or there is nothing to compare with.
    """

    outcome: Outcome
    counts_as: str
    note: str = ""
    regression: bool = False


def judge(outcome: Outcome, record: str | None) -> Judged:
    """Compare what B did with the record of A; None: there is no record."""
    if record is None:
        return Judged(outcome, "failed", "no record of side A: run "
                      "/usr/bin/python3 -m qemu.test --record-a", True)
    before, cause = parse_record(record)
    on_a = f"side A: {before.value}" + (f": {shorten(cause, NOTE)}"
                                        if cause else "")
    passes_on_a = before is Verdict.PASS
    if outcome.verdict is Verdict.PASS:
        return Judged(outcome, "passed", "" if passes_on_a or
                      before is Verdict.SKIP else f"newly passing; {on_a}")
    if outcome.verdict is Verdict.SKIP:
        if passes_on_a and not outcome.lacking:
            return Judged(outcome, "failed", "skipped, but passes on side A",
                          True)
        return Judged(outcome, "skipped")
    if before in (Verdict.FAIL, Verdict.CRASH):
        worse = (outcome.verdict is Verdict.CRASH
                 and before is Verdict.FAIL)
        return Judged(outcome, "failed", "worse than side A, which does not "
                      "crash" if worse else f"known failure; {on_a}", worse)
    return Judged(outcome, "failed", on_a, True)


def judge_alone(outcome: Outcome) -> Judged:
    """Judge a test that has no side A: it passes, or the run fails."""
    counts = {Verdict.PASS: "passed", Verdict.SKIP: "skipped"}
    counts_as = counts.get(outcome.verdict, "failed")
    return Judged(outcome, counts_as, "", counts_as == "failed")
