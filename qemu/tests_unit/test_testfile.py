# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The form of behaviour tests, and which of them share a boot."""

import tempfile
import unittest
from pathlib import Path

from qemu import expect, testfile
from qemu.testfile import BrokenTest, Requires, TestFile, by_boot, load

GOOD = '"""does a thing."""\nREQUIRES = {"mtu": 1500}\ndef run(lab): pass\n'


class Loading(unittest.TestCase):
    def load(self, text: str, name: str = "010-thing.py") -> TestFile:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, name)
            path.write_text(text)
            return load(path)

    def test_a_test_has_name_text_and_requirements(self):
        test = self.load(GOOD)
        self.assertEqual((test.name, test.text, test.requires),
                         ("010-thing", "does a thing.", Requires(mtu=1500)))

    def test_what_is_no_test_is_refused(self):
        for what, text, name in (
                ("expected NNN", GOOD, "thing.py"),
                ("docstring", "def run(lab): pass\n", "010-thing.py"),
                ("run", '"""does."""\n', "010-thing.py"),
                ("REQUIRES", GOOD.replace("mtu", "mut"), "010-thing.py")):
            with self.subTest(what), self.assertRaisesRegex(BrokenTest, what):
                self.load(text, name)

    def test_two_with_one_number_are_refused(self):
        with tempfile.TemporaryDirectory() as directory:
            for name in ("010-a.py", "010-b.py"):
                Path(directory, name).write_text(GOOD)
            with self.assertRaisesRegex(BrokenTest, "number 010"):
                testfile.load_all(Path(directory))

    def test_all_tests_of_the_project_load(self):
        self.assertGreater(len(testfile.load_all()), 30)


class Grouping(unittest.TestCase):
    def names(self, *needs: dict) -> list[list[str]]:
        tests = [TestFile(str(at), "", Requires(**need), print)
                 for at, need in enumerate(needs)]
        return [[test.name for test in group] for group in by_boot(tests)]

    def test_a_boot_is_shared_where_it_can_be(self):
        self.assertEqual(self.names({}, {"vcpus": 2}, {"mtu": 1500},
                                    {"faults": True}, {"vcpus": 2}),
                         [["0", "2"], ["1", "4"], ["3"]])

    def test_a_boot_of_its_own_is_not_shared(self):
        self.assertEqual(self.names({"own_boot": True}, {},
                                    {"own_boot": True}),
                         [["0"], ["1"], ["2"]])


class Records(unittest.TestCase):
    def test_every_record_belongs_to_a_test(self):
        names = {test.name for test in testfile.load_all()}
        self.assertEqual(set(expect.read_all()) - names, set())
