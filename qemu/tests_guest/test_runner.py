# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The runner and verbs_check on real guests that come to harm: each harm is
reported as what it is, for the test that did it, and the next test runs."""

import os
import signal
import unittest
from unittest import mock

from qemu import machine, peers, wire
from qemu.plan import Plan
from qemu.runner import Runner
from qemu.testfile import Requires, TestFile
from qemu.verdict import Verdict


def panics(lab):
    # A frame that the agent, which is PID 1, cannot take.
    lab.b.machine.send(wire.HEADER.pack(1 << 30, wire.Type.START, 1))
    lab.b.run("sleep 60")


def hangs(lab):
    # From inside it cannot be done: the kernel's fair server always leaves
    # the agent a share of the CPU.
    os.kill(lab.b.machine.proc.pid, signal.SIGSTOP)
    lab.b.run("true", timeout=2)


def fails(lab):
    lab.a.sh("echo half; echo why >&2; exit 7")


def warns(lab):
    # The text of a splat, as the kernel would log it.
    lab.a.sh("echo '<4>BUG: sleeping function called from invalid context' "
             "> /dev/kmsg")


def loses_network(lab):
    lab.b.sh(f"ip link set {lab.b.netdev} down")
    lab.check_wire()


def leaves_a_queue_pair(lab):
    lab.a.start(f"ibv_rc_pingpong -d {lab.a.dev} -g 1")
    peers.poll(lambda: "pingpong" in lab.a.sh("rdma resource show qp"), 20,
               "the server has a queue pair")


def late(lab):
    lab.a.run("sleep 60", timeout=100)


def is_well(lab):
    peers.verbs_check(lab, "-t rc -o send -s 64")


CASES = (
    # what happens, verdict, what the report must say
    (panics, Verdict.CRASH, "Kernel panic - not syncing: Attempted"),
    (hangs, Verdict.CRASH, "b: hangs"),
    (fails, Verdict.FAIL, "exit status 7"),
    (warns, Verdict.FAIL, "splat on host a: BUG: sleeping function"),
    (loses_network, Verdict.FAIL, "does not reach host b"),
    (leaves_a_queue_pair, Verdict.FAIL, "RDMA objects left on host a"),
    (late, Verdict.FAIL, "not finished within"),
)


class Harm(unittest.TestCase):
    def test_each_is_told_and_the_next_test_runs(self):
        tests = [test for body, _, _ in CASES for test in (
            TestFile(body.__name__, "", Requires(seconds=20), body),
            TestFile(f"after {body.__name__}", "", Requires(), is_well))]
        with mock.patch.object(machine, "PONG_LIMIT", 5.0):
            outcomes = {o.name: o for o in
                        Runner(Plan("A").boot, "A").run_all(tests)}
        for body, verdict, text in CASES:
            with self.subTest(body.__name__):
                outcome = outcomes[body.__name__]
                self.assertEqual(outcome.verdict, verdict, outcome.reason)
                self.assertIn(text, outcome.reason)
                after = outcomes[f"after {body.__name__}"]
                self.assertEqual(after.verdict, Verdict.PASS, after.reason)


class Corruption(unittest.TestCase):
    """One wrong byte must fail verbs_check, for every operation."""

    def test_it_is_found_in_every_operation(self):
        with Plan("A").boot() as lab:
            lab.load("A")
            for kind, ops in (("rc", "send send_imm write write_imm read"),
                              ("uc", "send write"), ("ud", "send")):
                # -X spoils the last of each round; a round is one message
                # where a busy host may lose some.
                depth = 16 if kind == "rc" else 1
                for op in ops.split():
                    with self.subTest(f"{kind} {op}"), \
                            self.assertRaisesRegex(
                                AssertionError,
                                rf"message {depth - 1}: byte 1000 of 2001 is "
                                r"0x\w\w, expected 0x\w\w"):
                        peers.verbs_check(lab, f"-X -t {kind} -o {op} -s 2001"
                                               f" -n 16 -D {depth} -W 15000")
