# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
import os
import unittest
from unittest import mock

from scripts import base, debian
from scripts.paths import RXE
from scripts.tests_unit.fixture import CacheCase, put, small_base

SUMS = {"rxe.c": "11", "rxe_qp.c": "22"}


class Check(unittest.TestCase):
    recorded = base.record("v7.3.4", SUMS)

    def test_same(self):
        self.assertEqual(base.check("7.3.4", SUMS, self.recorded), "")

    def test_other_stable_release_is_a_note(self):
        self.assertIn("v7.3.9, not v7.3.4",
                      base.check("7.3.9", SUMS, self.recorded))

    def test_other_series_is_an_error(self):
        for version in ("7.4.1", "7.30.1", "6.12.3"):
            with self.assertRaisesRegex(base.BaseError, version):
                base.check(version, SUMS, self.recorded)

    def test_difference_lists_files_and_ways_on(self):
        have = {"rxe.c": "11", "rxe_qp.c": "99", "rxe_new.c": "33"}
        with self.assertRaises(base.BaseError) as caught:
            base.check("7.3.4", have, self.recorded)
        text = str(caught.exception)
        self.assertIn("changed rxe_qp.c", text)
        self.assertIn("added rxe_new.c", text)
        self.assertNotIn("rxe.c\n", text)
        self.assertIn("KSRC", text)
        self.assertIn("scripts.base record", text)

    def test_damaged_record(self):
        damaged = self.recorded.replace("file 22", "file 23")
        with self.assertRaisesRegex(base.BaseError, "damaged"):
            base.check("7.3.4", SUMS, damaged)


class Record(unittest.TestCase):
    def test_the_repository_s_own_parses(self):
        tag, sums = base.parse(base.BASE_FILE.read_text())
        self.assertTrue(tag.startswith("v7.3."))
        self.assertIn("rxe_qp.c", sums)


class Ksrc(CacheCase):
    def test_copy_is_used_and_original_untouched(self):
        mine = small_base(self.top).dir
        put(mine / "Makefile", (mine / "Makefile").read_text()
            + "mrproper:\n\trm -f .config\n")
        put(mine / ".config", "built here")
        put(mine / ".git/HEAD", "a repository")
        record = self.top / "BASE"
        record.write_text(base.record("v7.3.4", base.file_sums(mine / RXE)))
        before = base.file_sums(mine)
        with mock.patch.dict(os.environ, {"KSRC": str(mine)}), \
                mock.patch.object(base, "BASE_FILE", record):
            found = base.base.__wrapped__()
        self.assertNotEqual(found.dir, mine)
        self.assertEqual(found.version, "7.3.4")
        self.assertFalse((found.dir / ".config").exists())
        self.assertFalse((found.dir / ".git").exists())
        self.assertEqual(base.file_sums(mine), before)

    def test_no_kernel_tree(self):
        with mock.patch.dict(os.environ, {"KSRC": str(self.top)}), \
                self.assertRaisesRegex(base.BaseError, "not a kernel"):
            base.base.__wrapped__()


class CleanEnv(unittest.TestCase):
    def test_the_caller_s_make_stays_out(self):
        noise = {"MAKEFLAGS": "-j8", "MAKELEVEL": "1", "ARCH": "arm64",
                 "KCFLAGS": "-O3", "KBUILD_OUTPUT": "x", "V": "1"}
        with mock.patch.dict(os.environ, noise):
            env = base.clean_env()
        self.assertFalse(noise.keys() & env.keys())
        self.assertEqual(env["LC_ALL"], "C")
        self.assertIn("PATH", env)


class Mirrors(unittest.TestCase):
    TARGETS = ("http://one/debian/ bookworm\nhttp://one/debian/ "
               "bookworm-updates\nhttp://sec/debian-security/ "
               "bookworm-security\nhttp://tools/x nodistro\n"
               "http://two/debian/ bookworm\n")

    def test_only_those_of_the_release(self):
        self.assertEqual(debian.mirrors(self.TARGETS, "bookworm"),
                         ["http://one/debian/", "http://two/debian/"])

    def test_none(self):
        self.assertEqual(debian.mirrors(self.TARGETS, "trixie"), [])


class Qemu(unittest.TestCase):
    SIMULATED = (
        "Inst qemu-system-x86 [1:7.2+dfsg-7] (1:10.0.2+ds-2~bpo12+1 Debian "
        "Backports:bookworm-backports [amd64]) []\n"
        "Inst seabios (1.16.3-2~bpo12+1 Debian Backports [all])\n"
        "Conf seabios (1.16.3-2~bpo12+1 Debian Backports [all])\n")

    def test_packages_to_fetch(self):
        self.assertEqual(debian.needed(self.SIMULATED),
                         ["qemu-system-x86=1:10.0.2+ds-2~bpo12+1",
                          "seabios=1.16.3-2~bpo12+1"])

    def test_versions(self):
        self.assertFalse(debian.new_enough("7.2.22"))
        self.assertTrue(debian.new_enough("8.1.0"))
        self.assertTrue(debian.new_enough("10.0.2"))

    def test_program_that_does_not_start(self):
        self.assertIsNone(debian.qemu_version(["/no/such/qemu"], {}))
        self.assertIsNone(debian.qemu_version(["true"], {}))
