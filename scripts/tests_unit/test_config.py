# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
import re
import unittest

from scripts import config
from scripts.paths import CONFIGS

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
