# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The kernel's selftests/rdma, each script in a guest; B's are the series'."""

import contextlib
import re
import time
from collections.abc import Iterator
from pathlib import Path

from qemu.errors import GuestError
from qemu.limits import scaled
from qemu.plan import Plan
from qemu.runner import finish
from qemu.verdict import Outcome, Verdict
from scripts import series
from scripts.base import base
from scripts.errors import LabError

LIMIT = 120.0           # seconds for one script
KSFT_SKIP = 4


def scripts(directory: Path) -> list[str]:
    """TEST_PROGS of a selftest directory's Makefile."""
    text = (directory / "Makefile").read_text().replace("\\\n", " ")
    return [name for line in re.findall(r"^TEST_PROGS\s*[:+]?=(.*)$", text,
                                        re.M) for name in line.split()]


def _verdict(lab, script: str) -> tuple[Verdict, str]:
    result = lab.a.run(f"cd /payload/selftests/rdma && bash ./{script}",
                       timeout=scaled(LIMIT))
    said = (result.err or result.out).strip()
    if result.code == KSFT_SKIP:
        return Verdict.SKIP, said.splitlines()[-1] if said else "exit 4"
    if result.code:
        return Verdict.FAIL, (f"exit status {result.code}: "
                              f"{said.splitlines()[-1] if said else ''}\n"
                              f"{result.out}{result.err}")
    finish(lab)
    return Verdict.PASS, ""


class _Guest:
    """The lab that scripts share, until one of them harms it."""

    def __init__(self, plan: Plan):
        self._plan = plan
        self._stack = contextlib.ExitStack()
        self._lab = None

    def run(self, script: str) -> Outcome:
        """One script; it finds a guest with no driver loaded."""
        began = time.monotonic()
        try:
            if self._lab is None:
                self._lab = self._stack.enter_context(self._plan.boot())
                # From now on modprobe finds the modules of this side.
                self._lab.load(self._plan.side)
                self._lab.unload()
            verdict, reason = _verdict(self._lab, script)
        except GuestError as error:
            verdict, reason = Verdict.CRASH, str(error)
        except LabError as error:
            verdict, reason = Verdict.FAIL, str(error)
        if verdict in (Verdict.CRASH, Verdict.FAIL):
            self.close()
        return Outcome(f"selftests/{script}", verdict, reason,
                       time.monotonic() - began)

    def close(self) -> None:
        """Shut the guests down."""
        self._lab = None
        self._stack.close()


def run(plan: Plan) -> Iterator[Outcome]:
    """Every script, in the Makefile's order."""
    directory = series.side(base(), "B") / series.SELFTESTS
    guest = _Guest(plan)
    with contextlib.closing(guest):
        for script in scripts(directory):
            if plan.wants(f"selftests/{script}"):
                yield guest.run(script)
