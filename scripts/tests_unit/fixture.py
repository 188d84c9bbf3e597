# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A cache of its own and a kernel tree of four files, for tests."""

import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from scripts import series
from scripts.base import Base, checksum, file_sums
from scripts.paths import RXE

DRIVER = {"Makefile": "obj-m += rdma_rxe.o\n", "rxe.c": "int rxe;\n",
          "rxe_qp.c": "int qp;\n" * 9}


class CacheCase(unittest.TestCase):
    """Gives each test an empty cache and a scratch directory `self.top`."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.top = Path(scratch.name)
        cache = mock.patch.dict(os.environ,
                                {"RXE_CACHE": str(self.top / "cache")})
        cache.start()
        self.addCleanup(cache.stop)


def small_base(top: Path, version: str = "7.3.4") -> Base:
    """A "kernel" that holds what the series may touch, and a Makefile."""
    tree = top / f"linux-{version}"
    major, minor, sub = version.split(".")
    put(tree / "Makefile", f"VERSION = {major}\nPATCHLEVEL = {minor}\n"
                           f"SUBLEVEL = {sub}\n")
    for name, text in DRIVER.items():
        put(tree / RXE / name, text)
    put(tree / series.UAPI, "#define A 1\n")
    put(tree / series.SELFTESTS / "Makefile", "TESTS :=\n")
    return Base(tree, version, "test", checksum(file_sums(tree / RXE)), "")


def put(path: Path, text: str) -> None:
    """Write a file and the directories above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
