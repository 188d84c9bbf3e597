# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The closure over package dependencies."""

import unittest

from qemu import packages
from qemu.errors import SetupError

TEXT = """\
tool\tamd64\t1.0\tinstalled\t, libone (>= 1) | libother, virtual, perl:any\t
libone\tamd64\t1.1\tinstalled\tlibc6, \t
libc6\ti386\t2.36\tinstalled\t, \t
libc6\tamd64\t2.36\tinstalled\t, \t
real\tall\t3\tinstalled\t, libc6\tvirtual (= 1), more
perl\tamd64\t5\tinstalled\t, perl-base\t
perl-base\tamd64\t5\tinstalled\t, \t
gone\tamd64\t1\tconfig-files\t, \t
loop1\tamd64\t1\tinstalled\t, loop2\t
loop2\tamd64\t1\tinstalled\t, loop1\t
"""


class Closure(unittest.TestCase):
    def setUp(self):
        self.installed = packages.parse(TEXT, "amd64")

    def names(self, wanted, skip=()):
        return [p.name for p in
                packages.closure(wanted, set(skip), self.installed)]

    def test_it_follows_alternatives_and_virtual_packages(self):
        self.assertEqual(self.names(["tool"], ["perl"]),
                         ["libc6", "libone", "real", "tool"])

    def test_what_only_a_skipped_package_needs_stays_out(self):
        self.assertNotIn("perl-base", self.names(["tool"], ["perl"]))
        self.assertIn("perl-base", self.names(["tool"]))

    def test_circles_end(self):
        self.assertEqual(self.names(["loop1"]), ["loop1", "loop2"])

    def test_a_missing_package_is_named(self):
        for name in ("nothere", "gone"):
            with self.assertRaisesRegex(SetupError, name):
                self.names(["tool", name])

    def test_the_native_architecture_counts(self):
        self.assertEqual(self.installed["libc6"].arch, "amd64")


class Lists(unittest.TestCase):
    def test_ours_can_be_read(self):
        wanted = packages.read_list(packages.GUEST / "packages")
        skipped = packages.read_list(packages.GUEST / "packages.skip")
        self.assertIn("perftest", wanted)
        self.assertFalse(set(wanted) & set(skipped))


if __name__ == "__main__":
    unittest.main()
