# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
import dataclasses
from pathlib import Path

from scripts import export, git, series, tree
from scripts.paths import RXE
from scripts.tests_unit.fixture import CacheCase, put, small_base


class Series(CacheCase):
    """A developer's round: lay out, commit, export, lay out again."""

    def setUp(self):
        super().setUp()
        self.base = small_base(self.top)
        self.tree = self.top / "build/linux"
        self.patches = self.top / "patches"
        self.here = self.top / "repo" / RXE
        self.patches.mkdir()
        self.lay_out()

    def lay_out(self):
        tree.lay_out(self.base, series.patches(self.patches), self.tree)

    def export(self, fresh=None):
        return export.export(self.tree, self.patches, self.here, fresh)

    def commit(self, subject, **files):
        for name, text in files.items():
            path = self.tree / RXE / name.replace("_c", ".c")
            put(path, text)
        git.run(self.tree, "add", "-A")
        git.run(self.tree, "-c", "user.name=Some One", "commit", "-q",
                "--author", "Some One <some@one.example>", "-m", subject)

    def content(self):
        return {str(path.relative_to(self.patches)): path.read_bytes()
                for path in sorted(self.patches.rglob("*.patch"))}

    def two_commits(self):
        self.commit("RDMA/rxe: Add the engine", rxe_run_c="int run;\n")
        self.commit("RDMA/rxe: Use it", rxe_c="int rxe = 1;\n")


class Export(Series):
    def test_nothing(self):
        self.assertEqual(self.export(), 0)
        self.assertEqual(self.content(), {})

    def test_twice_gives_the_same_bytes(self):
        self.two_commits()
        self.assertEqual(self.export(), 2)
        first = self.content()
        self.assertEqual(list(first), ["0001-RDMA-rxe-Add-the-engine.patch",
                                       "0002-RDMA-rxe-Use-it.patch"])
        self.export()
        self.assertEqual(self.content(), first)
        git.run(self.tree, "commit", "-q", "--amend", "--date=2001-01-01",
                "--no-edit", "--reset-author")
        self.export()
        self.assertEqual(self.content(), first)

    def test_laid_out_again_it_exports_the_same(self):
        self.two_commits()
        self.export()
        first = self.content()
        self.lay_out()
        self.export()
        self.assertEqual(self.content(), first)

    def test_debian_s_ignore_file_hides_no_new_file(self):
        put(self.base.dir / ".gitignore", "*.o\n#\n/*\n!/debian/\n")
        self.base = dataclasses.replace(self.base, origin="with ignores")
        self.lay_out()
        self.commit("RDMA/rxe: Add the engine", rxe_run_c="int run;\n")
        self.export()
        self.assertTrue((self.here / "rxe_run.c").exists())

    def test_author_is_neutral(self):
        self.two_commits()
        self.export()
        for text in self.content().values():
            self.assertIn(b"From: rxe series <rxe-series@localhost>", text)
            self.assertNotIn(b"some@one", text)
            self.assertNotIn(b"Signed-off-by", text)

    def test_added_files_are_copied_and_stale_removed(self):
        self.two_commits()
        self.export()
        self.assertEqual((self.here / "rxe_run.c").read_text(), "int run;\n")
        self.assertFalse((self.here / "rxe.c").exists())
        git.run(self.tree, "reset", "-q", "--hard", "HEAD~2")
        self.export()
        self.assertFalse((self.here / "rxe_run.c").exists())
        self.assertEqual(self.content(), {})

    def test_copy_edited_here_is_not_overwritten(self):
        self.two_commits()
        self.export()
        put(self.here / "rxe_run.c", "int edited_here;\n")
        with self.assertRaisesRegex(export.ExportError, "rxe_run.c"):
            self.export()
        self.assertIn("edited_here", (self.here / "rxe_run.c").read_text())

    def test_outside_is_refused(self):
        put(self.tree / "net/core/dev.c", "int dev;\n")
        self.commit("net: Change it")
        with self.assertRaisesRegex(export.ExportError, "net/core/dev.c"):
            self.export()

    def test_cover_letter_is_kept_and_renewed(self):
        put(self.patches / series.COVER,
            "From 0 Mon Sep 17 00:00:00 2001\nFrom: me <me@example>\n"
            "Date: now\nSubject: [PATCH 0/9] RDMA/rxe: Faster\n\n"
            "Why it is faster.\n\nrxe series (1):\n  old\n")
        self.two_commits()
        self.export()
        text = self.content()[series.COVER].decode()
        self.assertIn("Subject: [PATCH 00/02] RDMA/rxe: Faster\n", text)
        self.assertIn("Why it is faster.\n\nrxe series (2):\n"
                      "  RDMA/rxe: Add the engine\n", text)
        self.assertIn("2 files changed", text)
        self.assertNotIn("old", text)
        self.export()
        self.assertEqual(self.content()[series.COVER].decode(), text)

    def test_topics(self):
        self.two_commits()
        self.export()
        self.commit("RDMA/rxe: Receive better", rxe_c="int rxe = 2;\n")
        self.export(fresh="02-receive")
        self.assertIn("02-receive/0001-RDMA-rxe-Receive-better.patch",
                      self.content())
        self.commit("RDMA/rxe: Receive best", rxe_c="int rxe = 3;\n")
        self.export()
        self.assertEqual(len(self.content()), 4)
        self.assertIn("02-receive/0002-RDMA-rxe-Receive-best.patch",
                      self.content())
        self.lay_out()
        self.assertEqual((self.tree / RXE / "rxe.c").read_text(),
                         "int rxe = 3;\n")


class LayOut(Series):
    def test_uncommitted_change_is_kept(self):
        put(self.tree / RXE / "rxe.c", "int mine;\n")
        with self.assertRaisesRegex(tree.TreeError, "in no commit"):
            self.lay_out()
        self.assertEqual((self.tree / RXE / "rxe.c").read_text(),
                         "int mine;\n")

    def test_unexported_commit_is_kept(self):
        self.two_commits()
        with self.assertRaisesRegex(tree.TreeError, "make export"):
            self.lay_out()
        self.export()
        self.lay_out()

    def test_new_patches_replace_exported_ones(self):
        self.two_commits()
        self.export()
        (self.patches / "0002-RDMA-rxe-Use-it.patch").unlink()
        self.lay_out()
        self.assertEqual((self.tree / RXE / "rxe.c").read_text(),
                         "int rxe;\n")
        self.assertTrue((self.tree / RXE / "rxe_run.c").exists())

    def test_conflict_is_left_open_and_protected(self):
        self.two_commits()
        self.export()
        self.base = small_base(self.top, "7.3.5")
        put(self.base.dir / RXE / "rxe.c", "int other;\n")
        with self.assertRaisesRegex(tree.TreeError, "git am --continue"):
            self.lay_out()
        for refused in (self.lay_out, self.export):
            with self.assertRaisesRegex(tree.TreeError, "under way"):
                refused()


class Applied(Series):
    def test_sides(self):
        self.two_commits()
        self.export()
        pristine = series.applied(self.base, [])
        patched = series.applied(self.base, series.patches(self.patches))
        self.assertEqual((pristine / RXE / "rxe.c").read_text(), "int rxe;\n")
        self.assertEqual((patched / RXE / "rxe.c").read_text(),
                         "int rxe = 1;\n")
        self.assertEqual((patched / RXE / "rxe_run.c").read_text(),
                         "int run;\n")
        self.assertFalse((patched / ".git").exists())

    def test_failing_patch_is_named(self):
        self.two_commits()
        self.export()
        last = self.patches / "0002-RDMA-rxe-Use-it.patch"
        last.write_text(last.read_text().replace("-int rxe;", "-int no;"))
        with self.assertRaisesRegex(series.SeriesError,
                                    "0002-RDMA-rxe-Use-it.patch does not"):
            series.applied(self.base, series.patches(self.patches))

    def test_outside(self):
        text = ("diff --git a/net/a.c b/net/a.c\n"
                f"diff --git a/{RXE}/rxe.c b/{RXE}/rxe.c\n"
                f"diff --git a/{RXE}x/rxe.c b/{RXE}x/rxe.c\n"
                f"diff --git a/{series.UAPI} b/{series.UAPI}\n")
        self.assertEqual(series.outside(text), [f"{RXE}x/rxe.c", "net/a.c"])


class Names(CacheCase):
    def test_same_as_git(self):
        self.assertEqual(export.file_name(7, "RDMA/rxe: Do it, (now)."),
                         "0007-RDMA-rxe-Do-it-now.patch")

    def test_order(self):
        top = self.top / "p"
        for name in ("02-b/0001-x", "0002-y", "0001-z", "01-a/0001-w",
                     "0000-cover-letter", "01-a/0000-cover-letter"):
            put(top / f"{name}.patch", "")
        self.assertEqual([str(path.relative_to(top)) for path in
                          series.patches(Path(top))],
                         ["0001-z.patch", "0002-y.patch",
                          "01-a/0001-w.patch", "02-b/0001-x.patch"])

    def test_topics_out_of_order(self):
        known = {"a": "01-x", "b": "02-y"}
        self.assertEqual(export.topics(["a", "n", "b"], known, None),
                         ["01-x", "01-x", "02-y"])
        with self.assertRaisesRegex(export.ExportError, '"a" is of topic'):
            export.topics(["b", "a"], known, None)
