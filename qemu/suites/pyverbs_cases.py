# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Runs inside a guest: rdma-core's tests, one JSON line per case and state.

    python3 - TESTS DEVICE GID-INDEX CASES-TO-LEAVE-OUT-FILE

[case] says that it starts, [case, verdict, reason, seconds] that it ended.
"""

import json
import os
import sys
import time
import unittest


def say(*words) -> None:
    """One line to the host, at once: the next moment may be the last."""
    os.write(REPORT, json.dumps(words).encode() + b"\n")


class Reporter(unittest.TestResult):
    """Tells every case before and after; a test that prints does no harm."""

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()
        say(test.id())

    def end(self, test, verdict, reason=""):
        say(test.id(), verdict, reason, time.monotonic() - self.began)

    def fault(self, test, err):
        self.end(test, "fail", f"{err[0].__name__}: {err[1]}".strip()
                 + "\n" + self._exc_info_to_string(err, test))

    def addSuccess(self, test):
        super().addSuccess(test)
        self.end(test, "pass")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.end(test, "skip", reason or "no reason given")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.fault(test, err)

    def addError(self, test, err):
        super().addError(test, err)
        self.fault(test, err)


def cases(suite):
    """The single cases of nested suites."""
    for part in suite:
        if isinstance(part, unittest.TestSuite):
            yield from cases(part)
        else:
            yield part


def main() -> None:
    directory, device, gid, leave_out = sys.argv[1:]
    with open(leave_out) as names:
        done = set(names.read().split())
    sys.path[:0] = [os.path.dirname(directory), directory]
    sys.argv[1:] = ["--dev", device, "--gid", gid]
    from args_parser import parser
    parser.parse_args()
    tests = __import__("tests")
    result = Reporter()
    for case in cases(unittest.TestLoader().loadTestsFromModule(tests)):
        if case.id() not in done:
            unittest.TestSuite([case]).run(result)


if __name__ == "__main__":
    # What tests print must not get between the reports.
    REPORT = os.dup(1)
    os.dup2(2, 1)
    main()
