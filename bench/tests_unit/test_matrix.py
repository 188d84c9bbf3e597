# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The matrix file's limits, its expansion, and what it refuses."""

import tempfile
import unittest
from pathlib import Path

from bench import matrix
from bench.matrix import MatrixError, choose, load

HEAD = """
rate_below = 4096
mtu = 4200
[qdisc]
slow = ["root x", "parent y"]
[iterations.two-vm]
lat = [[1048576, 100]]
bw = [[64, 3000], [1048576, 50]]
[iterations.insn]
lat = [[1048576, 100]]
bw = [[64, 1000], [1048576, 50]]
short = 5
"""


def loaded(text: str, mode: str = "two-vm") -> matrix.Plan:
    """The plan of a matrix file with this text after the usual head."""
    with tempfile.TemporaryDirectory() as temp:
        path = Path(temp, "matrix.toml")
        path.write_text(f"{HEAD}\n[quick.{mode}]\nreps = 5\nref_reps = 2\n"
                        f"[[quick.{mode}.run]]\n{text}\n")
        return load("quick", path)[mode]


class File(unittest.TestCase):
    """matrix.toml itself."""

    def test_both_sets_have_all_modes(self):
        for which in matrix.SETS:
            self.assertEqual(tuple(load(which)), matrix.MODES)

    def test_limits_that_were_agreed(self):
        quick, full = load("quick"), load("full")
        for mode in matrix.MODES:
            self.assertIn(quick[mode].cells(), range(10, 15), mode)
        self.assertLessEqual(full["insn"].cells(), 120)
        self.assertEqual(full["insn"].reps, 1)
        self.assertLessEqual(full["two-vm"].cells(), 20)
        for plans in (quick, full):
            self.assertGreaterEqual(plans["two-vm"].reps, 5)
            self.assertGreaterEqual(plans["native"].reps, 5)

    def test_full_covers_verbs_sizes_and_mtus(self):
        runs = [run for plan in load("full").values() for run in plan.runs]
        self.assertEqual({run.verb for run in runs}, set(matrix.VERBS))
        self.assertEqual({run.mtu for run in runs}, {1500, 4200})
        self.assertLessEqual({2, 64, 4096, 65536, 1 << 20},
                             {run.size for run in runs})

    def test_perftest_accepts_the_iterations(self):
        for which in matrix.SETS:
            for plan in load(which).values():
                for run in plan.runs:
                    counts = [run.iterations] + [run.short] * (run.short > 0)
                    for count in counts:
                        self.assertGreaterEqual(count, 5, run.name)
                        self.assertEqual(count % run.post_list, 0, run.name)
                    if run.mode == "insn":
                        self.assertLess(run.short, run.iterations / 2)


class Expansion(unittest.TestCase):
    def test_product_of_lists(self):
        plan = loaded('verb = ["send", "write"]\ntest = "bw"\n'
                      "sizes = [64, 4096]\nqps = [1, 4]\nmtu = [1500, 4200]")
        self.assertEqual(len(plan.runs), 16)
        self.assertEqual(len({run.name for run in plan.runs}), 16)

    def test_kinds(self):
        for mode, text, right in (
                ("two-vm", 'test = "lat"\nsizes = [2]', ("lat", "p99")),
                ("two-vm", 'test = "bw"\nsizes = [64]', ("rate",)),
                ("two-vm", 'test = "bw"\nsizes = [4096]', ("bw",)),
                ("insn", 'test = "lat"\nsizes = [2]', ("lat", "kinsn")),
                ("insn", 'test = "bw"\nsizes = [64]', ("rate", "kinsn"))):
            with self.subTest(mode=mode, text=text):
                [run] = loaded('verb = "send"\n' + text, mode).runs
                self.assertEqual(run.kinds, right)
                self.assertTrue(set(right) <= set(matrix.KINDS))

    def test_iterations_by_size(self):
        plan = loaded('verb = "write"\ntest = "bw"\nsizes = [64, 65]')
        self.assertEqual([r.iterations for r in plan.runs], [3000, 50])

    def test_queue_pairs_share_the_messages(self):
        [run] = loaded('verb = "write"\ntest = "bw"\nsizes = [64]\n'
                       "qps = [4]").runs
        self.assertEqual((run.iterations, run.messages), (750, 3000))

    def test_links(self):
        plan = loaded('verb = "write"\ntest = "bw"\nsizes = [64]\n'
                      'family = [4, 6]\nqdisc = ["", "slow"]')
        self.assertEqual([run.name for run in plan.runs],
                         ["two-vm write_bw 64B m4200",
                          "two-vm write_bw 64B slow m4200",
                          "two-vm write_bw 64B ip6 m4200",
                          "two-vm write_bw 64B ip6 slow m4200"])
        self.assertEqual([run.shape for run in plan.runs],
                         [(), ("root x", "parent y")] * 2)

    def test_post_lists_round_the_iterations(self):
        [run] = loaded('verb = "write"\ntest = "bw"\nsizes = [64]\n'
                       "post_list = [16]", "insn").runs
        self.assertEqual((run.iterations, run.short), (992, 192))


class Refusals(unittest.TestCase):
    def test_what_cannot_be(self):
        for text in ('verb = "atomic"\ntest = "bw"\nsizes = [64]',
                     'verb = "atomic"\ntest = "bw"\nsizes = [8]\n'
                     'refs = ["siw"]',
                     'verb = "flush"\ntest = "bw"\nsizes = [8]',
                     'verb = "send"\ntest = "lat"\nsizes = [2]\nqps = [2]',
                     'verb = "send"\ntest = "bw"\nsizes = [2097152]',
                     'verb = "send"\ntest = "bw"\nsizes = [2]\nsice = 1',
                     'verb = "send"\ntest = "bw"\nsizes = [2]\n'
                     'refs = ["roce"]',
                     'verb = "write"\ntest = "bw"\nsizes = [2]\nevents = true',
                     'verb = "send"\ntest = "lat"\nsizes = [2]\ndepth = 1',
                     'verb = "send"\ntest = "bw"\nsizes = [2]\nqps = [2]\n'
                     "events = true",
                     'verb = "send"\ntest = "bw"\nsizes = [2]\ndepth = 1\n'
                     "post_list = 16",
                     'verb = "send"\ntest = "bw"\nsizes = [2, 2]',
                     'verb = "send"\ntest = "bw"\nsizes = [2]\nfamily = 5',
                     'verb = "send"\ntest = "bw"\nsizes = [2]\nfamily = 6\n'
                     'refs = ["tcp"]',
                     'verb = "send"\ntest = "lat"\nsizes = [2]\n'
                     'qdisc = "slow"',
                     'verb = "send"\ntest = "bw"\nsizes = [2]\n'
                     'qdisc = "fast"'):
            with self.subTest(text=text), self.assertRaises(MatrixError):
                loaded(text)

    def test_unknown_set(self):
        with self.assertRaises(MatrixError):
            load("huge")


class Choice(unittest.TestCase):
    def test_modes(self):
        self.assertEqual(list(choose(load(), "native insn")),
                         ["insn", "native"])

    def test_words_are_whole(self):
        plans = choose(load("full"), "insn", "write bw 2B, read lat")
        names = {run.name for run in plans["insn"].runs}
        self.assertIn("insn write_bw 2B m4200", names)
        self.assertIn("insn read_lat 65536B m4200", names)
        self.assertNotIn("insn write_bw 1024B m4200", names)

    def test_nothing_left_is_an_error(self):
        for modes, cells in (("uml", ""), ("", "flush")):
            with self.assertRaises(MatrixError):
                choose(load(), modes, cells)

    def test_reps(self):
        self.assertEqual(choose(load(), reps=1)["two-vm"].reps, 1)
        self.assertEqual(choose(load())["two-vm"].reps, load()["two-vm"].reps)


if __name__ == "__main__":
    unittest.main()
