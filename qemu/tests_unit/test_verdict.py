# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Records of side A, and the comparison of side B with them."""

import unittest

from qemu.verdict import (Outcome, Verdict, judge, judge_alone, parse_record)

PASS = Outcome("t", Verdict.PASS)
FAIL = Outcome("t", Verdict.FAIL, "broke\nin detail")
CRASH = Outcome("t", Verdict.CRASH, "Kernel panic")
SKIP = Outcome("t", Verdict.SKIP, "no such verb")
LACKING = Outcome("t", Verdict.SKIP, "no mckey", lacking=True)


class Records(unittest.TestCase):
    def test_an_outcome_is_recorded_by_its_first_line(self):
        self.assertEqual(PASS.record(), "pass")
        self.assertEqual(FAIL.record(), "fail: broke")

    def test_what_is_recorded_can_be_read(self):
        for outcome in (PASS, FAIL, CRASH, SKIP):
            verdict, cause = parse_record(outcome.record() + "\n")
            self.assertEqual((verdict, cause),
                             (outcome.verdict, outcome.cause))

    def test_a_record_without_cause_or_of_no_kind_is_refused(self):
        for line in ("fail", "fail: ", "crash:", "passed", ""):
            with self.subTest(line), self.assertRaises(ValueError):
                parse_record(line)


class Judging(unittest.TestCase):
    # outcome on B, record of A, counted as, regression, part of the note
    CASES = (
        (PASS, "pass", "passed", False, ""),
        (PASS, "fail: x", "passed", False, "newly passing"),
        (PASS, "crash: x", "passed", False, "newly passing"),
        (PASS, "skip: x", "passed", False, ""),
        (FAIL, "pass", "failed", True, "side A: pass"),
        (FAIL, "fail: x", "failed", False, "known failure"),
        (FAIL, "crash: x", "failed", False, "known failure"),
        (FAIL, "skip: x", "failed", True, "side A: skip"),
        (CRASH, "pass", "failed", True, "side A: pass"),
        (CRASH, "fail: x", "failed", True, "worse"),
        (CRASH, "crash: x", "failed", False, "known failure"),
        (SKIP, "pass", "failed", True, "passes on side A"),
        (SKIP, "skip: x", "skipped", False, ""),
        (SKIP, "fail: x", "skipped", False, ""),
        (LACKING, "pass", "skipped", False, ""),
        (PASS, None, "failed", True, "no record"),
        (FAIL, None, "failed", True, "no record"),
    )

    def test_b_is_compared_with_the_record_of_a(self):
        for outcome, record, counts_as, regression, note in self.CASES:
            with self.subTest(outcome=outcome.verdict, record=record):
                judged = judge(outcome, record)
                self.assertEqual((judged.counts_as, judged.regression),
                                 (counts_as, regression))
                self.assertIn(note, judged.note)
                if not note:
                    self.assertEqual(judged.note, "")

    def test_what_has_no_side_a_must_pass(self):
        self.assertEqual(
            [(j.counts_as, j.regression) for j in
             map(judge_alone, (PASS, FAIL, CRASH, SKIP))],
            [("passed", False), ("failed", True), ("failed", True),
             ("skipped", False)])
