# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The report: its schema, its files, no path in them, no failure hidden."""

import io
import json
import re
import signal
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from bench import __main__ as program
from bench import facts, matrix, page, plots, report, table
from bench.ab import Bench
from bench.matrix import Plan, load
from bench.tests_unit.fake import Boots, FakeLab
from scripts.paths import ROOT

CELL = {"mode", "verb", "kind", "size", "qps", "mtu", "unit", "better",
        "variants", "gain", "gain_min", "gain_max", "verdict"}
ENV = {"kernel", "config_hash", "accel", "vcpus", "qdisc", "qemu", "uso",
       "host_kernel", "rdma_core", "perftest", "hz", "series"}


def noisy(side: str, cmd: str) -> float | None:
    """B is much better; atomics fail on B."""
    if "atomic" in cmd and side == "B":
        return None
    factor = 0.5 if "_lat" in cmd else 2.0
    return (900.0 if "_lat" in cmd else 4000.0) * (factor if side == "B"
                                                   else 1)


def whole_report() -> dict:
    """A report of the quick matrix, measured on fake labs."""
    taken, known = [], {}
    for mode, plan in load().items():
        bench = Bench(plan, Boots(lambda: FakeLab(noisy)), lambda what: None)
        taken += bench.measure()
        known[mode] = bench.facts
    return {"schema": 1, "env": facts.env(known, "quick"),
            "cells": report.cells(taken)}


class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.report = whole_report()

    def test_env(self):
        self.assertLessEqual(ENV, set(self.report["env"]))
        facts.refuse_paths(self.report["env"])

    def test_cells(self):
        for cell in self.report["cells"]:
            self.assertLessEqual(CELL, set(cell))
            self.assertLessEqual(set(cell) - CELL, {"post_list", "depth", "events",
                                                   "cpu"})
            self.assertIn(cell["mode"], matrix.MODES)
            self.assertEqual((cell["unit"], cell["better"]),
                             matrix.KINDS[cell["kind"]])
            for found in cell["variants"].values():
                self.assertIn(set(found), ({"error"}, {"samples", "median",
                                                       "min", "max"}))

    def test_gain_above_one_is_better_everywhere(self):
        for cell in self.report["cells"]:
            if cell["kind"] == "kinsn":     # alike in the fake lab
                self.assertIn(cell["verdict"], ("no difference", "failed"))
            elif cell["gain"] is not None:
                self.assertAlmostEqual(cell["gain"], 2.0, 1)
                self.assertEqual(cell["verdict"], "faster")

    def test_failures_are_there(self):
        bad = [c for c in self.report["cells"] if report.failed(c)]
        self.assertEqual({c["verb"] for c in bad}, {"atomic"})
        text = table.closing(self.report)
        self.assertIn("FAILED: two-vm atomic 8 B rate B", text)
        self.assertRegex(text.splitlines()[-1], r"cells: \d+ faster, 0 slower,"
                         rf" \d+ no difference, {len(bad)} failed")

    def test_ratios_under_emulation_are_labelled(self):
        self.assertIn("under TCG", table.mode_table(self.report, "two-vm"))
        kvm = json.loads(json.dumps(self.report))
        kvm["env"]["modes"]["two-vm"]["accel"] = "kvm"
        text = table.mode_table(kvm, "two-vm")
        self.assertNotIn("TCG", text)
        self.assertIn("under KVM", text)

    def test_every_cell_is_in_a_table(self):
        for mode in matrix.MODES:
            text = table.mode_table(self.report, mode)
            for cell in self.report["cells"]:
                if cell["mode"] == mode:
                    self.assertIn(table.name_of(cell), text)
        self.assertEqual(table.mode_table({"cells": []}, "insn"), "")

    def test_page_needs_nothing_else(self):
        svgs = {name: plots.svg(figure, name) for name, figure
                in plots.figures(self.report).items()}
        self.assertEqual(set(svgs), {"gain", "latency", "bandwidth",
                                     "instructions"})
        text = page.page(self.report, svgs)
        self.assertEqual(text.count("<svg"), 4)
        self.assertNotRegex(text, r'(src|href)="(?!#)')
        self.assertNotIn("url(http", text)
        self.assertNotIn(str(ROOT), text)
        ids = re.findall(r'\bid="([^"]+)"', text)
        self.assertEqual(len(ids), len(set(ids)))
        self.assertIn("under TCG", text)

    def test_files(self):
        with tempfile.TemporaryDirectory() as temp:
            out = Path(temp, "report")
            program.publish(self.report["env"], self.report["cells"], out)
            self.assertEqual({p.name for p in out.iterdir()},
                             {"report.json", "report.html", "gain.png"})
            self.assertEqual(json.loads((out / "report.json").read_text()),
                             self.report)


class Program(unittest.TestCase):
    """main(), with fake labs instead of guests."""

    def setUp(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            self.addCleanup(signal.signal, number, signal.getsignal(number))

    def status(self, lab, *argv: str, **env: str) -> tuple[int, dict]:
        boots = Boots(lab)
        with tempfile.TemporaryDirectory() as temp, \
                mock.patch.dict("os.environ", env), \
                mock.patch.object(program.modes, "kernel_of"), \
                mock.patch.object(program.modes, "opener", lambda m: boots), \
                mock.patch.object(program, "OUT", Path(temp)):
            status = program.main(list(argv))
            return status, json.loads(Path(temp, "report.json").read_text())

    def test_all_well(self):
        status, found = self.status(FakeLab, MODES="insn native",
                                    CELLS="write bw 64B")
        self.assertEqual(status, 0)
        self.assertEqual({c["mode"] for c in found["cells"]},
                         {"insn", "native"})

    def test_options_are_variables_too(self):
        _, found = self.status(FakeLab, "--modes", "native", "--cells",
                               "atomic", "--reps", "2", MODES="insn")
        [cell] = found["cells"]
        self.assertEqual((cell["mode"], cell["verb"]), ("native", "atomic"))
        self.assertEqual(len(cell["variants"]["A"]["samples"]), 2)

    def test_options_that_cannot_be(self):
        for argv, env in ((["--reps", "many"], {}), (["--matrix", "all"], {}),
                          (["more"], {}), ([], {"MATRIX": "all"}),
                          ([], {"REPS": "many"})):
            with self.subTest(argv=argv, env=env), \
                    mock.patch.dict("os.environ", env), \
                    mock.patch("sys.stderr", io.StringIO()), \
                    self.assertRaises(SystemExit) as caught:
                program.arguments(argv)
            self.assertEqual(caught.exception.code, 2)

    def test_a_failed_cell_makes_the_status_non_zero(self):
        status, found = self.status(lambda: FakeLab(noisy), MODES="native",
                                    CELLS="atomic")
        self.assertEqual(status, 1)
        self.assertEqual(found["cells"][0]["verdict"], "failed")

    def test_a_leak_makes_the_status_non_zero(self):
        status, _ = self.status(lambda: FakeLab(leaks=True), MODES="native",
                                CELLS="atomic")
        self.assertEqual(status, 1)

    def test_instruction_mode_is_shared_out(self):
        plan = load()["insn"]
        parts = program.shards(plan, 2)
        self.assertEqual(sorted(run.name for part in parts
                                for run in part.runs),
                         sorted(run.name for run in plan.runs))
        self.assertEqual(len(parts), 2)
        self.assertEqual(len(program.shards(load()["native"], 2)), 1)
        self.assertEqual(len(program.shards(plan, 1)), 1)


class Paths(unittest.TestCase):
    def test_refused_in_facts(self):
        for text in ("/usr/bin/qemu", "QEMU is /opt/q/bin", "a=/x/y"):
            with self.subTest(text=text), \
                    self.assertRaises(facts.PathInFacts):
                facts.refuse_paths({"modes": {"insn": {"qemu": text}}})

    def test_not_everything_with_a_slash_is_a_path(self):
        facts.refuse_paths({"unit": "MiB/s", "cpu": "Xeon(R) / 2", "n": 4})

    def test_taken_out_of_errors(self):
        self.assertEqual(facts.without_paths(f"no {ROOT}/build/x"),
                         "no ./build/x")


class Texts(unittest.TestCase):
    def test_sizes(self):
        for size, right in ((2, "2 B"), (4096, "4 KiB"), (1 << 20, "1 MiB"),
                            (1500, "1500 B")):
            self.assertEqual(table.size_text(size), right)

    def test_long_messages_keep_their_ends(self):
        text = "\n".join(map(str, range(100)))
        found = table.shortened(text).splitlines()
        self.assertEqual((len(found), found[0], found[-1]), (17, "0", "99"))
        self.assertEqual(table.shortened("a\nb"), "a\nb")

    def test_method_has_its_summary(self):
        text = page.method_summary(page.METHOD.read_text())
        self.assertIn("<li>", text)
        self.assertGreater(len(text), 500)


class Empty(unittest.TestCase):
    def test_nothing_measured_draws_nothing(self):
        plan = Plan("native", 2, 0, load()["native"].runs[:1])
        bench = Bench(plan, Boots(lambda: FakeLab(bad_side="A")),
                      lambda what: None)
        made = report.cells(bench.measure())
        drawn = plots.figures({"cells": made, "env": {"modes": {}}})
        self.assertNotIn("gain", drawn)


if __name__ == "__main__":
    unittest.main()
