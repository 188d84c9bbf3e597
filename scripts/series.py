# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The series: patches/*.patch, then patches/NN-topic/*.patch, in order.

Here they are listed, checked and applied to the few directories of the base
that they may touch; tree.py lays out a whole tree for developers.
"""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from scripts import cache, git
from scripts.base import Base
from scripts.errors import LabError
from scripts.paths import PATCHES, RXE

COVER = "0000-cover-letter.patch"
UAPI = "include/uapi/rdma/rdma_user_rxe.h"
SELFTESTS = "tools/testing/selftests/rdma"
# All that a patch may touch; the driver builds from these and the base.
TOUCHED = (RXE, SELFTESTS, UAPI)


class SeriesError(LabError):
    """A patch is not acceptable or does not apply; names it."""


def patches(top: Path = PATCHES) -> list[Path]:
    """All patches in the order in which they apply."""
    topics = sorted(path for path in top.glob("[0-9]*") if path.is_dir())
    return [patch for where in (top, *topics)
            for patch in sorted(where.glob("*.patch"))
            if patch.name != COVER]


def name(patch: Path) -> str:
    """How messages call a patch: its path below patches/."""
    if patch.is_relative_to(PATCHES):
        return str(patch.relative_to(PATCHES))
    return patch.name


def outside(text: str) -> list[str]:
    """The files that a patch touches and may not."""
    found = []
    for old, new in re.findall(r"^diff --git a/(\S+) b/(\S+)$", text, re.M):
        found += [path for path in {old, new}
                  if path != UAPI
                  and not path.startswith((RXE + "/", SELFTESTS + "/"))]
    return sorted(set(found))


def check(patch: Path) -> None:
    """Raise SeriesError when a patch goes outside its directories."""
    wrong = outside(patch.read_text(errors="surrogateescape"))
    if wrong:
        raise SeriesError(f"{name(patch)} touches {', '.join(wrong)}; the "
                          f"series may only touch {', '.join(TOUCHED)}")


def copy_touched(source: Path, into: Path) -> None:
    """Copy the files that the series may touch out of a kernel tree."""
    for path in TOUCHED:
        target = into / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if (source / path).is_dir():
            shutil.copytree(source / path, target)
        elif (source / path).exists():
            shutil.copy2(source / path, target)


def _key(base: Base, which: Sequence[Path]) -> str:
    return cache.key(base.key, *(patch.read_bytes() for patch in which))


def _apply(base: Base, which: Sequence[Path], into: Path) -> None:
    """Fill `into` with the touched files after `git am` of these patches."""
    # Who goes through the series patch by patch need not start anew each time.
    before = cache.find("series", _key(base, which[:-1])) if which else None
    copy_touched(before or base.dir, into)
    git.run(into, "init", "-q", "-b", "series")
    git.run(into, "add", "-A", "-f")
    git.run(into, "commit", "-q", "-m", f"Linux {base.version}")
    for patch in which[-1:] if before else which:
        check(patch)
        done = git.attempt(into, "am", "-q", "--keep-cr", str(patch))
        if done.returncode:
            raise SeriesError(f"{name(patch)} does not apply:\n"
                              f"{done.stdout}{done.stderr}".rstrip())
    shutil.rmtree(into / ".git")


def applied(base: Base, which: Sequence[Path]) -> Path:
    """The touched files of the base with these patches applied, cached.

    With no patches it is the pristine base, by the same procedure. Raises
    SeriesError naming the first patch that does not apply.
    """
    what = f"{len(which)} patches" if which else "no patches"
    return cache.get("series", _key(base, which),
                     lambda into: _apply(base, which, into),
                     f"base with {what} applied")


def side(base: Base, which: str) -> Path:
    """The touched files of side "A" (the base) or "B" (with the series)."""
    if which not in ("A", "B"):
        raise ValueError(f"side is {which!r}, not A or B")
    return applied(base, patches() if which == "B" else [])
