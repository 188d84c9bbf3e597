# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Running the kernel's own make: same environment, log and progress always."""

import functools
import os
import re
import subprocess
from pathlib import Path

from scripts import cache
from scripts.base import clean_env
from scripts.errors import LabError
from scripts.paths import cache_dir
from scripts.progress import Step

# What kbuild prints for each file that it makes: "  CC [M]  net/ipv4/udp.o".
FILE_MADE = re.compile(r"^  [A-Z]")

# Fixed, so that a kernel built twice is the same byte for byte.
STAMPS = ["KBUILD_BUILD_TIMESTAMP=Thu Jan  1 00:00:00 UTC 2026",
          "KBUILD_BUILD_USER=rxe", "KBUILD_BUILD_HOST=lab",
          "KBUILD_BUILD_VERSION=1", "LOCALVERSION="]


class BuildError(LabError):
    """A kernel make failed; carries the end of its log and where it is."""


@functools.cache
def toolchain() -> str:
    """What compiles and links, one line each; part of every build's key."""
    lines = []
    for tool in ("gcc", "ld"):
        try:
            done = subprocess.run([tool, "--version"], capture_output=True,
                                  text=True, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise BuildError(f"{tool} does not run ({error}); "
                             "run `make deps`") from error
        lines.append(done.stdout.splitlines()[0])
    return "\n".join(lines)


def jobs() -> int:
    """How many compilers to run at a time: one per usable CPU."""
    return len(os.sched_getaffinity(0))


def log_path(name: str) -> Path:
    """Where the log of the build called `name` is kept, also when it fails."""
    path = cache_dir() / "logs" / f"{name}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def run(args: list[str], name: str, step: Step | None = None) -> str:
    """Run `make -jN <args>`, log it under `name`, and return its output.

    With a step, each file that is made counts as one unit of it. Raises
    BuildError with the log's end when make fails.
    """
    log = log_path(name)
    lines = []
    # A make that outlived us would go on writing into an entry of the cache
    # which the next run believes to be its own.
    command = ["setpriv", "--pdeathsig", "TERM", "make", f"-j{jobs()}",
               *STAMPS, *args]
    with log.open("w") as out, subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace", env=clean_env()) as make:
        for line in make.stdout:
            out.write(line)
            lines.append(line)
            if step and FILE_MADE.match(line):
                step.add()
    if make.returncode:
        raise BuildError(f"{name}: make {' '.join(args)} failed; the log is "
                         f"{log} and ends:\n{tail(lines)}")
    return "".join(lines)


def tail(lines: list[str], most: int = 30) -> str:
    """The last lines of a log, those that say "error" first."""
    errors = [line for line in lines[:-most] if "error" in line.lower()]
    return "".join(errors[-10:] + lines[-most:]).rstrip()


def key(*parts: str) -> str:
    """A cache key that also depends on the tools that build."""
    return cache.key(toolchain(), *STAMPS, *parts)
