# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
import re
import unittest
from unittest import mock

from scripts import config
from scripts.paths import CONFIGS
from scripts.tests_unit.fixture import CacheCase, put, small_base

RESULT = """\
CONFIG_NET=y
CONFIG_NR_CPUS=8
# CONFIG_SLUB_TINY is not set
CONFIG_RDMA_RXE=m
"""


class Requests(unittest.TestCase):
    def test_lines_are_numbered(self):
        [one, two] = config.requests("net", "# why\nCONFIG_A=y\nCONFIG_B=n\n")
        self.assertEqual((one.where, one.symbol, one.value),
                         ("configs/net.config:2", "CONFIG_A", "y"))
        self.assertEqual(two.value, "n")

    def test_other_lines_are_refused(self):
        for line in ("CONFIG_A", "NET=y", "#CONFIG_A=y"):
            with self.assertRaisesRegex(config.ConfigError,
                                        "configs/net.config:1"):
                config.requests("net", line)


class Lost(unittest.TestCase):
    def lost(self, *lines):
        return config.lost(config.requests("f", "\n".join(lines)), RESULT)

    def test_all_there(self):
        self.assertEqual(self.lost("CONFIG_NET=y", "CONFIG_RDMA_RXE=m",
                                   "CONFIG_SLUB_TINY=n", "CONFIG_GONE=n",
                                   "CONFIG_NR_CPUS=8"), [])

    def test_missing_names_fragment_and_line(self):
        [text] = self.lost("CONFIG_NET=y", "CONFIG_CRC_OPTIMIZATIONS=y")
        self.assertIn("configs/f.config:2", text)
        self.assertIn("CONFIG_CRC_OPTIMIZATIONS=y was asked for", text)
        self.assertIn("has n", text)

    def test_module_instead_of_built_in(self):
        self.assertEqual(len(self.lost("CONFIG_RDMA_RXE=y")), 1)

    def test_off_was_asked_for_and_it_is_on(self):
        [text] = self.lost("CONFIG_NET=n")
        self.assertIn("has y", text)

    def test_prefix_is_no_match(self):
        self.assertEqual(len(self.lost("CONFIG_NR=8")), 1)


class Variants(unittest.TestCase):
    def test_fragments_exist_and_parse(self):
        for variant in config.variants().values():
            for name in variant.fragments:
                text = (CONFIGS / f"{name}.config").read_text()
                self.assertTrue(config.requests(name, text), name)

    def test_every_fragment_is_used(self):
        used = {name for variant in config.variants().values()
                for name in variant.fragments}
        there = {str(path.relative_to(CONFIGS)).removesuffix(".config")
                 for path in CONFIGS.rglob("*.config")}
        self.assertEqual(there - used, set())

    def test_unknown_variant_lists_the_known(self):
        with self.assertRaisesRegex(config.ConfigError, "perf.*uml"):
            config.variant("fast")

    def test_caller_overrides_fragments(self):
        perf = config.variant("perf")
        asked = config.asked(perf, {"CONFIG_IPV6": "n"})
        self.assertEqual([want.value for want in asked
                          if want.symbol == "CONFIG_IPV6"], ["n"])
        self.assertFalse([want for want in asked
                          if re.fullmatch("CONFIG_IPV6", want.symbol)
                          and want.value == "y"])


MAKEFILE = """\
tinyconfig:
\techo CONFIG_TINY=y > $(O)/.config
olddefconfig:
\tsed -i /CONFIG_DROPPED/d $(O)/.config
"""
MERGE = """\
#!/bin/sh
cat "$4" "$5" > "$3/.config"
"""


class Merged(CacheCase):
    """merged() on a "kernel" whose kconfig drops one symbol."""

    def merge(self, changes=None, **fragments):
        tree = small_base(self.top)
        put(tree.dir / "Makefile", MAKEFILE)
        script = tree.dir / "scripts/kconfig/merge_config.sh"
        put(script, MERGE)
        script.chmod(0o755)
        for name, text in fragments.items():
            put(self.top / "configs" / f"{name}.config", text)
        what = config.Variant("v", "x86_64", 1, tuple(fragments))
        with mock.patch.object(config, "CONFIGS", self.top / "configs"):
            return config.merged(tree, what, changes)

    def test_fragments_on_tinyconfig(self):
        text = self.merge(a="CONFIG_A=y\n", b="CONFIG_B=m\n")
        self.assertEqual(config.values(text), {"CONFIG_TINY": "y",
                         "CONFIG_A": "y", "CONFIG_B": "m"})

    def test_lost_line_is_an_error_each_time(self):
        for _ in range(2):
            with self.assertRaisesRegex(
                    config.ConfigError,
                    "configs/b.config:2: CONFIG_DROPPED=y was asked for"):
                self.merge(a="CONFIG_A=y\n", b="# b\nCONFIG_DROPPED=y\n")

    def test_caller_s_changes(self):
        self.assertEqual(config.values(self.merge(
            {"CONFIG_A": "m"}, a="CONFIG_A=y\n"))["CONFIG_A"], "m")
        with self.assertRaisesRegex(config.ConfigError, "by the caller"):
            self.merge({"CONFIG_DROPPED": "y"}, a="CONFIG_A=y\n")

    def test_missing_fragment(self):
        what = config.Variant("v", "x86_64", 1, ("nowhere",))
        with self.assertRaisesRegex(config.ConfigError, "nowhere"):
            config.asked(what, {})
