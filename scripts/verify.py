# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""`make verify`: every patch of the series, in turn, on the pristine base.

For each patch the tree up to it is built in all ways, checked, loaded into
two VMs and used by one rping. A prefix that passed is remembered by its hash;
the first patch that fails ends the run.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts import cache, checks, series
from scripts.base import Base, base, file_sums
from scripts.checks import Allowed, CheckFailed, Target
from scripts.errors import LabError, run_main
from scripts.kernel import Kernel, kernel
from scripts.paths import ROOT, RXE
from scripts.progress import Step

BOOT = 16           # prefixes that one boot tries; more would fill its disk
RPING_PORT = 7174


class VerifyError(LabError):
    """The series does not pass; names the patch and the reason."""


@dataclass(frozen=True)
class Prefix:
    """The series up to and with one patch.

    last: that patch; key: names what it was checked with and against.
    """

    last: Path
    patches: Sequence[Path]
    key: str

    @property
    def name(self) -> str:
        """How messages call it: by its last patch."""
        return series.name(self.last)


def prefixes(base_key: str, which: Sequence[Path], *rules: str,
             accepted: Sequence[Allowed] = ()) -> list[Prefix]:
    """Every prefix of the series with its key.

    rules: whatever else decides whether a prefix passes; accepted: what
    checkpatch may find, which counts from the first patch that it is for.
    """
    found = []
    key = cache.key(base_key, *rules)
    for number, patch in enumerate(which, 1):
        key = cache.key(key, patch.name, patch.read_bytes(),
                        *(line.kind for line in accepted
                          if line.covers(patch)))
        found.append(Prefix(patch, which[:number], key))
    return found


def _rules(targets: list[Target]) -> list[str]:
    """What decides beside base, patches and exceptions: targets, the code."""
    code = [Path(__file__).read_text(), Path(checks.__file__).read_text()]
    return [*(target.key for target in targets), *code]


def passed(kind: str, prefix: Prefix) -> bool:
    """Whether the cache remembers that a prefix passed this kind of check."""
    return cache.find("verified", f"{kind}-{prefix.key}") is not None


def remember(kind: str, prefix: Prefix) -> None:
    """Make passed() true of a prefix."""
    cache.get("verified", f"{kind}-{prefix.key}", lambda into: None,
              f"verdict on {prefix.name}")


def check_added(tree: Path, pristine: Path, here: Path) -> None:
    """Compare the files that the series adds with this repository's copies."""
    old = file_sums(pristine / RXE)
    want = {name: value for name, value in file_sums(tree / RXE).items()
            if name not in old}
    have = file_sums(here) if here.is_dir() else {}
    wrong = ([f"{RXE}/{name} differs from the series'" for name in want
              if name in have and have[name] != want[name]]
             + [f"{RXE}/{name} is missing" for name in want
                if name not in have]
             + [f"{RXE}/{name} is not added by the series" for name in have
                if name not in want])
    if wrong:
        raise VerifyError("patches/ and the copies of added files disagree; "
                          "carry the difference over to build/linux and run "
                          "`make export`:\n"
                          + "\n".join(f"    {line}" for line in sorted(wrong)))


def check_static(source: Base, prefix: Prefix, targets: list[Target]) -> None:
    """Apply, build in all ways and run checkpatch; CheckFailed if not good."""
    tree = series.applied(source, prefix.patches)
    accepted = checks.allowed(checks.ALLOW.read_text())
    checks.check_style(source, prefix.last, accepted)
    checks.check_builds(source, tree, targets)


def static(source: Base, todo: list[Prefix], targets: list[Target]) -> None:
    """Check every prefix without running it; VerifyError at the first bad."""
    with Step("build and check each patch", key="verify-static",
              total=len(todo), unit="patches") as step:
        for prefix in todo:
            step.at(step.done, prefix.name)
            if not passed("static", prefix):
                try:
                    check_static(source, prefix, targets)
                except (CheckFailed, series.SeriesError) as error:
                    raise VerifyError(f"{prefix.name}: {error}") from error
                remember("static", prefix)
            step.add()


def _try_module(lab, module: str) -> None:
    """Load one module on both hosts, run one rping, remove it again."""
    from qemu import peers
    lab.unload()
    for machine in lab.machines:
        # The modules that it depends on stay when a side is unloaded.
        machine.run(f"side load A && side unload && insmod {module}",
                    timeout=60, check=True)
    for host in (lab.a, lab.b):
        host.link("rxe")
    address = lab.b.ip4
    peers.exchange("rping", lab.b,
                   f"rping -s -a {address} -p {RPING_PORT} -C 3 -V",
                   lab.a, f"rping -c -a {address} -p {RPING_PORT} -C 3 -V",
                   cm_port=RPING_PORT)
    lab.unload()
    splats = lab.splats()
    if splats:
        raise CheckFailed("the kernel complained:\n" + "\n".join(splats))


def _boot(perf: Kernel, modules: dict[str, Path], todo: list[Prefix],
          step: Step) -> None:
    """Try several prefixes in one boot; VerifyError at the first bad."""
    from qemu import lab, payload
    disk = payload.payload(perf, modules)
    with lab.pair(perf, payload=disk) as running:
        for prefix, path in zip(todo, modules):
            step.at(step.done, prefix.name)
            try:
                _try_module(running, f"/payload/{path}")
            except (LabError, AssertionError) as error:
                raise VerifyError(f"{prefix.name}: loaded into two VMs, with "
                                  f"one rping: {error}") from error
            remember("run", prefix)
            step.add()


def run(source: Base, todo: list[Prefix], target: Target) -> None:
    """Load and use the module of every prefix that was not yet tried."""
    todo = [prefix for prefix in todo if not passed("run", prefix)]
    if not todo:
        return
    perf = kernel("perf")
    with Step("load each patch's module, one rping", key="verify-run",
              total=len(todo), unit="patches") as step:
        for first in range(0, len(todo), BOOT):
            some = todo[first:first + BOOT]
            modules = {
                f"verify/{number}/rdma_rxe.ko": checks.compiled(
                    target, series.applied(source, prefix.patches))[0]
                for number, prefix in enumerate(some)}
            _boot(perf, modules, some, step)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"not a number above 0: {text}")
    return int(text)


def last_of(argv: list[str]) -> int | None:
    """How many of the patches are wanted, from the end; None: all."""
    parser = argparse.ArgumentParser(
        prog="make verify", description="Build, check and try every patch "
        "of the series in turn; those that have passed are not tried again.")
    parser.add_argument("--last", type=_count, metavar="N",
                        help="only the last N patches, say because those "
                        "before them have passed on another machine")
    return parser.parse_args(argv).last


def main(argv: list[str]) -> int:
    """Verify the series, or its last patches."""
    last = last_of(argv)
    source = base()
    which = series.patches()
    pristine = series.applied(source, [])
    if not which:
        check_added(pristine, pristine, ROOT / RXE)
        print("verify: there are no patches")
        return 0
    targets = checks.targets(source)
    every = prefixes(source.key, which, *_rules(targets),
                     accepted=checks.allowed(checks.ALLOW.read_text()))
    todo = every[-last:] if last else every
    static(source, todo, targets)
    check_added(series.applied(source, which), pristine, ROOT / RXE)
    run(source, todo, targets[0])
    print(f"verify: {'the last' if last else 'all'} {len(todo)} patches pass "
          f"on Linux {source.version}")
    return 0


if __name__ == "__main__":
    run_main("verify", lambda: main(sys.argv[1:]))
