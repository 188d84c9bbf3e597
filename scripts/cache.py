# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Content-keyed entries in the cache: built once, whoever asks first.

An entry's key is a hash of everything its content depends on, so an entry is
never out of date: it is there, or it is not. A file lock per entry keeps two
runs from building the same thing; the second waits and finds it done.
"""

import contextlib
import fcntl
import hashlib
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from scripts.paths import cache_dir

KEY_LENGTH = 20


def key(*parts: str | bytes) -> str:
    """Hash parts to a key of 20 hex digits.

    Each part is hashed with its length, so ("ab", "c") and ("a", "bc") differ.
    """
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(f"{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()[:KEY_LENGTH]


@contextlib.contextmanager
def locked(name: str, describe: str) -> Iterator[None]:
    """Hold the cache's lock `name`; says so when it has to wait for it."""
    path = cache_dir() / "locks" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"{describe}: another run is at it, waiting for it",
                  file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def find(kind: str, entry: str) -> Path | None:
    """The directory of an entry that get() made, None when there is none."""
    path = cache_dir() / kind / entry
    return path if path.is_dir() else None


def get(kind: str, entry: str, make: Callable[[Path], None],
        describe: str) -> Path:
    """The directory of entry `entry` of `kind`, made by make(dir) if missing.

    make() fills a directory beside the entry, which is renamed into place
    when it returns: an entry that exists is complete. What make() raises is
    passed on, and nothing is left behind. `describe` names the entry to a
    person who has to wait for another run that builds it.
    """
    final = cache_dir() / kind / entry
    if final.is_dir():
        return final
    with locked(f"{kind}-{entry}", describe):
        if final.is_dir():
            return final
        aside = final.with_name(f".{entry}.part")
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        try:
            make(aside)
        except BaseException:
            shutil.rmtree(aside, ignore_errors=True)
            raise
        aside.rename(final)
    return final


def get_in_place(kind: str, entry: str, make: Callable[[Path], None],
                 describe: str) -> Path:
    """Like get(), for content that knows its own path and cannot be renamed.

    make() fills the entry's final directory; the file `.done` in it, written
    last, tells a complete entry from one whose build was cut short.
    """
    final = cache_dir() / kind / entry
    done = final / ".done"
    if done.exists():
        return final
    with locked(f"{kind}-{entry}", describe):
        if done.exists():
            return final
        shutil.rmtree(final, ignore_errors=True)
        final.mkdir(parents=True)
        try:
            make(final)
        except BaseException:
            shutil.rmtree(final, ignore_errors=True)
            raise
        done.touch()
    return final
