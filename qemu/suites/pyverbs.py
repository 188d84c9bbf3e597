# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""rdma-core's own tests (pyverbs) in a guest, on its rxe device.

pyverbs_cases.py runs them inside the guest and reports each case at once. A
case that takes the guest along is a crash; the rest runs after a reboot.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from qemu.errors import GuestError
from qemu.limits import scaled
from qemu.plan import Plan
from qemu.runner import check_splats, finish
from qemu.verdict import Outcome, Verdict
from scripts.errors import LabError

DRIVER = Path(__file__).resolve().parent / "pyverbs_cases.py"
TESTS = "/usr/lib/rdma-core/tests"
LIMIT = 240.0           # seconds for all
CRASHES = 5             # guests that may be lost before giving up


def _name(case: str) -> str:
    return f"pyverbs/{case.removeprefix('tests.')}"


class _Session:
    """What has been reported, over all boots."""

    def __init__(self):
        self.outcomes: list[Outcome] = []
        self.done: set[str] = set()
        self.running = ""
        self._rest = b""

    def take(self, data: bytes) -> None:
        """Take a piece of the driver's output: JSON lines."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            case, *result = json.loads(line)
            self.running = "" if result else case
            self.done.add(case)
            if result:
                verdict, reason, seconds = result
                self.outcomes.append(Outcome(_name(case), Verdict(verdict),
                                             reason, seconds))

    def lost(self, verdict: Verdict, reason: str) -> None:
        """The case that runs ended with the guest, or too late."""
        self.outcomes.append(Outcome(_name(self.running or "start"), verdict,
                                     reason))
        self.running, self._rest = "", b""


def _boot(plan: Plan, session: _Session) -> None:
    """One boot: run all cases that have not been started yet."""
    with plan.boot() as lab:
        lab.load(plan.side)
        gid = lab.a.gid(lab.a.ip4)
        names = lab.a.start("cat > /tmp/done")
        names.input("\n".join(sorted(session.done)).encode())
        names.input(b"")
        names.wait(check=True)
        job = lab.a.start(f"python3 - {TESTS} {lab.a.dev} {gid} /tmp/done",
                          on_output=session.take)
        job.input(DRIVER.read_bytes())
        job.input(b"")
        result = job.wait(scaled(LIMIT))
        if result.code:
            raise LabError(f"pyverbs' tests exited {result.code}:\n"
                           f"{result.err[-2000:]}")
        check_splats(lab)
        finish(lab)


def run(plan: Plan) -> Iterator[Outcome]:
    """Every case of rdma-core's test suite."""
    session = _Session()
    for _ in range(CRASHES):
        try:
            _boot(plan, session)
            break
        except GuestError as error:
            session.lost(Verdict.CRASH, str(error))
        except LabError as error:
            session.lost(Verdict.FAIL, str(error))
    else:
        session.lost(Verdict.FAIL, f"gave up after {CRASHES} lost guests")
    yield from (o for o in session.outcomes if plan.wants(o.name))
