# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Processes and directories that must not outlive this process.

Everything started here ends with this process, however it ends: by close(),
by an exit handler, by SIGTERM or SIGHUP (which become SystemExit, so that
`with` blocks unwind), and after SIGKILL by the kernel (parent death signal).

The parent death signal is tied to the *thread* that starts a process: start
guests from a thread that lives as long as they do.
"""

import atexit
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from pathlib import Path

PREFIX = "rxe-lab-"
END_LIMIT = 5.0         # seconds that a killed process may take to be gone

# Set the parent death signal, then run the rest unless the parent has died
# before it was set.
_DIE_WITH_US = ("setpriv", "--pdeathsig", "KILL", "--", "sh", "-c",
                '[ "$PPID" = "$0" ] && exec "$@"')

_started: list[subprocess.Popen] = []
_dirs: list[Path] = []
_prepared = False


def _on_signal(number: int, _frame) -> None:
    raise SystemExit(128 + number)


def _prepare() -> None:
    """Once: install the handlers and clean up after dead runs."""
    global _prepared
    if _prepared:
        return
    _prepared = True
    atexit.register(end_all)
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, _on_signal)
    _remove_stale()


def _alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def _remove_stale() -> None:
    """Remove the directories of runs whose process is gone."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        owner = path.name.removeprefix(PREFIX).partition("-")[0]
        if owner.isdigit() and not _alive(int(owner)):
            if path.stat().st_uid == os.getuid():
                shutil.rmtree(path, ignore_errors=True)


def run_dir() -> Path:
    """A new directory of this run, removed at its end or by remove()."""
    _prepare()
    path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
    _dirs.append(path)
    return path


def remove(path: Path) -> None:
    """Remove a directory that run_dir() made."""
    shutil.rmtree(path, ignore_errors=True)
    if path in _dirs:
        _dirs.remove(path)


def start(argv: list[str], **popen) -> subprocess.Popen:
    """Start a program that dies with us, in a session of its own.

    A session of its own keeps a terminal's Ctrl-C from reaching it before
    this process has had its say.
    """
    _prepare()
    proc = subprocess.Popen([*_DIE_WITH_US, str(os.getpid()), *argv],
                            start_new_session=True, **popen)
    _started.append(proc)
    return proc


def end(proc: subprocess.Popen) -> None:
    """Kill a process of start() and its session's group; idempotent."""
    if proc.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(proc.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            proc.wait(END_LIMIT)
    if proc in _started:
        _started.remove(proc)


def end_all() -> None:
    """End everything that is still there."""
    for proc in list(_started):
        end(proc)
    for path in list(_dirs):
        remove(path)
