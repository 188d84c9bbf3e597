# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""`make deps`: the Debian packages that everything else needs.

Root gets them installed; everybody else gets the one line to run.
"""

import os
import subprocess
import sys
from pathlib import Path

from scripts.errors import LabError, run_main
from scripts.paths import ROOT

LISTS = (ROOT / "scripts/deps.list", ROOT / "qemu/guest/packages")


class DepsError(LabError):
    """Packages are missing and were not installed."""


def listed(text: str) -> list[str]:
    """The package names of a list: one per line, # starts a comment."""
    names = (line.partition("#")[0].strip() for line in text.splitlines())
    return [name for name in names if name]


def wanted(lists: tuple[Path, ...] = LISTS) -> list[str]:
    """Every package that the commands need, sorted."""
    return sorted({name for path in lists for name in
                   listed(path.read_text())})


def missing(names: list[str]) -> list[str]:
    """Those that are not installed."""
    try:
        done = subprocess.run(
            ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Package}\n",
             *names], capture_output=True, text=True)
    except FileNotFoundError as error:
        raise DepsError("there is no dpkg-query: this needs a Debian machine "
                        "(12 or newer)") from error
    there = {line.split()[1] for line in done.stdout.splitlines()
             if line.startswith("installed ")}
    return [name for name in names if name not in there]


def install(names: list[str]) -> None:
    """Install packages as root; raises DepsError with what apt-get left."""
    print(f"installing {len(names)} packages: {' '.join(names)}",
          file=sys.stderr, flush=True)
    env = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", "install", "-y", "-q", "--no-install-recommends",
               *names]
    # Lists that are old or absent are the usual reason for a failure.
    for attempt in (["apt-get", "-q", "update"], command):
        done = subprocess.run(attempt, env=env, stdout=sys.stderr)
        if done.returncode and attempt is command:
            raise DepsError(f"`{' '.join(command)}` failed (above it says "
                            "why); mend that and run `make deps` again")
    left = missing(names)
    if left:
        raise DepsError(f"still not installed: {' '.join(left)}")


def main() -> int:
    """Install what is missing, or say how."""
    names = missing(wanted())
    if not names:
        return 0
    if os.geteuid() != 0:
        raise DepsError("packages are missing; run this, then try again:\n"
                        "    sudo apt-get install --no-install-recommends "
                        + " ".join(names))
    install(names)
    return 0


if __name__ == "__main__":
    run_main("deps", main)
