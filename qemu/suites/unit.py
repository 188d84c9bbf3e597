# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The unit tests of the harness itself: a directory per package.

Each directory runs in a process of its own, which reports on a pipe: tests
may print, replace modules and start guests as they like.

    /usr/bin/python3 -m qemu.suites.unit FD DIRECTORY PATTERN...   (that)
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from collections.abc import Iterator

from qemu import procs
from qemu.limits import scaled
from qemu.plan import Plan
from qemu.verdict import Outcome, Verdict
from scripts.paths import ROOT

# Without guests, then those on real ones.
DIRECTORIES = ("scripts/tests_unit", "qemu/tests_unit", "bench/tests_unit",
               "qemu/tests_guest")

LIMIT = 900.0           # seconds for a directory, kernels to build aside


class Reporter(unittest.TestResult):
    """Writes one JSON line per test: [name, verdict, reason, seconds]."""

    def __init__(self, pipe):
        super().__init__()
        self.buffer = True
        self._pipe = pipe
        self._began = 0.0

    def startTest(self, test):
        super().startTest(test)
        self._began = time.monotonic()

    def _report(self, test, verdict: Verdict, reason: str = "") -> None:
        print(json.dumps([test.id(), verdict.value, reason,
                          time.monotonic() - self._began]),
              file=self._pipe, flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self._report(test, Verdict.PASS)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._report(test, Verdict.SKIP, reason)

    def _fault(self, test, error) -> None:
        self._report(test, Verdict.FAIL, f"{error[0].__name__}: {error[1]}\n"
                     + self._exc_info_to_string(error, test))

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._fault(test, err)

    def addError(self, test, err):
        super().addError(test, err)
        self._fault(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self._fault(subtest, err)


def _cases(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    """The single tests of nested suites, in order."""
    for part in suite:
        if isinstance(part, unittest.TestSuite):
            yield from _cases(part)
        else:
            yield part


def report(fd: int, directory: str, only: tuple[str, ...]) -> None:
    """Run the selected tests of a directory, reporting on a descriptor."""
    found = unittest.TestLoader().discover(directory, top_level_dir=str(ROOT))
    plan = Plan(only=only)
    suite = unittest.TestSuite(case for case in _cases(found)
                               if plan.wants(f"unit/{case.id()}"))
    with os.fdopen(fd, "w") as pipe:
        suite.run(Reporter(pipe))


def _directory(name: str, plan: Plan) -> Iterator[Outcome]:
    """The tests of one directory; what breaks their process is a failure."""
    ours, theirs = os.pipe()
    with tempfile.TemporaryFile("w+") as errors:
        proc = procs.start(
            [sys.executable, "-m", "qemu.suites.unit", str(theirs), name,
             *plan.only],
            cwd=ROOT, pass_fds=(theirs,), stdout=subprocess.DEVNULL,
            stderr=errors, text=True)
        os.close(theirs)
        # SIGTERM: the process still ends the guests that it started.
        timer = threading.Timer(scaled(LIMIT), proc.terminate)
        timer.daemon = True     # it must not outlive a run that is ended
        timer.start()
        with os.fdopen(ours) as pipe:
            for line in pipe:
                case, verdict, reason, seconds = json.loads(line)
                yield Outcome(f"unit/{case}", Verdict(verdict), reason,
                              seconds)
        status = proc.wait()
        timer.cancel()
        errors.seek(0)
        if status:
            yield Outcome(f"unit/{name}", Verdict.FAIL,
                          f"the tests of {name} broke (exit status {status})"
                          f" or took more than {scaled(LIMIT):.0f} s\n"
                          f"{errors.read()[-4000:]}")


def run(plan: Plan) -> Iterator[Outcome]:
    """All unit tests of all packages."""
    for name in DIRECTORIES:
        if (ROOT / name).is_dir() and any((ROOT / name).glob("test_*.py")):
            yield from _directory(name, plan)


if __name__ == "__main__":
    report(int(sys.argv[1]), sys.argv[2], tuple(sys.argv[3:]))
