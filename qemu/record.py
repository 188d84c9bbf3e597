# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Records what side A does in each test: --record-a.

Every behaviour test runs in a process and in guests of its own, so that no
test sees what another one left behind, however it ended.
"""

import dataclasses
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from qemu import expect, testfile
from qemu.plan import Plan
from qemu.runner import Runner
from qemu.suites import pyverbs, selftests
from qemu.verdict import Outcome, Verdict
from scripts.paths import ROOT
from scripts.progress import Step

SUITES = {"selftests": selftests.run, "pyverbs": pyverbs.run}


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
        done = subprocess.run(
            [sys.executable, "-m", "qemu.test", "--side", "A", "--only", name,
             "--outcome", result.name, *(["--debug"] if plan.debug else [])],
            cwd=ROOT, capture_output=True, text=True)
        text = result.read()
    if not text:
        raise RuntimeError(f"{name}: the process ended without an outcome "
                           f"({done.returncode}):\n{done.stderr}")
    fields = json.loads(text)
    return Outcome(**fields | {"verdict": Verdict(fields["verdict"])})


def _behaviour(plan: Plan) -> None:
    names = [t.name for t in testfile.load_all() if plan.wants(t.name)]
    with Step("record side A", total=len(names), unit="tests") as step:
        for name in names:
            outcome = _in_process(name, plan)
            if outcome.lacking:
                print(f"{name}: not recorded, {outcome.cause}", flush=True)
                continue
            expect.write(outcome)
            print(f"{name}: {outcome.record()}", flush=True)
            step.add(1, name)


def record(plan: Plan, suites: list[str]) -> int:
    """Record the named suites on side A; those without a side A are left."""
    plan = dataclasses.replace(plan, side="A")
    if "behaviour" in suites:
        _behaviour(plan)
    for name, run in SUITES.items():
        if name not in suites or plan.only:
            continue
        with Step(f"record side A of {name}", unit="tests") as step:
            outcomes = []
            for outcome in run(plan):
                outcomes.append(outcome)
                step.add()
        expect.write_suite(name, outcomes)
    return 0
