# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""make bench: measure, print the tables, write build/report/.

Exit status: 0 all measured; 1 something failed (the table says what).
"""

import argparse
import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench import facts, idle, matrix, modes, page, plots, report, table
from bench.ab import Bench, Samples, units
from bench.matrix import Plan
from scripts.errors import LabError, run_main
from scripts.paths import BUILD
from scripts.progress import Step

OUT = BUILD / "report"


def arguments(argv: list[str]) -> argparse.Namespace:
    """The options, which the environment may give as well."""
    parser = argparse.ArgumentParser(prog="bench", description=(
        "Compare the base's rdma_rxe (A) with the series' (B); METHOD.md says "
        "how. Each option can be given as a variable too: MATRIX=full ..."))
    env = os.environ
    parser.add_argument("--matrix", choices=matrix.SETS,
                        default=env.get("MATRIX") or "quick",
                        help="which set of matrix.toml")
    parser.add_argument("--modes", default=env.get("MODES", ""),
                        help=f"only these of: {' '.join(matrix.MODES)}")
    parser.add_argument("--cells", default=env.get("CELLS", ""),
                        help='only runs with all these words of their name, '
                        'alternatives after a comma: "write bw 64B, lat"')
    parser.add_argument("--reps", type=int, default=env.get("REPS") or 0,
                        help="repetitions of A and B instead of the set's")
    found = parser.parse_args(argv)
    # argparse does not look at defaults that are texts.
    if found.matrix not in matrix.SETS:
        parser.error(f"MATRIX={found.matrix}: one of {matrix.SETS}")
    return found


def shards(plan: Plan, cores: int) -> list[Plan]:
    """Parts of a plan that may run side by side.

    Virtual time does not see what else the machine does, so instruction mode
    uses a guest per core; wall clock would notice.
    """
    if plan.mode != "insn" or len(plan.runs) < 2:
        return [plan]
    count = min(cores, 2, len(plan.runs))
    return [Plan(plan.mode, plan.reps, plan.ref_reps, plan.runs[i::count])
            for i in range(count)]


class ModeResult:
    """What a mode yielded: samples in the plan's order, facts, faults."""

    def __init__(self, plan: Plan, benches: list[Bench]):
        by_name = {name: samples for bench in benches
                   for name, samples in bench.samples.items()}
        self.samples: list[Samples] = [by_name[run.name] for run in plan.runs]
        self.facts = next((b.facts for b in benches if b.facts), {})
        self.faults = [b.fault for b in benches if b.fault]


class Announcer:
    """Shows what is measured next and how far that is, for all parts."""

    def __init__(self, step: Step, parts: int):
        # A measurement that was announced is not done yet.
        self._done = -parts
        self._step = step
        self._lock = threading.Lock()
        self._stopped = False

    def stop(self) -> None:
        """Let the parts end at their next measurement."""
        self._stopped = True

    def __call__(self, what: str) -> None:
        if self._stopped:
            raise LabError("stopped, because another part was")
        with self._lock:
            self._done += 1
            self._step.at(max(0, self._done), what)


def measure(plan: Plan) -> ModeResult:
    """Run a mode, with progress; its failures are in the result."""
    boot = modes.opener(plan.mode)
    parts = shards(plan, len(os.sched_getaffinity(0)))
    total = sum(units(part) for part in parts)
    with Step(f"bench {plan.mode}", f"bench-{plan.mode}-{total}", total,
              "measurements") as step:
        say = Announcer(step, len(parts))
        benches = [Bench(part, boot, say) for part in parts]
        with ThreadPoolExecutor() as pool:
            others = [pool.submit(bench.measure) for bench in benches[1:]]
            try:
                benches[0].measure()
                for other in others:
                    other.result()
            except BaseException:
                say.stop()
                raise
        step.at(total)
    return ModeResult(plan, benches)


def publish(env: dict, made: list[dict], out: Path) -> dict:
    """Write the report's files into a directory; returns the report."""
    whole = report.write(out / "report.json", env, made)
    drawn = plots.figures(whole)
    if "gain" in drawn:
        plots.png(drawn["gain"], out / "gain.png")
    svgs = {name: plots.svg(figure, name) for name, figure in drawn.items()}
    (out / "report.html").write_text(page.page(whole, svgs))
    return whole


def _terminate(number: int, _frame) -> None:
    """End by unwinding, so that guests are closed; from any thread's start."""
    raise SystemExit(128 + number)


def main(argv: list[str] | None = None) -> int:
    asked = arguments(sys.argv[1:] if argv is None else argv)
    plans = matrix.choose(matrix.load(asked.matrix), asked.modes, asked.cells,
                          asked.reps or None)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _terminate)
    for mode in plans:
        modes.kernel_of(mode)       # what must be built is built first
    taken: list[Samples] = []
    known: dict[str, dict] = {}
    faults: list[str] = []
    for mode, plan in plans.items():
        with idle.awake() as state:
            result = measure(plan)
        taken += result.samples
        known[mode] = {**result.facts, "host_idle": state}
        faults += [f"{mode}: {fault}" for fault in result.faults]
        # After each mode, so that an interruption costs one mode alone.
        whole = publish(facts.env(known, asked.matrix), report.cells(taken), OUT)
        print(table.mode_table(whole, mode), flush=True)
    print(table.closing(whole))
    for fault in faults:
        print(f"FAILED: {fault}", file=sys.stderr)
    print("build/report: report.html, report.json, gain.png")
    return 1 if faults or any(map(report.failed, whole["cells"])) else 0


if __name__ == "__main__":
    run_main("bench", main)
