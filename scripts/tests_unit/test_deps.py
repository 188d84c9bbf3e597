# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
import contextlib
import io
import unittest
from unittest import mock

from scripts import deps


class Lists(unittest.TestCase):
    def test_comments_and_blanks(self):
        self.assertEqual(deps.listed("# head\n\ngit  # why\nmake\n"),
                         ["git", "make"])

    def test_guest_packages_are_wanted(self):
        self.assertLessEqual({"git", "perftest"}, set(deps.wanted()))


class Missing(unittest.TestCase):
    def test_unknown_package_is_missing(self):
        self.assertEqual(deps.missing(["dpkg", "no-such-package-here"]),
                         ["no-such-package-here"])


class Main(unittest.TestCase):
    def run_as(self, uid, missing):
        with mock.patch("os.geteuid", return_value=uid), \
                mock.patch.object(deps, "missing", return_value=missing), \
                mock.patch.object(deps, "install") as install, \
                contextlib.redirect_stderr(io.StringIO()):
            status = deps.main()
        return status, install

    def test_nothing_missing(self):
        self.assertEqual(self.run_as(1000, [])[0], 0)

    def test_root_installs(self):
        status, install = self.run_as(0, ["bc"])
        self.assertEqual(status, 0)
        install.assert_called_once_with(["bc"])

    def test_others_get_one_line(self):
        with self.assertRaisesRegex(deps.DepsError, "apt-get install.* bc"):
            self.run_as(1000, ["bc"])
