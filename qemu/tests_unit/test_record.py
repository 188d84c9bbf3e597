# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What is recorded of several runs of one test."""

import unittest

from qemu.record import worst
from qemu.verdict import Outcome, Verdict


def end(verdict: Verdict, reason: str = "") -> Outcome:
    return Outcome("t", verdict, reason)


class Worst(unittest.TestCase):
    def test_what_is_always_so_is_recorded_as_it_is(self):
        self.assertEqual(worst([end(Verdict.PASS)] * 3).record(), "pass")
        self.assertEqual(worst([end(Verdict.FAIL, "why")] * 3).record(),
                         "fail: why")

    def test_one_bad_end_counts_and_says_how_often(self):
        self.assertEqual(
            worst([end(Verdict.PASS), end(Verdict.FAIL, "why\nmore"),
                   end(Verdict.PASS)]).record(), "fail: why (1 of 3 runs)")

    def test_a_crash_is_worse_than_a_failure(self):
        self.assertEqual(
            worst([end(Verdict.FAIL, "why"), end(Verdict.CRASH, "panic"),
                   end(Verdict.CRASH, "panic")]).record(),
            "crash: panic (2 of 3 runs)")
