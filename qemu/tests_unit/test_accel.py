# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The probe that runs a guest of a few instructions."""

import os
import shutil
import unittest
from unittest import mock

from qemu import accel
from qemu.errors import SetupError


@unittest.skipUnless(shutil.which(accel.SYSTEM), f"needs {accel.SYSTEM}")
class Probe(unittest.TestCase):
    def test_it_sees_a_guest_that_runs(self):
        self.assertTrue(accel.runs_a_guest(accel.system_qemu(), "tcg"))

    def test_it_sees_one_that_does_not(self):
        self.assertFalse(accel.runs_a_guest(accel.system_qemu(), "nonsense"))


class Choice(unittest.TestCase):
    def test_the_environment_decides(self):
        with mock.patch.dict(os.environ, ACCEL="tcg"):
            self.assertEqual(accel.accelerator(), "tcg")
        with mock.patch.dict(os.environ, ACCEL="hax"):
            with self.assertRaises(SetupError):
                accel.accelerator()

    def test_a_cpu_without_virtualisation_is_enough_to_say_no(self):
        with mock.patch.object(accel, "_cpu_can_virtualise",
                               return_value=False), \
                mock.patch.object(accel, "runs_a_guest") as runs:
            accel.kvm_works.cache_clear()
            self.addCleanup(accel.kvm_works.cache_clear)
            self.assertFalse(accel.kvm_works())
            runs.assert_not_called()


if __name__ == "__main__":
    unittest.main()
