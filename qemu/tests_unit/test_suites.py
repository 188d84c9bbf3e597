# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What suites read: KTAP, a selftest Makefile, reports out of a guest."""

import tempfile
import unittest
from pathlib import Path

from qemu import peers
from qemu.suites import kunit, pyverbs, selftests
from qemu.verdict import Verdict

KTAP = """KTAP version 1
1..1
    KTAP version 1
    # Subtest: rxe_seg
    # module: rdma_rxe
    1..3
    ok 1 first
        KTAP version 1
        # Subtest: table
        not ok 1 one # SKIP it is a parameter
        ok 2 two
    # table: pass:2 fail:0 skip:0 total:2
    ok 2 table
    # bad: EXPECTATION FAILED at tests/rxe_seg_kunit.c:7
    Expected a == b, but
    not ok 3 bad
# rxe_seg: pass:2 fail:1 skip:0 total:3
not ok 1 rxe_seg
"""


class Ktap(unittest.TestCase):
    def verdicts(self, text: str) -> list[tuple[str, Verdict]]:
        return [(o.name, o.verdict) for o in kunit.parse("rxe_seg", text)]

    def test_each_case_counts_and_no_parameter(self):
        self.assertEqual(self.verdicts(KTAP), [
            ("kunit/rxe_seg.first", Verdict.PASS),
            ("kunit/rxe_seg.table", Verdict.PASS),
            ("kunit/rxe_seg.bad", Verdict.FAIL)])

    def test_a_failure_tells_what_the_case_said(self):
        self.assertIn("EXPECTATION FAILED",
                      kunit.parse("rxe_seg", KTAP)[-1].reason)

    def test_a_skip_gives_its_reason(self):
        text = KTAP.replace("ok 1 first", "ok 1 first # SKIP no such thing")
        first = kunit.parse("rxe_seg", text)[0]
        self.assertEqual((first.verdict, first.reason),
                         (Verdict.SKIP, "no such thing"))

    def test_a_suite_that_breaks_off_fails(self):
        for text in (KTAP[:KTAP.index("    # bad")], ""):
            self.assertEqual(self.verdicts(text)[-1],
                             ("kunit/rxe_seg", Verdict.FAIL))


class Selftests(unittest.TestCase):
    def test_programs_are_read_from_the_makefile(self):
        with tempfile.TemporaryDirectory() as directory:
            Path(directory, "Makefile").write_text(
                "TEST_PROGS := a.sh \\\n\t\tb.sh\nTEST_PROGS += c.sh\n"
                "TEST_FILES := d.sh\n\ninclude ../lib.mk\n")
            self.assertEqual(selftests.scripts(Path(directory)),
                             ["a.sh", "b.sh", "c.sh"])


class Pyverbs(unittest.TestCase):
    def test_reports_come_in_pieces(self):
        session = pyverbs._Session()
        data = (b'["tests.m.C.one"]\n["tests.m.C.one", "pass", "", 0.5]\n'
                b'["tests.m.C.two"]\n')
        for at in range(0, len(data), 5):
            session.take(data[at:at + 5])
        self.assertEqual([(o.name, o.verdict) for o in session.outcomes],
                         [("pyverbs/m.C.one", Verdict.PASS)])
        self.assertEqual(session.done, {"tests.m.C.one", "tests.m.C.two"})

    def test_the_case_that_ran_is_the_one_that_was_lost(self):
        session = pyverbs._Session()
        session.take(b'["tests.m.C.two"]\n')
        session.lost(Verdict.CRASH, "Kernel panic")
        self.assertEqual([(o.name, o.verdict) for o in session.outcomes],
                         [("pyverbs/m.C.two", Verdict.CRASH)])


class Sizes(unittest.TestCase):
    def lab(self, mtu: int):
        return type("Lab", (), {"facts": {"mtu": mtu}})

    def test_the_path_mtu_follows_the_ethernet_mtu(self):
        self.assertEqual([peers.path_mtu(self.lab(mtu)) for mtu in
                          (600, 1500, 2200, 4155, 4200, 9000)],
                         [512, 1024, 2048, 2048, 4096, 4096])

    def test_sizes_are_those_at_which_segmentation_changes(self):
        self.assertEqual(peers.sizes_around(1024), [
            1, 1023, 1024, 1025, 4095, 4096, 4097, 65536, 1048576])
