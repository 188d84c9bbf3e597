# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What a run of the tests selects and boots."""

import contextlib
import unittest
from unittest import mock

from qemu import leaks
from qemu.errors import GuestPanic
from qemu.plan import Plan


class Selection(unittest.TestCase):
    def test_patterns_select_by_name(self):
        self.assertTrue(Plan().wants("010-rc-send"))
        only = Plan(only=("01*", "pyverbs/*Atomic*"))
        self.assertEqual([only.wants(name) for name in (
            "010-rc-send", "020-rc-write", "pyverbs/test_atomic.AtomicTest.x")],
            [True, False, True])


class Booting(unittest.TestCase):
    def boot(self, *errors: Exception | None) -> int:
        """Boot a plan whose n-th boot raises the n-th error; the boots."""
        pending = list(errors)

        @contextlib.contextmanager
        def pair(_plan, _requires):
            if error := pending.pop(0):
                raise error
            yield "lab"

        with mock.patch.object(Plan, "_pair", pair), \
                mock.patch.object(leaks, "forget"), Plan().boot() as booted:
            self.assertEqual(booted, "lab")
        return len(errors) - len(pending)

    def test_one_boot_that_fails_is_repeated(self):
        panic = GuestPanic("a: no root")
        self.assertEqual(self.boot(None), 1)
        self.assertEqual(self.boot(panic, None), 2)
        with self.assertRaises(GuestPanic):
            self.boot(panic, panic, None)
