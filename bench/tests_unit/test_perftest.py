# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""perftest's output: real ones, recorded from 4.5+0.17 in two VMs."""

import unittest
from pathlib import Path

from bench import perftest
from bench.cpu import CpuProbe
from bench.exchange import CellError, Ports
from bench.matrix import Run
from bench.perftest import Link, Numbers, command, parse
from bench.tests_unit.fake import FakeLab

RECORDED = Path(__file__).with_name("recorded")


def run_of(verb: str, test: str, size: int, qps: int = 1, mode: str = "two-vm",
           post_list: int = 1, mtu: int = 4200, depth: int = 128,
           events: bool = False) -> Run:
    kinds = ("lat", "p99") if test == "lat" else ("rate",)
    return Run(mode, verb, test, size, qps, mtu, post_list, depth, events,
               1000, 200, kinds, ())


def recorded(name: str) -> str:
    """A recorded output, without the command on its first line."""
    return (RECORDED / name).read_text().split("\n", 1)[1]


# file -> (run, iterations, device, port, what it measured)
FILES = {
    "A-send_lat-2-q1-m4200": (run_of("send", "lat", 2), 250, "rxe0", 18515,
                              Numbers(lat=3285.92, p99=32505.53)),
    "A-read_lat-64-q1-m4200": (run_of("read", "lat", 64), 250, "rxe0", 18516,
                               Numbers(lat=2082.53, p99=20271.04)),
    "A-write_bw-64-q4-m4200": (run_of("write", "bw", 64, 4), 750, "rxe0",
                               18520, Numbers(bw=0.60, rate=9870.0)),
    "A-write_bw-65536-q1-m1500": (run_of("write", "bw", 65536, mtu=1500), 75,
                                  "rxe0", 18519, Numbers(bw=2.69, rate=43.0)),
    "A-atomic_bw-8-q1-m4200": (run_of("atomic", "bw", 8), 750, "rxe0", 18523,
                               Numbers(bw=0.03, rate=4337.0)),
    "siw-send_bw-4096-q1-m4200": (run_of("send", "bw", 4096), 500, "siw0",
                                  18618, Numbers(bw=6.88, rate=1762.0)),
    "siw-send_lat-2-q1-m4200": (run_of("send", "lat", 2), 250, "siw0", 18615,
                                Numbers(lat=487.60, p99=5705.05)),
}


class Recorded(unittest.TestCase):
    def test_all_are_used(self):
        self.assertEqual({p.name for p in RECORDED.iterdir()}, set(FILES))

    def test_numbers(self):
        for name, (run, count, dev, _, right) in FILES.items():
            with self.subTest(name=name):
                found = parse(recorded(name), run, count, dev == "siw0")
                for field in ("lat", "p99", "bw", "rate"):
                    want = getattr(right, field)
                    if want is None:
                        self.assertIsNone(getattr(found, field))
                    else:
                        self.assertAlmostEqual(getattr(found, field), want, 6)

    def test_commands_are_those_that_were_recorded(self):
        for name, (run, count, dev, port, _) in FILES.items():
            with self.subTest(name=name):
                asked = (RECORDED / name).read_text().split("\n", 1)[0]
                self.assertEqual("$ " + command(run, dev, 1, port, count,
                                                "10.77.0.2", dev == "siw0"),
                                 asked)


class Strict(unittest.TestCase):
    """What is not exactly the expected output is an error."""

    def setUp(self):
        self.run_ = run_of("send", "lat", 2)
        self.out = recorded("A-send_lat-2-q1-m4200")
        parse(self.out, self.run_, 250)

    def refuse(self, out: str, run: Run | None = None, count: int = 250):
        with self.assertRaises(CellError):
            parse(out, run or self.run_, count)

    def test_other_counts_sizes_and_tests(self):
        self.refuse(self.out, count=251)
        self.refuse(self.out, run_of("send", "lat", 4))
        self.refuse(self.out, run_of("send", "bw", 2))

    def test_no_table_or_two(self):
        self.refuse("")
        self.refuse(self.out.replace("#bytes", "bytes"))
        self.refuse(self.out + self.out)

    def test_another_heading(self):
        self.refuse(self.out.replace("t_typical", "t_median"))
        self.refuse(self.out.replace("[usec]", "[cycles]"))

    def test_rows(self):
        row = " 2       250 "
        self.refuse(self.out.replace(row, " 2       250   99.00 "))
        self.refuse(self.out.replace(row, " 2       250   nonsense"))
        self.refuse(self.out.replace("\n" + row, "\n---\n" + row))

    def test_a_path_mtu_that_is_not_the_links(self):
        self.refuse(self.out.replace("4096[B]", "1024[B]"))
        self.refuse(self.out, run_of("send", "lat", 2, mtu=1500))

    def test_a_figure_of_zero(self):
        out = recorded("A-write_bw-64-q4-m4200")
        run = run_of("write", "bw", 64, 4)
        parse(out, run, 750)
        self.refuse(out.replace("0.009870", "0.000000"), run, 750)


class PathMtu(unittest.TestCase):
    def test_known_links(self):
        for mtu, right in ((1500, 1024), (4200, 4096), (4175, 2048),
                           (4176, 4096), (9000, 4096)):
            self.assertEqual(perftest.path_mtu(mtu), right, mtu)


class Options(unittest.TestCase):
    def test_post_lists(self):
        self.assertIn(" -l 16", command(run_of("write", "bw", 64,
                                               post_list=16), "d", 1, 2, 992))

    def test_atomics_have_no_size(self):
        self.assertNotIn("-s", command(run_of("atomic", "lat", 8), "d", 1, 2,
                                       100).split())

    def test_latency_has_no_bandwidth_options(self):
        words = command(run_of("read", "lat", 8), "d", 1, 2, 100).split()
        self.assertFalse({"-N", "-q", "-l"} & set(words))


    def test_completions_are_asked_for_regularly(self):
        for run, given in ((run_of("write", "bw", 64), True),
                           (run_of("write", "bw", 8192), False),
                           (run_of("send", "bw", 8192, events=True), True),
                           (run_of("write", "bw", 64, depth=1), False),
                           (run_of("write", "bw", 64, post_list=16), False)):
            with self.subTest(run=run):
                self.assertEqual("-Q 16" in command(run, "d", 1, 2, 992),
                                 given)

    def test_events_and_depth(self):
        words = command(run_of("send", "bw", 64, depth=1, events=True), "d",
                        1, 2, 100)
        self.assertIn(" -t 1", words)
        self.assertIn(" -e", words)


class Measure(unittest.TestCase):
    def test_two_ends_and_their_cpu_time(self):
        lab = FakeLab()
        lab.load("A")
        link = Link.of(lab, "A", Ports())
        probe = CpuProbe()
        found = perftest.measure(link, run_of("write", "bw", 64), 1000, probe)
        self.assertEqual(found.rate, 4000.0)
        self.assertEqual(probe.spent.user + probe.spent.kernel, 100)
        self.assertTrue(any("ib_write_bw" in c and lab.b.ip4 in c
                            for c in lab.a.commands))
        self.assertTrue(any("ib_write_bw" in c and lab.b.ip4 not in c
                            for c in lab.b.commands))

    def test_each_measurement_has_its_own_port(self):
        lab = FakeLab()
        lab.load("A")
        link = Link.of(lab, "A", Ports())
        for _ in range(3):
            perftest.measure(link, run_of("write", "bw", 64), 1000)
        asked = [c for c in lab.a.commands if "ib_write_bw" in c]
        self.assertEqual(len(set(asked)), 3)

    def busy(self, disturbed: int) -> tuple[FakeLab, Link]:
        """A lab whose first so many clients cannot calibrate their clock."""
        lab = FakeLab()
        lab.load("A")
        run = lab.a.run

        def disturb(cmd: str, timeout: float = 60):
            nonlocal disturbed
            result = run(cmd, timeout)
            if disturbed > 0 and "ib_" in cmd:
                disturbed -= 1
                result.err = "Correlation coefficient r^2: 0.83 < 0.9"
                result.out = result.out.replace("0.004000", "0.000000")
            return result
        lab.a.run = disturb
        return lab, Link.of(lab, "A", Ports())

    def test_a_disturbed_clock_is_looked_at_again(self):
        _, link = self.busy(perftest.CALIBRATIONS - 1)
        found = perftest.measure(link, run_of("write", "bw", 64), 1000)
        self.assertEqual(found.rate, 4000.0)

    def test_a_clock_that_stays_disturbed_is_an_error(self):
        _, link = self.busy(perftest.CALIBRATIONS)
        with self.assertRaisesRegex(CellError, "calibrate"):
            perftest.measure(link, run_of("write", "bw", 64), 1000)

    def test_a_failing_client_is_a_cell_error(self):
        lab = FakeLab(lambda side, cmd: None)
        lab.load("A")
        with self.assertRaises(CellError) as caught:
            perftest.measure(Link.of(lab, "A", Ports()),
                             run_of("write", "bw", 64), 1000)
        self.assertIn("Couldn't connect", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
