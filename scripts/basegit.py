# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The pristine base as a one-commit git repository in the cache.

Written through `git fast-import`, which packs 90,000 files in well under a
minute where `git add` takes several. Author and date are fixed, so the commit
has the same name in every cache.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from scripts import cache, git
from scripts.base import Base
from scripts.progress import Step

BRANCH = "base"
# Debian's packaging makes git ignore every new file of the tree.
IGNORES_ALL = (b"/*\n", b"!/debian/\n")


def _files(top: Path) -> Iterator[tuple[str, str, Path]]:
    """(mode, path below top, where) of every file and link of a tree."""
    for where, dirs, files in os.walk(top):
        here = Path(where)
        dirs.sort()
        links = [name for name in dirs if (here / name).is_symlink()]
        for name in sorted(files + links):
            path = here / name
            if path.is_symlink():
                mode = "120000"
            else:
                mode = "100755" if os.access(path, os.X_OK) else "100644"
            yield mode, str(path.relative_to(top)), path


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


def content(mode: str, name: str, path: Path) -> bytes:
    """What git stores for a file or link of the tree."""
    if mode == "120000":
        return os.fsencode(os.readlink(path))
    data = path.read_bytes()
    if name == ".gitignore":
        return b"".join(line for line in data.splitlines(keepends=True)
                        if line not in IGNORES_ALL)
    return data


def _write_commit(out: BinaryIO, base: Base, step: Step) -> None:
    """Write the fast-import stream of one commit that holds the whole tree."""
    message = f"Linux {base.version}\n".encode()
    who = f"{git.AUTHOR} <{git.EMAIL}> {git.EPOCH} +0000"
    out.write(f"commit refs/heads/{BRANCH}\nauthor {who}\ncommitter {who}\n"
              f"data {len(message)}\n".encode() + message)
    for mode, name, path in _files(base.dir):
        data = content(mode, name, path)
        out.write(f"M {mode} inline {_quoted(name)}\ndata {len(data)}\n"
                  .encode() + data + b"\n")
        step.add()
    out.write(b"done\n")


def _make(base: Base, into: Path) -> None:
    git.run(into, "init", "-q", "--bare", "-b", BRANCH)
    with Step(f"put Linux {base.version} into git", key="base-git",
              total=92000, unit="files") as step:
        # Deltas cost minutes and save little among unrelated files.
        importer = subprocess.Popen(
            ["git", "-C", str(into), "fast-import", "--quiet", "--done",
             "--depth=0"], stdin=subprocess.PIPE, env=git.env())
        _write_commit(importer.stdin, base, step)
        importer.stdin.close()
        if importer.wait():
            raise git.GitError("git fast-import failed on the base; is the "
                               "disk full?")


def repository(base: Base) -> Path:
    """The bare repository whose branch `base` is the pristine base."""
    return cache.get("base-git", cache.key(base.key, *IGNORES_ALL),
                     lambda into: _make(base, into),
                     f"git repository of Linux {base.version}")
