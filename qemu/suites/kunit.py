# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The series' KUnit suites, which run when the module loads.

In User-mode Linux, or on the debug kernel in a guest with two CPUs: there the
driver has the CPU's vector instructions as well.
"""

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from qemu import lab
from qemu.errors import GuestError
from qemu.limits import scaled
from qemu.payload import payload
from qemu.plan import DEBUG, Plan
from qemu.verdict import Outcome, Verdict
from scripts import series
from scripts.base import base
from scripts.errors import LabError
from scripts.kernel import Kernel, kernel, rxe_module
from scripts.paths import RXE

MODULE = "kunit/rdma_rxe.ko"
RESULTS = "/sys/kernel/debug/kunit"

# A case of a suite: indented once; its parameters are indented twice.
_CASE = re.compile(r"^ {4}(not )?ok \d+ (?:- )?([^\s#]+)(?: # (\w+) ?(.*))?$")
_DETAIL = re.compile(r"^ {4,}# (?!Subtest)(.*)$")
_PLAN = re.compile(r"^ {4}1\.\.(\d+)$")


def parse(suite: str, text: str) -> list[Outcome]:
    """The cases of one suite's KTAP; a suite that broke off fails as well."""
    outcomes, details, planned = [], [], None
    for line in text.splitlines():
        if found := _PLAN.match(line):
            planned = int(found[1])
        elif found := _CASE.match(line):
            bad, case, directive, reason = found.groups()
            name = f"kunit/{suite}.{case}"
            if directive == "SKIP":
                outcomes.append(Outcome(name, Verdict.SKIP, reason or "skip",
                                        lacking=True))
            elif bad:
                outcomes.append(Outcome(name, Verdict.FAIL, "\n".join(details)
                                        or "not ok"))
            else:
                outcomes.append(Outcome(name, Verdict.PASS))
            details = []
        elif found := _DETAIL.match(line):
            details.append(found[1])
    if planned != len(outcomes):
        outcomes.append(Outcome(f"kunit/{suite}", Verdict.FAIL,
                                f"{len(outcomes)} of {planned} cases reported "
                                f"a result:\n{text}"))
    return outcomes


def suites_in(tree: Path) -> int:
    """How many KUnit suites the driver in a source tree defines."""
    return sum(path.read_text(errors="replace").count("kunit_test_suite")
               for path in (tree / RXE).rglob("*.c"))


def _results(host) -> dict[str, str]:
    """Load the module, which runs its suites; their KTAP, by suite."""
    # modprobe brings in what the module needs; then it makes room.
    host.sh(f"side load B && rmmod rdma_rxe && insmod /payload/{MODULE}",
            scaled(300))
    names = host.sh(f"ls {RESULTS}").split()
    return {name: host.sh(f"cat {RESULTS}/{name}/results") for name in names}


def _boot(plan: Plan, built: Kernel,
          disk: Path) -> AbstractContextManager[lab.Lab]:
    if plan.debug:
        return lab.pair(built, smp=2, payload=disk, **DEBUG)
    return lab.native(built, payload=disk)


def run(plan: Plan) -> Iterator[Outcome]:
    """Every case of every suite; nothing while the series has no suite."""
    if not suites_in(series.side(base(), "B")):
        return
    built = kernel("debug" if plan.debug else "uml")
    disk = payload(built, {MODULE: rxe_module(built, "B", kunit=True)})
    try:
        with _boot(plan, built, disk) as one:
            results = _results(one.a)
            splats = one.splats()
    except (GuestError, LabError) as error:
        yield Outcome("kunit/load", Verdict.CRASH, str(error))
        return
    if not results:
        yield Outcome("kunit/load", Verdict.FAIL,
                      "the driver has suites, but none reported a result")
    if splats:
        yield Outcome("kunit/splats", Verdict.FAIL, "\n".join(splats))
    for suite, text in sorted(results.items()):
        yield from (o for o in parse(suite, text) if plan.wants(o.name))
