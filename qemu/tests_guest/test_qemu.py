# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""QEMU guests: the wire, the mode that counts, and where a guest hangs."""

import contextlib
import os
import signal
import unittest
from unittest import mock

from qemu import errors, lab, machine, topology
from scripts.kernel import kernel


class Bridged(unittest.TestCase):
    def test_each_on_its_own_driver_and_mtu(self):
        with lab.pair(kernel("perf")) as two:
            self.assertEqual(len(two.machines), 2)
            two.load("A", "siw")
            self.assertEqual((two.a.dev, two.b.dev), ("rxe0", "siw0"))
            two.set_mtu(1500)
            self.assertIn("mtu 1500", two.a.sh("ip link show eth0"))
            two.check_wire()
            if topology.may_bridge():
                two.wire.run(["ip", "link", "set", two.wire.tap("b"), "down"])
                with self.assertRaises(errors.WireLost):
                    two.check_wire()
            self.assertEqual(two.splats(), [])

    def test_one_that_stops_does_not_take_the_other(self):
        with lab.pair(kernel("perf")) as two:
            os.kill(two.b.machine.proc.pid, signal.SIGKILL)
            with self.assertRaises(errors.GuestGone):
                two.b.run("true")
            self.assertEqual(two.a.sh("hostname"), "a\n")
            job = two.a.start("read x; tty; stty size", tty=True)
            job.resize(20, 70)
            job.input(b"\n")
            self.assertRegex(job.wait().out, r"/dev/pts/\d+\s+20 70")


class Joined(unittest.TestCase):
    def test_a_socket_joins_them_without_rights(self):
        with mock.patch.object(topology, "may_bridge", return_value=False), \
                lab.pair(kernel("perf")) as two:
            self.assertEqual(two.facts["wire"], "socket")
            self.assertFalse(two.facts["uso"])
            two.check_wire()


class Counted(unittest.TestCase):
    def count(self, one: lab.Lab, cmd: str) -> tuple[int, int]:
        before = one.instructions()
        one.a.sh(cmd)
        user, kernel_ = one.instructions()
        return user - before[0], kernel_ - before[1]

    def test_work_costs_instructions_and_sleep_does_not(self):
        loop = "i=0; while [ $i -lt %d ]; do i=$((i+1)); done"
        with lab.single(kernel("perf")) as one:
            self.count(one, loop % 10)
            few, _ = self.count(one, loop % 10000)
            many, _ = self.count(one, loop % 30000)
            none, _ = self.count(one, "sleep 5")
            self.assertGreater(many - few, 20000 * 20)
            self.assertLess(none, few)
            _, calls = self.count(one, "dd if=/dev/zero of=/dev/null "
                                       "bs=1 count=50000 2>/dev/null")
            self.assertGreater(calls, 50000 * 50)


class Hang(unittest.TestCase):
    def test_a_hanging_guest_says_where(self):
        with contextlib.ExitStack() as stack:
            one = stack.enter_context(lab.single(kernel("perf")))
            # To the host, a guest whose answers are not heard hangs.
            stack.enter_context(mock.patch.object(machine, "PONG_LIMIT", 0.0))
            with self.assertRaises(errors.GuestHang) as caught:
                one.a.run("while :; do :; done", timeout=1)
            self.assertIn("NMI", caught.exception.tail)


if __name__ == "__main__":
    unittest.main()
