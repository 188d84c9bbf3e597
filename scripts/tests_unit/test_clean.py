# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
from scripts import clean, git
from scripts.errors import LabError
from scripts.paths import cache_dir
from scripts.tests_unit.fixture import put
from scripts.tests_unit.test_series import Series


class Clean(Series):
    def test_clean_keeps_tree_and_cache(self):
        put(self.top / "build/report/report.json", "{}")
        put(self.top / "build/console", "")
        clean.clean(self.top / "build")
        self.assertEqual([path.name for path in
                          (self.top / "build").iterdir()], ["linux"])

    def test_distclean_removes_both(self):
        self.assertTrue(cache_dir().is_dir())
        clean.distclean(self.top / "build")
        self.assertFalse((self.top / "build").exists())
        self.assertFalse((self.top / "cache").exists())

    def test_distclean_keeps_work(self):
        put(self.tree / "notes", "mine")
        with self.assertRaisesRegex(LabError, "would be lost"):
            clean.distclean(self.top / "build")
        git.run(self.tree, "clean", "-fdq")
        self.two_commits()
        with self.assertRaisesRegex(LabError, "make export"):
            clean.distclean(self.top / "build")
        self.assertTrue(self.tree.exists())
        self.assertTrue((self.top / "cache").exists())
