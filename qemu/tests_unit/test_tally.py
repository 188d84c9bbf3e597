# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The report of a test run, its closing line and its exit status."""

import io
import unittest

from qemu.tally import Tally
from qemu.verdict import Outcome, Verdict, judge

PASS = judge(Outcome("good", Verdict.PASS), "pass")
NEW = judge(Outcome("new", Verdict.PASS), "fail: it hung")
KNOWN = judge(Outcome("known", Verdict.FAIL, "hangs"), "fail: it hung")
WORSE = judge(Outcome("worse", Verdict.FAIL, "cause\ndetail"), "pass")
SKIP = judge(Outcome("skip", Verdict.SKIP, "no verb"), "skip: no verb")


class Totals(unittest.TestCase):
    def close(self, *judged, error: str = "", quiet: bool = False):
        stream = io.StringIO()
        tally = Tally(stream)
        for one in judged:
            tally.add(one, quiet)
        if error:
            tally.error(error)
        status = tally.close()
        return status, stream.getvalue()

    def test_the_last_line_counts_what_b_did(self):
        status, text = self.close(PASS, NEW, KNOWN, SKIP)
        self.assertEqual(text.splitlines()[-1],
                         "2 passed, 1 failed, 1 skipped")
        self.assertEqual(status, 0)

    def test_worse_than_side_a_fails_the_run_and_is_told_in_full(self):
        status, text = self.close(PASS, WORSE)
        self.assertEqual(status, 1)
        self.assertIn("detail", text)
        self.assertIn("Failed:\n  worse", text)

    def test_newly_passing_and_known_failures_are_named(self):
        _, text = self.close(NEW, KNOWN)
        self.assertIn("Newly passing:\n  new", text)
        self.assertIn("Known failures, on side A too:\n  known", text)

    def test_a_part_that_could_not_run_fails_the_run(self):
        status, text = self.close(PASS, error="no kernel")
        self.assertEqual(status, 1)
        self.assertEqual(text.splitlines()[-1],
                         "1 passed, 1 failed, 0 skipped")
        self.assertIn("Could not run: no kernel", text)

    def test_a_quiet_suite_tells_what_is_worth_a_look(self):
        _, text = self.close(PASS, WORSE, NEW, quiet=True)
        self.assertNotIn("good", text)
        self.assertIn("FAIL  worse", text)
        self.assertIn("PASS  new", text)
