# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What a patch must pass without running: builds, sparse, checkpatch.

A message of the compiler or of sparse counts when the pristine base, built
the same way, does not have it; line numbers are no part of a message.
"""

import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from scripts import cache, config, kmake, module, series
from scripts.base import Base, clean_env
from scripts.errors import LabError
from scripts.kernel import Kernel, kernel
from scripts.paths import PATCHES, RXE, cache_dir
from scripts.progress import Step

ALLOW = PATCHES / "CHECKPATCH.allow"
# Debian 12's sparse knows neither C23's typeof_unqual nor a static assertion
# on a builtin, and says no more about a file after the first error in it; to
# make that is a sparse which is too old, and it goes on without.
SPARSE = ("C=2", "CHECK=sparse -D__typeof_unqual__=__typeof__ "
                 "'-D_Static_assert(a...)='")
MESSAGE = re.compile(r"^([\w./-]+):\d+(?::\d+)?: ((?:warning|error): .*)$")
# Errors against a kernel; without one, no symbol is known.
UNRESOLVED = re.compile(r"undefined!$|unresolved symbol warnings")


class CheckFailed(LabError):
    """A patch does not pass a check; says which and shows its words."""


@dataclass(frozen=True)
class Target:
    """One way in which every patch is built.

    name: what is on and off; kbuild, arch: to build against; key: names that
    in the cache; args: make's; suites: build the KUnit suites as well.
    """

    name: str
    kbuild: Path
    arch: str
    key: str
    args: tuple[str, ...]
    suites: bool = False


def _prepare(base: Base, arch: str, text: str, into: Path) -> None:
    """Make into/build fit to build modules against, without a kernel."""
    kbuild = into / "build"
    kbuild.mkdir()
    (kbuild / ".config").write_text(text)
    with Step("prepare the configuration without IPv6", key="prepare"):
        kmake.run(["-C", str(base.dir), f"O={kbuild}", f"ARCH={arch}",
                   "modules_prepare"], "prepare")


def _without_ipv6(base: Base) -> Target:
    what = config.variant("perf")
    text = config.merged(base, what, {"CONFIG_IPV6": "n",
                                      "CONFIG_IPV6_MULTIPLE_TABLES": "n"})
    key = kmake.key(base.key, text)
    entry = cache.get_in_place(
        "prepared", key, lambda into: _prepare(base, what.arch, text, into),
        "configuration without IPv6")
    # There is no kernel, so no symbol is known: the module only has to link.
    return Target("IPv6 off, ODP on", entry / "build", what.arch, key,
                  ("W=1", "KBUILD_MODPOST_WARN=1"))


def _of_kernel(name: str, built: Kernel, *args: str,
               suites: bool = False) -> Target:
    return Target(name, built.kbuild, built.arch, built.key, args, suites)


def targets(base: Base) -> list[Target]:
    """All ways to build; User-mode Linux stands for a kernel without ODP."""
    return [_of_kernel("IPv6 on, ODP on", kernel("perf"), "W=1", *SPARSE),
            _without_ipv6(base),
            _of_kernel("IPv6 on, ODP off", kernel("uml"), "W=1", suites=True)]


def messages(output: str) -> Counter[str]:
    """Warnings and errors in make's output, without line numbers."""
    found: Counter[str] = Counter()
    for line in output.splitlines():
        match = MESSAGE.match(line)
        if match:
            found[f"{match[1]}: {match[2]}"] += 1
        elif line.startswith("WARNING: ") and not UNRESOLVED.search(line):
            found[line] += 1
    return found


def unchecked(output: str) -> list[str]:
    """The files that make compiled and sparse did not look at."""
    made = set(re.findall(r"^  CC \[M\]  (\S+)\.o$", output, re.M))
    seen = set(re.findall(r"^  CHECK   (\S+)\.c$", output, re.M))
    # kbuild's own files are none of ours.
    return sorted(name for name in made - seen
                  if not name.endswith((".mod", ".module-common")))


def _remember_objects(into: Path) -> list[str]:
    """make's variables to compile what the last patch has not changed no more.

    into: where the tree is, which makes no difference; see ccache(1).
    """
    return ["CC=ccache gcc", f"CCACHE_DIR={cache_dir() / 'ccache'}",
            f"CCACHE_BASEDIR={into}", "CCACHE_NOHASHDIR=1",
            "CCACHE_MAXSIZE=1G"]


def compiled(target: Target, tree: Path) -> tuple[Path, Counter[str]]:
    """(module, messages) of a tree built for a target; cached."""
    suites = (target.suites and module.KUNIT.removeprefix("CONFIG_")
              in (tree / RXE / "Kconfig").read_text())
    source = (target.kbuild / "source").resolve()
    args = [f"ARCH={target.arch}", *target.args]

    def make(into: Path) -> None:
        output = module.compile_in(target.kbuild, tree, into, "verify",
                                   [*args, *module.flags(source, suites),
                                    *_remember_objects(into)])
        left = unchecked(output) if SPARSE[0] in args else []
        if left:
            raise kmake.BuildError("sparse did not look at "
                                   f"{', '.join(left)}: does it run?")
        (into / "output").write_text(output)

    entry = cache.get("verify-build",
                      cache.key(target.key, module.tree_key(tree), *args,
                                *module.flags(Path("SOURCE"), suites)),
                      make, f"build with {target.name}")
    return entry / "rdma_rxe.ko", messages((entry / "output").read_text())


def check_builds(base: Base, tree: Path, all_targets: list[Target]) -> None:
    """Build a tree in every way; CheckFailed when that says anything new."""
    pristine = series.applied(base, [])
    for target in all_targets:
        try:
            _, found = compiled(target, tree)
        except kmake.BuildError as error:
            raise CheckFailed(f"does not build with {target.name}: {error}"
                              ) from error
        new = found - compiled(target, pristine)[1]
        if new:
            raise CheckFailed(
                f"new messages of the compiler or sparse ({target.name}, "
                f"{' '.join(target.args[:2])}):\n"
                + "\n".join(f"    {line}" for line in sorted(new)))


@dataclass(frozen=True)
class Allowed:
    """One line of CHECKPATCH.allow."""

    kind: str
    where: str
    reason: str

    def covers(self, patch: Path) -> bool:
        """Whether it is one of a patch."""
        return fnmatch(patch.name, self.where)


def allowed(text: str) -> list[Allowed]:
    """The findings that are accepted; each must have a reason."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split(None, 2)
        if len(words) < 3:
            raise CheckFailed(f"{ALLOW.name}:{number}: want type, glob of "
                              f"patches, reason: {line!r}")
        found.append(Allowed(*words))
    return found


def findings(output: str) -> list[tuple[str, str]]:
    """(type, text) of each line of checkpatch --terse --show-types."""
    return [(kind, f"{place} {level}: {kind}: {text}") for
            place, level, kind, text in re.findall(
                r"^.*?:(\d+): (ERROR|WARNING|CHECK):([A-Z_]+): (.*)$", output,
                re.M)]


def check_style(base: Base, patch: Path, accepted: list[Allowed]) -> None:
    """Run checkpatch.pl --strict; CheckFailed when a finding is not allowed."""
    done = subprocess.run(
        ["perl", str(base.dir / "scripts/checkpatch.pl"), "--strict",
         "--terse", "--show-types", "--no-summary", f"--root={base.dir}",
         "--color=never", str(patch)], capture_output=True, text=True,
        errors="replace", env=clean_env(), cwd=base.dir)
    found = findings(done.stdout)
    if done.returncode not in (0, 1) or (done.returncode and not found):
        raise CheckFailed(f"checkpatch.pl did not run:\n{done.stdout}"
                          f"{done.stderr}")
    rest = [text for kind, text in found
            if not any(line.kind == kind and line.covers(patch)
                       for line in accepted)]
    if rest:
        raise CheckFailed("checkpatch.pl --strict (line of the patch, "
                          "finding); mend it, or list it with a reason in "
                          f"patches/{ALLOW.name}:\n"
                          + "\n".join(f"    {line}" for line in rest))
