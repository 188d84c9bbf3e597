# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The alternation, and what failures of every kind become."""

import re
import unittest
from dataclasses import replace

from bench import report
from bench.ab import Bench, order, units
from bench.matrix import Plan, Run
from bench.schedule import turns
from bench.tests_unit import fake
from bench.tests_unit.fake import Boots, FakeLab, Model, steady

LAT = Run("two-vm", "send", "lat", 2, 1, 4200, 1, 128, False, 1000, 0, ("lat", "p99"),
          ("siw", "tcp", "udp"))
RATE = Run("two-vm", "write", "bw", 64, 1, 4200, 1, 128, False, 3000, 0, ("rate",), ())
SMALL = Run("two-vm", "write", "bw", 65536, 1, 1500, 1, 128, False, 300, 0, ("bw",), ())
INSN = Run("insn", "write", "bw", 64, 1, 4200, 1, 128, False, 2500, 500,
           ("rate", "kinsn"), ())


def bench(boots: Boots, *runs: Run, reps: int = 3) -> Bench:
    made = Bench(Plan(runs[0].mode, reps, 2, runs), boots, lambda what: None)
    made.measure()
    return made


def sides(lab: FakeLab) -> str:
    return "".join(side[0] for side in lab.loads)


class Schedule(unittest.TestCase):
    def test_a_and_b_change_places(self):
        self.assertEqual("".join(t.variant for t in turns(5, 0, ())),
                         "ABBAABBAAB")

    def test_repetitions_are_complete(self):
        found = turns(5, 2, ("siw", "sockets"))
        for name, reps in (("A", 5), ("B", 5), ("siw", 2), ("sockets", 2)):
            self.assertEqual([t.rep for t in found if t.variant == name],
                             list(range(reps)))

    def test_references_are_spread(self):
        names = [t.variant for t in turns(6, 2, ("siw",))]
        self.assertLess(names.index("siw"), 6)
        self.assertGreater(len(names) - names[::-1].index("siw"), 7)

    def test_more_references_than_repetitions(self):
        found = turns(1, 3, ("siw",))
        self.assertEqual([t.variant for t in found].count("siw"), 3)

    def test_only_references_that_runs_name(self):
        plan = Plan("two-vm", 2, 2, (RATE,))
        self.assertEqual({t.variant for t in order(plan)}, {"A", "B"})
        self.assertEqual(units(plan), 4)
        self.assertEqual(units(Plan("two-vm", 2, 2, (RATE, LAT))), 12)


class Alternation(unittest.TestCase):
    def test_all_in_one_boot(self):
        boots = Boots(FakeLab)
        found = bench(boots, LAT, RATE)
        self.assertEqual(len(boots.labs), 1)
        self.assertEqual(sides(boots.labs[0]).replace("s", ""), "ABBAAB")
        for cell in report.cells(list(found.samples.values())):
            self.assertEqual(cell["verdict"], "no difference", cell)
            self.assertEqual(cell["gain"], 1.0)
            self.assertEqual(len(cell["variants"]["A"]["samples"]), 3)
        self.assertEqual((found.fault, boots.closed), ("", 1))

    def test_references(self):
        found = bench(Boots(FakeLab), LAT)
        lat, p99 = report.cells(list(found.samples.values()))
        self.assertEqual(set(lat["variants"]), {"A", "B", "siw", "tcp", "udp"})
        self.assertEqual(set(p99["variants"]), {"A", "B", "siw"})
        self.assertEqual(len(lat["variants"]["tcp"]["samples"]), 2)

    def test_mtu_changes_between_runs_and_back(self):
        boots = Boots(FakeLab)
        bench(boots, SMALL, RATE, reps=2)
        self.assertEqual(boots.labs[0].mtus, [1500, 4200] * 3 + [1500])

    def test_a_family(self):
        boots = Boots(FakeLab)
        bench(boots, replace(RATE, family=6), reps=1)
        for host in (boots.labs[0].a, boots.labs[0].b):
            used = [re.search(r" -x (\d+)", cmd)[1] for cmd in host.commands
                    if "ib_write_bw" in cmd and "-n 3000" in cmd]
            self.assertEqual(used, ["6", "6"])

    def shaped(self, model: Model = steady, **changes) -> list[list[str]]:
        """What tc did on each host, with what ran in between as "run"."""
        boots = Boots(lambda: FakeLab(model))
        run = replace(RATE, qdisc="slow", shape=("root x", "parent y"),
                      **changes)
        bench(boots, run, reps=1)
        return [["run" if "-n 3000" in cmd else cmd for cmd in host.commands
                 if cmd.startswith("tc ") or "-n 3000" in cmd]
                for host in (boots.labs[0].a, boots.labs[0].b)]

    SHAPED = ["tc qdisc add dev eth0 root x", "tc qdisc add dev eth0 parent y",
              "run", "tc qdisc del dev eth0 root"] * 2

    def test_a_qdisc_where_the_data_leaves(self):
        self.assertEqual(self.shaped(), [self.SHAPED, ["run"] * 2])
        self.assertEqual(self.shaped(verb="read"), [["run"] * 2, self.SHAPED])

    def test_no_qdisc_stays_when_a_run_fails(self):
        a, b = self.shaped(lambda side, cmd: None if "-n 3000" in cmd
                           else steady(side, cmd))
        self.assertEqual((a, b), (self.SHAPED, ["run"] * 2))

    def test_a_gain(self):
        boots = Boots(lambda: FakeLab(
            lambda side, cmd: 8000.0 if side == "B" else 4000.0))
        [cell] = report.cells(list(bench(boots, RATE).samples.values()))
        self.assertEqual((cell["gain"], cell["verdict"]), (2.0, "faster"))

    def test_instruction_mode(self):
        [rate, kinsn] = report.cells(list(
            bench(Boots(FakeLab), INSN, reps=1).samples.values()))
        self.assertEqual(rate["variants"]["A"]["samples"], [4000.0])
        self.assertEqual(kinsn["variants"]["B"]["samples"], [20000.0])
        self.assertEqual(kinsn["better"], "lower")

    def test_cpu_time_comes_with_two_vms_only(self):
        [cell] = report.cells(list(bench(Boots(FakeLab), RATE)
                                   .samples.values()))
        busy, kernel = (cell["cpu"][part]["variants"]["A"]["median"]
                        for part in ("all", "kernel"))
        self.assertAlmostEqual(busy / kernel, 2, delta=0.2)
        cells = report.cells(list(bench(Boots(FakeLab), INSN)
                                  .samples.values()))
        self.assertFalse(any("cpu" in cell for cell in cells))


class Failures(unittest.TestCase):
    """One fails, the others still run, and nothing is hidden."""

    def cells(self, boots: Boots, *runs: Run) -> list[dict]:
        self.bench = bench(boots, *runs)
        return report.cells(list(self.bench.samples.values()))

    def test_a_run_of_one_side(self):
        boots = Boots(lambda: FakeLab(lambda side, cmd: None if (
            side == "B" and "_lat" in cmd) else 4000.0))
        lat, p99, rate = self.cells(boots, LAT, RATE)
        for cell in (lat, p99):
            self.assertEqual(report.failed(cell), ["B"])
            self.assertEqual((cell["verdict"], cell["gain"]),
                             ("failed", None))
            self.assertIn("samples", cell["variants"]["A"])
        self.assertEqual(rate["verdict"], "no difference")
        self.assertEqual(len(boots.labs), 1)

    def test_what_failed_is_not_tried_again(self):
        boots = Boots(lambda: FakeLab(lambda side, cmd: None if (
            side == "B" and "_lat" in cmd) else 4000.0))
        self.cells(boots, LAT, RATE)
        tried = [c for c in boots.labs[0].a.commands if "ib_send_lat" in c]
        self.assertEqual(len(tried), 3 + 1 + 2)     # of A, of B, of siw

    def test_a_panic_boots_anew(self):
        def model(side: str, cmd: str) -> float:
            if side == "B" and "_lat" in cmd:
                raise fake.panic(side)
            return 4000.0
        boots = Boots(lambda: FakeLab(model))
        lat, _, rate = self.cells(boots, LAT, RATE)
        self.assertIn("Kernel panic", lat["variants"]["B"]["error"])
        self.assertEqual(len(rate["variants"]["B"]["samples"]), 3)
        self.assertEqual((len(boots.labs), boots.closed), (2, 2))
        self.assertEqual(self.bench.fault, "")

    def test_a_driver_that_does_not_load(self):
        boots = Boots(lambda: FakeLab(bad_side="B"))
        [cell] = self.cells(boots, RATE)
        self.assertIn("bad symbol", cell["variants"]["B"]["error"])
        self.assertEqual(len(cell["variants"]["A"]["samples"]), 3)

    def test_a_splat_fails_what_ran_then(self):
        boots = Boots(lambda: FakeLab(splat="WARNING: at rxe_x"))
        [cell] = self.cells(boots, RATE)
        self.assertIn("WARNING: at rxe_x", cell["variants"]["A"]["error"])

    def test_a_reference(self):
        boots = Boots(lambda: FakeLab(
            lambda side, cmd: None if "qperf" in cmd else 900.0))
        lat, _ = self.cells(boots, LAT)
        self.assertEqual(report.failed(lat), ["tcp", "udp"])
        self.assertEqual(lat["verdict"], "no difference")

    def test_one_repetition_of_a_reference(self):
        tries = []

        def model(side: str, cmd: str) -> float | None:
            tries.append(side)
            return None if side == "siw" and tries.count("siw") == 1 else 900.0
        boots = Boots(lambda: FakeLab(model))
        lat, _ = self.cells(boots, LAT)
        self.assertEqual(report.failed(lat), [])
        self.assertEqual(len(lat["variants"]["siw"]["samples"]), 1)

    def test_a_driver_that_stays(self):
        boots = Boots(lambda: FakeLab(leaks=True))
        [cell] = self.cells(boots, RATE)
        self.assertIn("in use", self.bench.fault)
        self.assertEqual(report.failed(cell), [])

    def test_no_boot_at_all(self):
        def refuse():
            raise fake.panic("a")
        [cell] = self.cells(Boots(refuse), RATE)
        self.assertEqual(report.failed(cell), ["A", "B"])
        self.assertIn("Kernel panic", self.bench.fault)


if __name__ == "__main__":
    unittest.main()
