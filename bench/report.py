# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The report's data: cells made of samples, in the schema of version 1.

A cell:
    mode, verb, kind, size, qps, mtu, unit, better,
    variants: {name: {samples, median, min, max} or {error}},
    gain, gain_min, gain_max, verdict   (null when A or B failed)
and, only where they apply:
    post_list: work requests per post; depth: of the send queue;
    events: true when both ends sleep instead of polling;
    family: of the addresses, where it is not 4;
    qdisc: of the data's sender, by its name in the matrix;
    cpu: guest CPU time per message, {"all": cell-like, "kernel": cell-like}.
gain > 1 always means that B is better.
"""

import json
from pathlib import Path

from bench import stats
from bench.ab import Samples, variants
from bench.facts import without_paths
from bench.matrix import DEPTH, KINDS, Run

SCHEMA = 1
FAILED = "failed"


def compare(samples: Samples, kind: str, better: str) -> dict:
    """Variants of one kind with gain and verdict."""
    out: dict = {"variants": {}}
    for name in variants(samples.run):
        if name in samples.errors:
            out["variants"][name] = {
                "error": without_paths(samples.errors[name])}
            continue
        taken = samples.values.get(name, {}).get(kind, {})
        if taken:
            out["variants"][name] = stats.summarise(
                [taken[rep] for rep in sorted(taken)]).as_json()
    for name in ("A", "B"):
        out["variants"].setdefault(name, {"error": "no sample was taken"})
    return out | _gain(samples, kind, better, out["variants"])


def _gain(samples: Samples, kind: str, better: str, found: dict) -> dict:
    if "error" in found["A"] or "error" in found["B"]:
        return {"gain": None, "gain_min": None, "gain_max": None,
                "verdict": FAILED}
    a, b = (samples.values[name][kind] for name in ("A", "B"))
    both = sorted(set(a) & set(b))
    gain = stats.gain_of([a[rep] for rep in both], [b[rep] for rep in both],
                         better)
    return {"gain": gain.median, "gain_min": gain.min, "gain_max": gain.max,
            "verdict": stats.judge(gain)}


def options(run: Run) -> dict:
    """What makes a run special, for its cells."""
    found = {}
    if run.post_list > 1:
        found["post_list"] = run.post_list
    if run.depth != DEPTH:
        found["depth"] = run.depth
    if run.events:
        found["events"] = True
    if run.family != 4:
        found["family"] = run.family
    if run.qdisc:
        found["qdisc"] = run.qdisc
    return found


def cells(taken: list[Samples]) -> list[dict]:
    """The report's cells, in the order of the runs and their kinds."""
    out = []
    for samples in taken:
        run = samples.run
        for kind in run.kinds:
            unit, better = KINDS[kind]
            cell = {"mode": run.mode, "verb": run.verb, "kind": kind,
                    "size": run.size, "qps": run.qps, "mtu": run.mtu,
                    "unit": unit, "better": better,
                    **compare(samples, kind, better)}
            cell |= options(run)
            if kind == run.kinds[0] and _has_cpu(samples):
                cell["cpu"] = _cpu(samples)
            out.append(cell)
    return out


def _has_cpu(samples: Samples) -> bool:
    return all("cpu" in samples.values.get(name, {})
               and name not in samples.errors for name in ("A", "B"))


def _cpu(samples: Samples) -> dict:
    return {name: {"unit": "us/msg", "better": "lower",
                   **compare(samples, kind, "lower")}
            for name, kind in (("all", "cpu"), ("kernel", "cpu_kernel"))}


def failed(cell: dict) -> list[str]:
    """The variants of a cell that failed."""
    return [name for name, found in cell["variants"].items()
            if "error" in found]


def write(path: Path, env: dict, made: list[dict]) -> dict:
    """Write report.json, whole or not at all; returns what it holds."""
    report = {"schema": SCHEMA, "env": env, "cells": made}
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_suffix(".part")
    aside.write_text(json.dumps(report, indent=1, allow_nan=False) + "\n")
    aside.replace(path)
    return report
