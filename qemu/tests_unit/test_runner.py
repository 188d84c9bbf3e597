# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The runner: boots, modules, and whose fault it is that something is left."""

import contextlib
import threading
import unittest
from unittest import mock

from qemu import leaks, runner
from qemu.errors import CommandFailed, GuestPanic
from qemu.runner import Runner
from qemu.testfile import Requires, TestFile
from qemu.verdict import Lacking, Skip, Verdict

IDLE = "0: rxe0: pd 1 cq 1 qp 1"


class FakeHost:
    """A host whose machine it is itself."""

    def __init__(self, name: str):
        self.name = name
        self.machine = self
        self.resources = IDLE
        self.pending: list[str] = []
        self.missing: set[str] = set()

    def splats(self) -> list[str]:
        found, self.pending = self.pending, []
        return found

    def sh(self, cmd: str, timeout: float = 0) -> str:
        return self.resources if "resource" in cmd else ""

    def run(self, cmd: str, timeout: float = 0):
        tool = cmd.removeprefix("command -v ")
        lost = cmd.startswith("test -e") or tool in self.missing
        return mock.Mock(code=1 if lost else 0)

    def tail(self, lines: int) -> str:
        return f"console of {self.name}"


class FakeLab:
    """Two fake hosts; remembers what was asked of it."""

    def __init__(self, log: list):
        self.a, self.b = FakeHost("a"), FakeHost("b")
        self.mtu = 4200
        self.log = log
        self.closed = threading.Event()
        self.stuck = False

    def load(self, *sides):
        self.log.append(f"load {'/'.join(sides)} mtu {self.mtu}")

    def unload(self):
        self.log.append("unload")
        if self.stuck:
            raise CommandFailed("host a", "rmmod rdma_rxe", 1, "", "in use")

    def set_mtu(self, mtu):
        self.mtu = mtu

    def check_wire(self):
        pass


def case(name: str, body=lambda lab: None, **requires) -> TestFile:
    return TestFile(name, "", Requires(**requires), body)


class RunnerTest(unittest.TestCase):
    def setUp(self):
        self.log: list[str] = []
        self.side = "B"
        self.boot_error: Exception | None = None
        limit = mock.patch.object(runner, "LEAK_LIMIT", 0.05)
        limit.start()
        self.addCleanup(limit.stop)

    @contextlib.contextmanager
    def boot(self, requires):
        self.log.append("boot")
        if self.boot_error:
            raise self.boot_error
        lab = FakeLab(self.log)
        yield lab
        lab.closed.set()
        self.log.append("close")

    def run_tests(self, *tests: TestFile) -> dict[str, Verdict]:
        self.outcomes = {o.name: o for o in
                         Runner(self.boot, self.side).run_all(list(tests))}
        return {name: o.verdict for name, o in self.outcomes.items()}


class Sharing(RunnerTest):
    def test_tests_that_pass_share_a_boot_and_a_load(self):
        self.assertEqual(self.run_tests(case("1"), case("2")),
                         {"1": Verdict.PASS, "2": Verdict.PASS})
        self.assertEqual(self.log, ["boot", "load B/B mtu 4200", "unload",
                                    "close"])

    def test_other_modules_are_loaded_without_a_boot(self):
        self.run_tests(case("1"), case("2", sides=("A", "B")))
        self.assertEqual(self.log[:3], ["boot", "load B/B mtu 4200",
                                        "load A/B mtu 4200"])

    def test_another_mtu_takes_a_load(self):
        self.run_tests(case("1"), case("2", mtu=1500))
        self.assertEqual(self.log[:3], ["boot", "load B/B mtu 4200",
                                        "load B/B mtu 1500"])

    def test_on_side_a_every_module_is_a(self):
        self.side = "A"
        self.run_tests(case("1", sides=("A", "B")))
        self.assertIn("load A/A mtu 4200", self.log)


class Endings(RunnerTest):
    def test_a_failure_tells_what_was_expected(self):
        def body(lab):
            raise AssertionError("expected 1, seen 2")
        self.assertEqual(self.run_tests(case("1", body), case("2")),
                         {"1": Verdict.FAIL, "2": Verdict.PASS})
        self.assertEqual(self.outcomes["1"].cause, "expected 1, seen 2")
        self.assertEqual(self.log.count("boot"), 1)

    def test_a_failure_after_which_the_driver_is_in_use_takes_a_boot(self):
        def body(lab):
            lab.stuck = True
            raise AssertionError("left it open")
        self.run_tests(case("1", body), case("2"))
        self.assertEqual(self.log.count("boot"), 2)
        self.assertIn("in use", self.outcomes["1"].reason)

    def test_a_crash_takes_a_boot_and_spares_the_next(self):
        def body(lab):
            raise GuestPanic("b: Kernel panic - not syncing: x", "tail")
        self.assertEqual(self.run_tests(case("1", body), case("2")),
                         {"1": Verdict.CRASH, "2": Verdict.PASS})
        self.assertEqual(self.log.count("boot"), 2)

    def test_a_skip_gives_its_reason(self):
        def body(lab):
            raise Skip("no verb")
        self.assertEqual(self.run_tests(case("1", body)),
                         {"1": Verdict.SKIP})
        self.assertEqual(self.outcomes["1"].reason, "no verb")
        self.assertFalse(self.outcomes["1"].lacking)

    def test_what_the_kernel_lacks_is_no_fault_of_the_driver(self):
        def body(lab):
            raise Lacking("the kernel has no tbf")
        self.assertEqual(self.run_tests(case("1", body)),
                         {"1": Verdict.SKIP})
        self.assertTrue(self.outcomes["1"].lacking)

    def test_a_missing_tool_is_named(self):
        with mock.patch.object(FakeHost, "run",
                               return_value=mock.Mock(code=1)):
            self.assertEqual(self.run_tests(case("1", tools=("mckey",))),
                             {"1": Verdict.SKIP})
        self.assertIn("mckey", self.outcomes["1"].reason)
        self.assertTrue(self.outcomes["1"].lacking)

    def test_a_test_that_is_late_loses_its_lab(self):
        def body(lab):
            lab.closed.wait(10)
        self.assertEqual(self.run_tests(case("1", body, seconds=0.05),
                                        case("2")),
                         {"1": Verdict.FAIL, "2": Verdict.PASS})
        self.assertIn("console of a", self.outcomes["1"].reason)

    def test_a_broken_test_fails_with_its_error(self):
        self.run_tests(case("1", lambda lab: 1 / 0))
        self.assertIn("ZeroDivisionError", self.outcomes["1"].cause)

    def test_guests_that_do_not_boot_are_not_booted_again_and_again(self):
        self.boot_error = GuestPanic("a: no root", "")
        verdicts = self.run_tests(case("1"), case("2"), case("3"))
        self.assertEqual(list(verdicts.values()),
                         [Verdict.CRASH, Verdict.FAIL, Verdict.FAIL])
        self.assertEqual(self.log, ["boot"])
        self.assertIn("no root", self.outcomes["3"].reason)


class LeftOvers(RunnerTest):
    def test_a_splat_fails_the_test_that_ran(self):
        def body(lab):
            lab.b.pending.append("BUG: sleeping function called")
        self.assertEqual(self.run_tests(case("1"), case("2", body),
                                        case("3")),
                         {"1": Verdict.PASS, "2": Verdict.FAIL,
                          "3": Verdict.PASS})
        self.assertIn("splat on host b: BUG: sleeping",
                      self.outcomes["2"].reason)

    def test_objects_left_over_fail_the_test(self):
        def body(lab):
            lab.a.resources = IDLE.replace("qp 1", "qp 2")
        self.assertEqual(self.run_tests(case("1", body)),
                         {"1": Verdict.FAIL})
        self.assertIn("qp 2", self.outcomes["1"].reason)

    def test_a_device_created_anew_is_none(self):
        def body(lab):
            lab.a.resources = "7" + IDLE[1:]
        self.assertEqual(self.run_tests(case("1", body)),
                         {"1": Verdict.PASS})

    def test_a_driver_that_cannot_be_removed_fails_the_last_test(self):
        def body(lab):
            lab.stuck = True
        self.assertEqual(self.run_tests(case("1", body)),
                         {"1": Verdict.FAIL})

    def test_leaked_memory_fails_the_last_test(self):
        with mock.patch.object(leaks, "check", side_effect=leaks.Leaked(
                "unreferenced object")):
            self.assertEqual(self.run_tests(case("1"), case("2")),
                             {"1": Verdict.PASS, "2": Verdict.FAIL})
