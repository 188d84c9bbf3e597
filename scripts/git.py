# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Git with a fixed identity and without the user's configuration."""

import os
import subprocess
from pathlib import Path

from scripts.errors import LabError

AUTHOR = "rxe series"
EMAIL = "rxe-series@localhost"
# All dates that the project writes; 2026-01-01 in seconds since 1970, UTC.
EPOCH = 1767225600


class GitError(LabError):
    """A git command failed; carries its words."""


def env() -> dict[str, str]:
    """The environment in which git gives the same result everywhere."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    return clean | {
        "LC_ALL": "C", "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_TERMINAL_PROMPT": "0",
        "GIT_AUTHOR_NAME": AUTHOR, "GIT_AUTHOR_EMAIL": EMAIL,
        "GIT_AUTHOR_DATE": f"{EPOCH} +0000", "GIT_COMMITTER_NAME": AUTHOR,
        "GIT_COMMITTER_EMAIL": EMAIL, "GIT_COMMITTER_DATE": f"{EPOCH} +0000"}


def attempt(where: Path, *args: str) -> subprocess.CompletedProcess:
    """Run git in `where`; the caller looks at the status."""
    return subprocess.run(["git", "-C", str(where), *args], env=env(),
                          capture_output=True, text=True,
                          errors="surrogateescape")


def run(where: Path, *args: str) -> str:
    """Run git in `where` and return its output; raises GitError."""
    done = attempt(where, *args)
    if done.returncode:
        raise GitError(f"git {' '.join(args)} failed in {where}:\n"
                       f"{done.stdout}{done.stderr}".rstrip())
    return done.stdout


def show(where: Path, revision: str, path: str) -> bytes | None:
    """The bytes of a file in a revision, None when it is not there."""
    done = subprocess.run(["git", "-C", str(where), "show",
                           f"{revision}:{path}"], env=env(),
                          capture_output=True)
    return done.stdout if done.returncode == 0 else None
