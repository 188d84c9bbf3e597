# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Reading back what was recorded of side A."""

import tempfile
import unittest
from pathlib import Path

from qemu import expect
from qemu.verdict import Outcome, Verdict

OUTCOMES = [Outcome("010-b", Verdict.FAIL, "why: this\nand more"),
            Outcome("009-a", Verdict.PASS)]
RECORDS = {"009-a": "pass", "010-b": "fail: why: this"}


class Expect(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def test_single_records_come_back(self):
        for outcome in OUTCOMES:
            expect.write(outcome, self.directory)
        self.assertEqual(expect.read_all(self.directory), RECORDS)

    def test_a_suite_comes_back(self):
        expect.write_suite("suite", OUTCOMES, self.directory)
        self.assertEqual(expect.read_suite("suite", self.directory), RECORDS)
        self.assertEqual(expect.read_suite("other", self.directory), {})

    def test_a_file_that_is_no_record_is_refused(self):
        (self.directory / "011-c").write_text("perhaps\n")
        with self.assertRaises(ValueError):
            expect.read_all(self.directory)

    def test_a_case_that_did_not_run_is_a_failure(self):
        missing = expect.missing_cases(RECORDS, OUTCOMES[:1])
        self.assertEqual([(o.name, o.verdict) for o in missing],
                         [("009-a", Verdict.FAIL)])
