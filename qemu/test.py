# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""`make test`: does the series behave, at least as well as its base?

    /usr/bin/python3 -m qemu.test [--debug] [--only PATTERN...] [--suite S...]
    /usr/bin/python3 -m qemu.test --native --suite behaviour kunit
    /usr/bin/python3 -m qemu.test --list
    /usr/bin/python3 -m qemu.test --record-a [--only PATTERN ...]

Tests run on side B, the series; expect/ holds what side A, the base, does in
the same tests. The exit status is 0 unless B does worse than A somewhere or a
part could not run. The closing line counts what B does.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from qemu import expect, limits, record, testfile
from qemu.plan import Plan
from qemu.runner import Runner
from qemu.suites import kunit, pyverbs, selftests, unit
from qemu.tally import Tally
from qemu.verdict import Judged, Outcome, judge, judge_alone
from scripts.errors import LabError, run_main
from scripts.progress import Step


@dataclass(frozen=True)
class Suite:
    """A part of the run.

    records: reads side A's records for a case, None: there is no side A;
    quiet:   so many cases that those that pass are only counted.
    """

    name: str
    title: str
    run: Callable[[Plan], Iterator[Outcome]]
    records: Callable[[], dict[str, str]] | None = None
    quiet: bool = False


def behaviour(plan: Plan) -> Iterator[Outcome]:
    """The tests in tests/, on one side."""
    tests = [t for t in testfile.load_all() if plan.wants(t.name)
             and (t.requires.fits_one_guest or not plan.native)]
    return Runner(plan.boot, plan.side).run_all(tests)


SUITES = (
    Suite("unit", "Unit tests of the harness", unit.run, quiet=True),
    Suite("kunit", "KUnit suites of the series", kunit.run),
    Suite("behaviour", "Behaviour tests between two guests", behaviour,
          expect.read_all),
    Suite("selftests", "The kernel's selftests/rdma", selftests.run,
          lambda: expect.read_suite("selftests")),
    Suite("pyverbs", "rdma-core's tests", pyverbs.run,
          lambda: expect.read_suite("pyverbs"), quiet=True),
)


def _judged(suite: Suite, plan: Plan) -> Iterator[Judged]:
    """The suite's outcomes beside side A's records."""
    if suite.records is None:
        yield from map(judge_alone, suite.run(plan))
        return
    records = suite.records()
    ran = []
    for outcome in suite.run(plan):
        ran.append(outcome)
        yield judge(outcome, records.get(outcome.name))
    wanted = {case: text for case, text in records.items()
              if plan.wants(case) and not plan.native}
    for outcome in expect.missing_cases(wanted, ran):
        yield judge(outcome, "pass")


def run_suite(suite: Suite, plan: Plan, tally: Tally) -> None:
    """Run one part; what keeps it from running is an error of the run."""
    tally.suite(suite.title)
    key = f"test-{suite.name}" + ("-debug" if plan.debug else "")
    try:
        with Step(suite.title.lower(), unit="tests",
                  key=None if plan.only else key) as step:
            for judged in _judged(suite, plan):
                tally.add(judged, suite.quiet)
                step.add(1, judged.outcome.name)
    except (LabError, ValueError, OSError) as error:
        tally.error(f"{suite.title}: {error}")


def parse(argv: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="qemu.test", description=__doc__.partition("\n")[0])
    parser.add_argument("--debug", action="store_true",
                        help="on the kernel with KASAN, lockdep and kmemleak")
    parser.add_argument("--native", action="store_true",
                        help="a quick check: what one guest can do, in "
                             "User-mode Linux")
    parser.add_argument("--only", nargs="+", default=[], metavar="PATTERN",
                        help="cases by name: '01*', 'pyverbs/*Atomic*'")
    parser.add_argument("--suite", nargs="+", choices=[s.name for s in SUITES],
                        default=[s.name for s in SUITES])
    parser.add_argument("--side", choices=["A", "B"], default="B",
                        help="the module to test (A: mainline's, to compare)")
    parser.add_argument("--record-a", action="store_true",
                        help="run on side A and write what it does to expect/")
    parser.add_argument("--list", action="store_true",
                        help="name the behaviour tests and what A does")
    parser.add_argument("--outcome", metavar="FILE", help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def show() -> int:
    """Print every behaviour test and its record."""
    records = expect.read_all()
    for test in testfile.load_all():
        print(f"{test.name}: {test.text}\n    side A: "
              f"{records.get(test.name, 'not recorded')}")
    return 0


def main(argv: list[str]) -> int:
    """Run what the command line asks for; returns the exit status."""
    args = parse(argv)
    plan = Plan(args.side, args.debug, args.native, tuple(args.only))
    if args.debug:
        limits.set_factor(limits.DEBUG_FACTOR)
    if args.list:
        return show()
    if args.outcome:
        return record.run_one(plan, args.outcome)
    if args.record_a:
        return record.record(plan, args.suite)
    began = time.monotonic()
    tally = Tally()
    for suite in SUITES:
        if suite.name in args.suite:
            run_suite(suite, plan, tally)
    print(f"\n{(time.monotonic() - began) / 60:.1f} minutes")
    return tally.close()


if __name__ == "__main__":
    run_main("test", lambda: main(sys.argv[1:]))
