# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Commands, and what befalls a guest, on User-mode Linux: it boots at once."""

import contextlib
import os
import signal
import time
import unittest
from unittest import mock

from qemu import errors, lab, machine, wire
from scripts.kernel import kernel


class Guest(unittest.TestCase):
    """A guest per class; a test that loses its guest has a class of its own."""

    @classmethod
    def setUpClass(cls):
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.lab = stack.enter_context(lab.native(kernel("uml")))
        cls.guest = cls.lab.a.machine


class Commands(Guest):
    def test_status_and_both_outputs_come_back(self):
        result = self.guest.run("echo out; echo err >&2; exit 3")
        self.assertEqual((result.code, result.out, result.err),
                         (3, "out\n", "err\n"))

    def test_a_shell_killed_by_a_signal_tells_which(self):
        self.assertEqual(self.guest.run("kill -9 $$").code, -signal.SIGKILL)

    def test_a_failed_command_names_itself_and_its_outputs(self):
        with self.assertRaises(errors.CommandFailed) as caught:
            self.lab.b.sh("echo half; echo why >&2; false")
        for part in ("host b", "half", "why", "false"):
            self.assertIn(part, str(caught.exception))

    def test_a_command_that_cannot_start_says_so(self):
        with self.assertRaisesRegex(errors.CommandFailed, "could not start"):
            self.guest.start("true", cwd="/nowhere").wait()

    def test_bytes_pass_unchanged_in_both_directions(self):
        data = bytes(range(256)) * 512
        job = self.guest.start("cat")
        job.input(data)
        job.input(b"")
        self.assertEqual(job.wait().out_raw, data)

    def test_several_run_at_once(self):
        waiter = self.guest.start("cat; echo done")
        others = [self.guest.start(f"echo {i}") for i in range(8)]
        self.assertEqual([job.wait().out for job in others],
                         [f"{i}\n" for i in range(8)])
        self.assertTrue(waiter.running())
        waiter.input(b"")
        self.assertEqual(waiter.wait().out, "done\n")

    def test_a_late_command_is_killed_with_its_children(self):
        with self.assertRaises(errors.JobTimeout) as caught:
            self.guest.run("echo begun; timeout 99 sleep 98", timeout=1)
        self.assertEqual(caught.exception.out, "begun\n")
        self.assertEqual(self.guest.run("pgrep -f 'sleep 9[8]'").out, "")

    def test_what_stays_in_the_background_does_not_delay_the_end(self):
        result = self.guest.run("sleep 90 & echo $! >&2", timeout=20)
        self.guest.run(f"kill {result.err}", check=True)

    def test_a_splat_is_told_once(self):
        self.guest.run("echo '<4>BUG: made up' > /dev/kmsg", check=True)
        end = time.monotonic() + 5
        found = []
        while not found and time.monotonic() < end:
            found = self.lab.splats()
        self.assertEqual(found, ["BUG: made up"])
        self.assertEqual(self.lab.splats(), [])


class Hosts(Guest):
    def test_they_reach_each_other_until_they_do_not(self):
        self.lab.check_wire()
        self.lab.b.sh("ip link set vb down")
        with self.assertRaises(errors.WireLost):
            self.lab.check_wire()
        self.lab.b.sh("ip link set vb up")
        self.lab.check_wire()

    def test_drivers_replace_each_other(self):
        for side, kind in (("A", "rxe"), ("siw", "siw"), ("B", "rxe")):
            self.lab.load(side)
            self.assertIn(self.lab.a.dev, self.lab.a.sh("ibv_devices"))
            self.assertIn(f"{kind[:2]}b", self.lab.b.dev)
        self.assertGreaterEqual(self.lab.a.gid(self.lab.a.ip6), 0)
        self.lab.unload()
        self.assertNotIn("rx", self.lab.a.sh("rdma link"))

    def test_two_drivers_in_one_guest_are_refused(self):
        with self.assertRaises(errors.SetupError):
            self.lab.load("A", "B")

    def test_only_the_counted_guest_counts(self):
        with self.assertRaises(errors.SetupError):
            self.lab.instructions()


class Panic(Guest):
    def test_the_end_of_pid_1_is_a_panic(self):
        job = self.guest.start("sleep 60")
        self.guest.send(wire.HEADER.pack(1 << 30, wire.Type.START, 1))
        with self.assertRaisesRegex(errors.GuestPanic, "Attempted to kill"):
            job.wait()
        with self.assertRaises(errors.GuestPanic):
            self.guest.run("true")
        self.assertIn("Kernel panic", "".join(self.lab.splats()))


class Hang(Guest):
    def test_a_guest_that_answers_nobody_hangs(self):
        os.kill(self.guest.proc.pid, signal.SIGSTOP)
        with mock.patch.object(machine, "PONG_LIMIT", 1.0):
            with self.assertRaisesRegex(errors.GuestHang, "no answer"):
                self.guest.run("true", timeout=1)
        self.assertIsNotNone(self.guest.proc.poll())


class Gone(Guest):
    def test_a_guest_that_was_killed_is_gone(self):
        job = self.guest.start("sleep 60")
        os.kill(self.guest.proc.pid, signal.SIGKILL)
        with self.assertRaisesRegex(errors.GuestGone, "status -9"):
            job.wait()


class Closed(Guest):
    def test_a_closed_guest_takes_no_command(self):
        self.guest.close()
        self.guest.close()
        self.assertEqual(self.guest.proc.returncode, 0)
        with self.assertRaises(errors.GuestGone):
            self.guest.run("true")


if __name__ == "__main__":
    unittest.main()
