# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
import io

from scripts.progress import Step, clock, remembered, time_left
from scripts.tests_unit.fixture import CacheCase


class Clock(CacheCase):
    def test_forms(self):
        self.assertEqual(clock(0), "0:00")
        self.assertEqual(clock(59.6), "1:00")
        self.assertEqual(clock(3723), "1:02:03")


class TimeLeft(CacheCase):
    def test_nothing_known(self):
        self.assertIsNone(time_left(5, 0, None, None))
        self.assertIsNone(time_left(5, 3, None, None))

    def test_rate(self):
        self.assertAlmostEqual(time_left(10, 25, 100, None), 30)

    def test_remembered_duration(self):
        self.assertAlmostEqual(time_left(10, 0, None, 60), 50)
        self.assertIsNone(time_left(70, 0, None, 60))

    def test_finished(self):
        self.assertEqual(time_left(10, 100, 100, 60), 0)
        self.assertIsNone(time_left(10, 120, 100, 60))

    def test_mixture_lies_between(self):
        left = time_left(30, 50, 100, 100)
        self.assertTrue(30 <= left <= 50, left)


class Steps(CacheCase):
    def run_step(self, total=None):
        out = io.StringIO()
        with Step("work", key="work", total=total, unit="files",
                  stream=out) as step:
            step.add(3)
        return out.getvalue().splitlines()

    def test_log_has_start_and_end(self):
        lines = self.run_step()
        self.assertTrue(lines[0].startswith("work: "), lines)
        self.assertTrue(lines[-1].startswith("work: done in "), lines)

    def test_size_is_remembered(self):
        self.run_step()
        self.assertEqual(remembered("work")["total"], 3)
        self.assertIn("0/3 files", self.run_step()[0])

    def test_failure_is_told_and_not_remembered(self):
        out = io.StringIO()
        with self.assertRaises(RuntimeError):
            with Step("work", key="work", stream=out):
                raise RuntimeError
        self.assertIn("failed after", out.getvalue())
        self.assertEqual(remembered("work"), {})
