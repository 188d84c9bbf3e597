# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Where things are: the work tree, its build directory, the shared cache."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
CONFIGS = ROOT / "configs"
PATCHES = ROOT / "patches"

# The only directory of the kernel whose files the series edits.
RXE = "drivers/infiniband/sw/rxe"


def cache_dir() -> Path:
    """The cache that all clones share; created on first use.

    $RXE_CACHE names it, else it is rxe-lab in the XDG cache directory.
    """
    named = os.environ.get("RXE_CACHE")
    if named:
        path = Path(named).absolute()
    else:
        xdg = os.environ.get("XDG_CACHE_HOME")
        path = (Path(xdg) if xdg else Path.home() / ".cache") / "rxe-lab"
    path.mkdir(parents=True, exist_ok=True)
    return path
