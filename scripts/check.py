# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""`make check`: the project's own programs, without kernel, VM or network."""

import re
import subprocess
import sys
from pathlib import Path

from scripts.errors import LabError, run_main
from scripts.paths import ROOT

# Spelled so that this file does not find itself.
LEFT_OPEN = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b")
SHELL = re.compile(rb"#! ?/(usr/)?bin/(env )?(ba|da)?sh\b")
# Packages whose directory tests_unit holds unit tests.
PACKAGES = ("scripts", "qemu", "bench")


class CheckError(LabError):
    """A check failed or could not run."""


def files() -> list[Path]:
    """What git knows of, or would if it were added."""
    try:
        done = subprocess.run(
            ["git", "-C", str(ROOT), "ls-files", "-z", "-co",
             "--exclude-standard"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise CheckError("needs git and a clone of the repository") from error
    paths = (ROOT / name for name in done.stdout.decode().split("\0") if name)
    return [path for path in paths if path.is_file()]


def is_shell(path: Path) -> bool:
    """Whether a file is a shell script, by its name or first line."""
    with path.open("rb") as data:
        return path.suffix == ".sh" or bool(SHELL.match(data.read(40)))


def unit_tests() -> bool:
    """Run every package's unit tests; True when all pass."""
    good = True
    for package in PACKAGES:
        where = ROOT / package / "tests_unit"
        if not any(where.glob("test_*.py")):
            continue
        print(f"unit tests of {package}/", flush=True)
        done = subprocess.run([sys.executable, "-m", "unittest", "discover",
                               "-b", "-t", ".", "-s", str(where)], cwd=ROOT)
        good = good and done.returncode == 0
    return good


def shellcheck(paths: list[Path]) -> bool:
    """Run shellcheck over the shell scripts; True when it is content."""
    scripts = [str(path.relative_to(ROOT)) for path in paths
               if is_shell(path)]
    if not scripts:
        return True
    print(f"shellcheck of {len(scripts)} scripts", flush=True)
    try:
        return subprocess.run(["shellcheck", *scripts],
                              cwd=ROOT).returncode == 0
    except FileNotFoundError as error:
        raise CheckError("shellcheck is missing; run `make deps`") from error


def left_open(paths: list[Path]) -> list[str]:
    """Lines that tell of work that is not done."""
    found = []
    for path in paths:
        if path.suffix not in (".c", ".h", ".py", ".sh", ".config", ""):
            continue
        lines = path.read_text(errors="replace").splitlines()
        found += [f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
                  for number, line in enumerate(lines, 1)
                  if LEFT_OPEN.search(line)]
    return found


def main() -> int:
    """Run all checks, also after one that failed."""
    paths = files()
    good = unit_tests()
    good = shellcheck(paths) and good
    notes = left_open(paths)
    for line in notes:
        print(f"left open: {line}")
    if not good or notes:
        raise CheckError("failed, see above")
    print("check: all good")
    return 0


if __name__ == "__main__":
    run_main("check", main)
