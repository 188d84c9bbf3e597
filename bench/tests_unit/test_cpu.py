# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""CPU time from /proc/stat."""

import subprocess
import unittest

from bench import cpu
from bench.cpu import Ticks

LINE = "cpu  100 5 30 9000 2 7 11 0 0 0"


class Parse(unittest.TestCase):
    def test_a_line(self):
        self.assertEqual(cpu.parse(LINE), Ticks(105, 48))

    def test_other_lines_are_errors(self):
        for line in ("", "cpu0 1 2 3 4 5 6 7", "cpu 1 2 3", "intr 1 2 3 4 5"):
            with self.subTest(line=line), self.assertRaises(ValueError):
                cpu.parse(line)


class Wrap(unittest.TestCase):
    """Against the real shell and the real /proc/stat."""

    def run_sh(self, cmd: str) -> subprocess.CompletedProcess:
        return subprocess.run(["sh", "-c", cpu.wrap(cmd)], text=True,
                              capture_output=True)

    def test_output_and_status_of_the_command(self):
        done = self.run_sh("echo one; echo two; exit_with() { return $1; }; "
                           "exit_with 3")
        before, after, out = cpu.unwrap(done.stdout)
        self.assertEqual((out, done.returncode), ("one\ntwo", 3))
        self.assertGreaterEqual((after - before).user, 0)

    def test_busy_work_is_seen(self):
        done = self.run_sh("i=0; while [ $i -lt 200000 ]; "
                           "do i=$((i + 1)); done")
        before, after, _ = cpu.unwrap(done.stdout)
        spent = after - before
        self.assertGreater(spent.user + spent.kernel, 0)

    def test_too_little_output_is_an_error(self):
        with self.assertRaises(ValueError):
            cpu.unwrap(LINE)


class PerMessage(unittest.TestCase):
    def test_start_up_is_subtracted(self):
        every, kernel = cpu.per_message(Ticks(120, 80), Ticks(20, 30), 1000)
        self.assertAlmostEqual(every, 1500)
        self.assertAlmostEqual(kernel, 500)

    def test_too_short_a_run_is_an_error(self):
        for run in (Ticks(20, 30), Ticks(10, 30), Ticks(50, 30)):
            with self.subTest(run=run), self.assertRaises(ValueError):
                cpu.per_message(run, Ticks(20, 30), 1000)


if __name__ == "__main__":
    unittest.main()
