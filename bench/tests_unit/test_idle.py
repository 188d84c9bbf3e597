# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Asking the host to keep its CPUs awake."""

import tempfile
import unittest
from pathlib import Path

from bench.idle import awake


class Awake(unittest.TestCase):
    def test_a_latency_of_zero_is_asked_for(self):
        with tempfile.TemporaryDirectory() as where:
            qos = Path(where) / "qos"
            qos.write_bytes(b"\xff" * 4)
            with awake(qos) as state:
                self.assertEqual(state, "polling")
                self.assertEqual(qos.read_bytes(), bytes(4))

    def test_a_host_without_it_is_told(self):
        with awake(Path("/nonexistent/qos")) as state:
            self.assertEqual(state, "halting")

    def test_failures_inside_are_not_swallowed(self):
        with self.assertRaises(OSError), awake(Path("/nonexistent/qos")):
            raise OSError("in the measurement")


if __name__ == "__main__":
    unittest.main()
