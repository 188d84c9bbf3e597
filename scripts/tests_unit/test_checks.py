# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
import contextlib
import io
import shutil
import unittest
from unittest import mock

from scripts import checks, series, verify
from scripts.paths import RXE
from scripts.tests_unit.fixture import CacheCase, put, small_base

OUTPUT = """\
  CC [M]  rxe_qp.o
rxe_qp.c: In function 'rxe_qp_init':
rxe_qp.c:10:5: warning: unused variable 'x' [-Wunused-variable]
   10 |   int x;
rxe_qp.c:99:5: warning: unused variable 'x' [-Wunused-variable]
./include/linux/a.h:7: warning: context imbalance in 'f'
WARNING: modpost: "rxe_x" [rdma_rxe.ko] undefined!
WARNING: modpost: suppressed 142 unresolved symbol warnings because
WARNING: modpost: missing MODULE_DESCRIPTION() in rdma_rxe.o
"""


class Messages(unittest.TestCase):
    def test_lines_numbers_do_not_count_but_occurrences_do(self):
        found = checks.messages(OUTPUT)
        self.assertEqual(found["rxe_qp.c: warning: unused variable 'x' "
                               "[-Wunused-variable]"], 2)
        self.assertEqual(sum(found.values()), 4)

    def test_one_more_of_the_same_is_new(self):
        base = checks.messages(OUTPUT.replace("rxe_qp.c:99:5: warning", "x"))
        self.assertEqual(sum((checks.messages(OUTPUT) - base).values()), 1)
        self.assertFalse(base - checks.messages(OUTPUT))


class Unchecked(unittest.TestCase):
    def test_files_that_sparse_did_not_see(self):
        output = ("  CC [M]  rxe.o\n  CHECK   rxe.c\n  CC [M]  rxe_qp.o\n"
                  "  CC [M]  tests/a.o\n  CHECK   tests/a.c\n"
                  "  CC [M]  rdma_rxe.mod.o\n  CC [M]  .module-common.o\n")
        self.assertEqual(checks.unchecked(output), ["rxe_qp"])


class Builds(CacheCase):
    """check_builds() with a stand-in for the compiler."""

    def setUp(self):
        super().setUp()
        self.base = small_base(self.top)
        self.pristine = series.applied(self.base, [])
        self.target = checks.Target("x", self.top, "x86_64", "k", ("W=1",))

    def check(self, changed, output):
        tree = self.top / "tree"
        shutil.copytree(self.pristine, tree)
        put(tree / RXE / "rxe.c", changed)
        put(tree / RXE / "Kconfig", "")
        put(self.pristine / RXE / "Kconfig", "")

        def compile_in(kbuild, source, into, *rest):
            (into / "rdma_rxe.ko").touch()
            return output if source == tree else "a.c:1: warning: old\n"

        with mock.patch("scripts.module.compile_in", compile_in):
            checks.check_builds(self.base, tree, [self.target])

    def test_old_message_passes(self):
        self.check("int a;\n", "a.c:7: warning: old\n")

    def test_sparse_that_does_not_run_is_no_pass(self):
        self.target = checks.Target("x", self.top, "x86_64", "k",
                                    checks.SPARSE)
        with self.assertRaisesRegex(checks.CheckFailed, "look at rxe:"):
            self.check("int a;\n", "  CC [M]  rxe.o\n")

    def test_new_message_fails(self):
        with self.assertRaisesRegex(checks.CheckFailed, "warning: new"):
            self.check("int a;\n", "a.c:7: warning: new\n")


class Style(unittest.TestCase):
    OUTPUT = ("p.patch:12: WARNING:LONG_LINE: line length of 120\n"
              "p.patch:0: ERROR:MISSING_SIGN_OFF: Missing Signed-off-by\n")

    def run_with(self, allow, status=1, output=OUTPUT):
        done = mock.Mock(returncode=status, stdout=output, stderr="")
        with mock.patch("subprocess.run", return_value=done), \
                mock.patch.object(checks, "clean_env", return_value={}):
            checks.check_style(mock.MagicMock(), mock.MagicMock(),
                               checks.allowed(allow))

    def test_unlisted_finding_fails_with_place(self):
        with self.assertRaisesRegex(checks.CheckFailed,
                                    "12 WARNING: LONG_LINE: line"):
            self.run_with("MISSING_SIGN_OFF * by whom it concerns\n")

    def test_listed_findings_pass(self):
        with mock.patch.object(checks, "fnmatch", return_value=True):
            self.run_with("MISSING_SIGN_OFF * a\nLONG_LINE * b\n")

    def test_checkpatch_that_breaks_is_no_pass(self):
        for status in (1, 2, 127):
            with self.assertRaisesRegex(checks.CheckFailed, "did not run"):
                self.run_with("", status, "")

    def test_reason_is_needed(self):
        with self.assertRaisesRegex(checks.CheckFailed, ":2: want"):
            checks.allowed("# why\nLONG_LINE *\n")

    def test_the_repository_s_own_parses(self):
        self.assertTrue(checks.allowed(checks.ALLOW.read_text()))


class Prefixes(CacheCase):
    def setUp(self):
        super().setUp()
        self.patches = [self.top / name for name in ("1.patch", "2.patch")]
        for path in self.patches:
            put(path, path.name)

    def keys(self, *rules):
        return [prefix.key for prefix in
                verify.prefixes("base", self.patches, *rules)]

    def test_a_patch_changes_its_own_and_later_keys_only(self):
        before = self.keys()
        put(self.patches[1], "other")
        after = self.keys()
        self.assertEqual(before[0], after[0])
        self.assertNotEqual(before[1], after[1])

    def test_rules_change_all(self):
        self.assertFalse(set(self.keys("a")) & set(self.keys("b")))

    def test_an_exception_changes_the_keys_from_its_patch_on(self):
        one = checks.Allowed("LONG_LINE", "2*", "a table")
        [first, second] = verify.prefixes("base", self.patches,
                                          accepted=[one])
        self.assertEqual(first.key, self.keys()[0])
        self.assertNotEqual(second.key, self.keys()[1])

    def test_verdicts_are_remembered(self):
        [first, second] = verify.prefixes("base", self.patches)
        verify.remember("run", first)
        self.assertTrue(verify.passed("run", first))
        self.assertFalse(verify.passed("static", first))
        self.assertFalse(verify.passed("run", second))

    def test_first_bad_patch_stops_and_is_named(self):
        tried = []

        def check(source, prefix, targets):
            tried.append(prefix.last.name)
            raise checks.CheckFailed("no")

        with mock.patch.object(verify, "check_static", check), \
                self.assertRaisesRegex(verify.VerifyError, "1.patch: no"):
            verify.static(None, verify.prefixes("base", self.patches), [])
        self.assertEqual(tried, ["1.patch"])


class LastPatches(unittest.TestCase):
    def test_all_unless_asked(self):
        self.assertIsNone(verify.last_of([]))
        self.assertEqual(verify.last_of(["--last", "2"]), 2)

    def test_none_is_refused(self):
        for count in ("0", "-1", "x"):
            with contextlib.redirect_stderr(io.StringIO()) as said, \
                    self.assertRaises(SystemExit):
                verify.last_of(["--last", count])
            self.assertIn("--last", said.getvalue())


class Added(CacheCase):
    def test_differences(self):
        old, new, here = (self.top / name for name in ("old", "new", "here"))
        put(old / RXE / "rxe.c", "1")
        put(new / RXE / "rxe.c", "2")
        put(new / RXE / "a.c", "a")
        with self.assertRaisesRegex(verify.VerifyError, "a.c is missing"):
            verify.check_added(new, old, here)
        put(here / "a.c", "a")
        verify.check_added(new, old, here)
        put(here / "a.c", "b")
        with self.assertRaisesRegex(verify.VerifyError, "a.c differs"):
            verify.check_added(new, old, here)
        put(here / "a.c", "a")
        put(here / "rxe.c", "2")
        with self.assertRaisesRegex(verify.VerifyError,
                                    "rxe.c is not added"):
            verify.check_added(new, old, here)
