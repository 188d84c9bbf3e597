# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""`make clean` and `make distclean`. They ask nothing and say what goes."""

import shutil
import sys
from pathlib import Path

from scripts import tree
from scripts.errors import LabError, run_main
from scripts.paths import BUILD, cache_dir


def _remove(path: Path, what: str) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
    print(f"removed {what}", flush=True)


def clean(build: Path) -> None:
    """Remove everything built in this clone, except the developer's tree."""
    for path in sorted(build.iterdir()) if build.is_dir() else []:
        if path.name != tree.TREE.name:
            _remove(path, f"build/{path.name}")


def distclean(build: Path) -> None:
    """Remove build/ and the cache; refuses to lose commits or changes."""
    here = build / tree.TREE.name
    if (here / ".git").exists():
        try:
            tree.require_settled(here)
            tree.require_exported(here)
        except LabError as error:
            raise LabError(f"build/linux holds work that would be lost: "
                           f"{error}; or remove build/linux yourself"
                           ) from error
    for path in (build, cache_dir()):
        if path.exists():
            _remove(path, "build/" if path == build else
                    f"{path} (kernels, modules, images, sources, lists)")


def main() -> int:
    """Run the one that is named."""
    commands = {"clean": clean, "distclean": distclean}
    if sys.argv[1:] not in [[name] for name in commands]:
        raise LabError("say clean or distclean")
    commands[sys.argv[1]](BUILD)
    return 0


if __name__ == "__main__":
    run_main("clean", main)
