# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Counts the instructions of a guest, through our QEMU plugin."""

import mmap
import struct
from pathlib import Path

from qemu.image import compile_c
from scripts import cache

SOURCE = Path(__file__).resolve().parent / "insn_plugin.c"
COUNTS = struct.Struct("=5Q")       # user, kernel, marks, both between marks


def plugin() -> Path:
    """The plugin, built when the cache does not have it. SetupError."""
    def make(into: Path) -> None:
        compile_c(["-shared", "-fPIC", "-fvisibility=hidden", "-o",
                   str(into / "insn_plugin.so"), str(SOURCE)])

    return cache.get("plugin", cache.key(SOURCE.read_bytes()), make,
                     "instruction counter") / "insn_plugin.so"


class InsnCounter:
    """The counts of one guest: pass `argument` to its QEMU's -plugin."""

    def __init__(self, run_dir: Path):
        path = run_dir / "instructions"
        path.write_bytes(bytes(COUNTS.size))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), COUNTS.size)
        self.argument = f"{plugin()},counts={path}"

    def read(self) -> tuple[int, int]:
        """(user, kernel) instructions since the guest's start."""
        return self._all()[:2]

    def between(self) -> tuple[int, int, int]:
        """(how many marks so far, user and kernel instructions between the
        last two): the guest sets them by running the program `mark`."""
        return self._all()[2:]

    def _all(self) -> tuple[int, ...]:
        return COUNTS.unpack(self._map[:COUNTS.size])

    def close(self) -> None:
        """Unmap."""
        self._map.close()
