# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Connection rate and memory: cmtime's table, and what keeps to a bound."""

import subprocess
import unittest

from bench import bounds
from scripts.errors import LabError

CMTIME = """step              total ms     max ms     min us  us / conn
create id    :       10.00       1.00       1.00      50.00
resolve addr :       20.00       1.00       1.00     100.00
connect      :      170.00       1.00       1.00     850.00
"""


class Connections(unittest.TestCase):
    def test_the_steps_follow_one_another(self):
        self.assertEqual(bounds.connections(CMTIME),
                         bounds.CONNECTIONS / 0.2)

    def test_no_table(self):
        for out in ("", "cmtime: connection refused\n", CMTIME[:60]):
            with self.assertRaises(LabError):
                bounds.connections(out)


class Verdicts(unittest.TestCase):
    def test_at_least(self):
        for b, kept in ((91.0, True), (89.0, False)):
            found, line = bounds.verdict("connections", [100.0], [b])
            self.assertEqual((found, "NOT KEPT" in line), (kept, not kept))

    def test_at_most(self):
        for b, kept in ((129.0, True), (131.0, False)):
            self.assertEqual(bounds.verdict("memory", [100.0], [b])[0], kept)

    def test_medians_decide(self):
        self.assertTrue(bounds.verdict("memory", [100.0, 100.0, 1.0],
                                       [120.0, 120.0, 900.0])[0])


class Watch(unittest.TestCase):
    def test_it_prints_what_was_least(self):
        with subprocess.Popen(["sh", "-c", bounds.WATCH], text=True,
                              stdout=subprocess.PIPE) as job:
            with self.assertRaises(subprocess.TimeoutExpired):
                job.wait(0.5)
            job.terminate()
            [least] = job.stdout.read().split()
        self.assertIn(int(least), range(1, 99999999))


if __name__ == "__main__":
    unittest.main()
