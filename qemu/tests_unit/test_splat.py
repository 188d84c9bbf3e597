# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The splat checker on recorded consoles, and on what is no rule.

A case is splats/NAME.console, and the start of each splat's first line, in
order, in NAME.expected.
"""

import tempfile
import unittest
from pathlib import Path

from qemu import splat

CASES = Path(__file__).resolve().parent / "splats"


class Cases(unittest.TestCase):
    def test_every_case(self):
        consoles = sorted(CASES.glob("*.console"))
        self.assertTrue(consoles, "there are no cases")
        for console in consoles:
            with self.subTest(console.stem):
                want = console.with_suffix(".expected").read_text().splitlines()
                found = splat.find(console.read_text())
                self.assertEqual(len(found), len(want), found)
                for text, start in zip(found, want):
                    self.assertTrue(text.startswith(start), text)

    def test_a_splat_carries_its_context(self):
        [text] = splat.find((CASES / "warning.console").read_text())
        self.assertIn("rxe_dealloc", text)


class Rules(unittest.TestCase):
    def file(self, text: str) -> Path:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        path = Path(directory.name) / "rules"
        path.write_text(text)
        return path

    def test_an_empty_deny_list_is_an_error(self):
        with self.assertRaises(splat.RulesError):
            splat.read_deny(self.file("# nothing\n"))

    def test_a_broken_pattern_names_its_line(self):
        with self.assertRaisesRegex(splat.RulesError, "rules:2"):
            splat.read_deny(self.file("BUG:\n(\n"))

    def test_an_exception_needs_reason_and_end(self):
        with self.assertRaisesRegex(splat.RulesError, "rules:1"):
            splat.read_allow(self.file("BUG: mine\n"))
        [rule] = splat.read_allow(self.file("BUG: x # known # until 7.4\n"))
        self.assertTrue(rule.search("BUG: x"))

    def test_an_exception_lets_only_its_line_through(self):
        rules = splat.Rules(splat.read_deny(self.file("BUG:\n")),
                            splat.read_allow(self.file("BUG: x$ # r # e\n")))
        self.assertEqual(splat.find("BUG: x\nfine\nBUG: y\n", rules),
                         ["BUG: y"])


class Watching(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.console = Path(directory.name) / "console"
        self.console.touch()
        self.watcher = splat.Watcher(self.console)

    def add(self, text: str) -> None:
        with self.console.open("a") as file:
            file.write(text)

    def test_each_splat_is_told_once(self):
        self.add("BUG: one\n")
        self.assertEqual(len(self.watcher.new()), 1)
        self.assertEqual(self.watcher.new(), [])
        self.add("BUG: two\n")
        self.assertEqual(self.watcher.new(), ["BUG: two"])

    def test_half_a_line_waits_for_its_rest(self):
        self.add("fine\nBU")
        self.assertEqual(self.watcher.new(), [])
        self.add("G: whole\n")
        self.assertEqual(self.watcher.new(), ["BUG: whole"])

    def test_a_missing_console_is_an_error(self):
        self.console.unlink()
        with self.assertRaises(OSError):
            self.watcher.new()


if __name__ == "__main__":
    unittest.main()
