# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Records what side A does in each test: --record-a.

Every behaviour test runs in a process and in guests of its own, so that no
test sees what another one left behind, however it ended. Each runs several
times and its worst end is recorded: what A does only sometimes, B need not
do either, but what A never does is a regression.
"""

import dataclasses
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from qemu import expect, procs, testfile
from qemu.plan import Plan
from qemu.runner import Runner
from qemu.suites import pyverbs, selftests
from qemu.verdict import Outcome, Verdict
from scripts.errors import LabError
from scripts.paths import ROOT
from scripts.progress import Step

RUNS = 3
SUITES = {"selftests": selftests.run, "pyverbs": pyverbs.run}
_BAD = (Verdict.PASS, Verdict.SKIP, Verdict.FAIL, Verdict.CRASH)


class NoOutcome(LabError):
    """The process of a test ended without telling how the test did."""


def worst(outcomes: list[Outcome]) -> Outcome:
    """The worst of several ends of one test; says if it was not always so."""
    bad = max(outcomes, key=lambda o: _BAD.index(o.verdict))
    count = sum(o.verdict is bad.verdict for o in outcomes)
    if count == len(outcomes):
        return bad
    return dataclasses.replace(
        bad, reason=f"{bad.cause} ({count} of {len(outcomes)} runs)")


def run_one(plan: Plan, into: str) -> int:
    """Run the one selected behaviour test; its outcome goes to a file."""
    [test] = [t for t in testfile.load_all() if plan.wants(t.name)]
    [outcome] = Runner(plan.boot, plan.side).run_all([test])
    Path(into).write_text(json.dumps(
        dataclasses.asdict(outcome) | {"verdict": outcome.verdict.value}))
    return 0


def _in_process(name: str, plan: Plan) -> Outcome:
    """A behaviour test on side A, in a process of its own."""
    with tempfile.NamedTemporaryFile("r", suffix=".json") as result:
        proc = procs.start(
            [sys.executable, "-m", "qemu.test", "--side", "A", "--only", name,
             "--outcome", result.name, *(["--debug"] if plan.debug else [])],
            cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True)
        errors = proc.communicate()[1]
        text = result.read()
    if not text:
        raise NoOutcome(f"{name}: exit status {proc.returncode}:\n{errors}")
    fields = json.loads(text)
    return Outcome(**fields | {"verdict": Verdict(fields["verdict"])})


def _behaviour(plan: Plan) -> None:
    names = [t.name for t in testfile.load_all() if plan.wants(t.name)]
    with Step("record side A", total=RUNS * len(names), unit="runs") as step:
        for name in names:
            outcomes = []
            for _ in range(RUNS):
                outcomes.append(_in_process(name, plan))
                step.add(1, name)
            outcome = worst(outcomes)
            if outcome.lacking:
                print(f"{name}: not recorded, {outcome.cause}", flush=True)
                continue
            expect.write(outcome)
            print(f"{name}: {outcome.record()}", flush=True)


def _suite(name: str, plan: Plan) -> None:
    cases: dict[str, list[Outcome]] = {}
    with Step(f"record side A of {name}", unit="runs") as step:
        for _ in range(RUNS):
            for outcome in SUITES[name](plan):
                cases.setdefault(outcome.name, []).append(outcome)
                step.add()
    expect.write_suite(name, [worst(outcomes) for outcomes in cases.values()])


def record(plan: Plan, suites: list[str]) -> int:
    """Record the named suites on side A; those without a side A are left.

    A selection of cases leaves the suites that are recorded as a whole.
    """
    plan = dataclasses.replace(plan, side="A")
    if "behaviour" in suites:
        _behaviour(plan)
    for name in SUITES:
        if name in suites and not plan.only:
            _suite(name, plan)
    return 0
