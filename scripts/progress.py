# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Progress of a long step: what, how far, how long it took, how long is left.

    with Step("kernel perf", key="kernel-perf", total=1700, unit="files") as s:
        s.at(40)

On a terminal one line is rewritten every second; elsewhere (a log, CI) a line
is printed at the start, every 30 seconds and at the end. The time left is
estimated from how far the step is, or from how long it took the last time,
which the cache remembers under the step's key.
"""

import json
import os
import shutil
import sys
import threading
import time
from pathlib import Path
from typing import TextIO

from scripts.paths import cache_dir

TTY_PERIOD = 1.0    # seconds between two updates on a terminal
LOG_PERIOD = 30.0   # seconds between two lines in a log


def clock(seconds: float) -> str:
    """A duration for people: 0:07, 12:30, 1:02:03."""
    whole = max(0, int(seconds + 0.5))
    hours, rest = divmod(whole, 3600)
    minutes, secs = divmod(rest, 60)
    if hours:
        return f"{hours}:{minutes:02}:{secs:02}"
    return f"{minutes}:{secs:02}"


def time_left(elapsed: float, done: int, total: int | None,
              last: float | None) -> float | None:
    """Seconds left, None when there is nothing to tell it from.

    elapsed: seconds since the start; done of total: how far; last: how many
    seconds the step took the last time. The remembered duration is scaled by
    what is left, as it knows that not every unit costs the same; without it
    the rate so far is extrapolated.
    """
    share = done / total if total and done > 0 else None
    if share is not None and share >= 1:
        # More than there were the last time: nobody knows how many more.
        return 0.0 if share == 1 else None
    if share is not None and share >= 0.02:
        rate = elapsed * (1 - share) / share
        if last is None:
            return rate
        return share * rate + (1 - share) * max(0.0, last * (1 - share))
    if last is not None and last > elapsed:
        return last - elapsed
    return None


def _history() -> Path:
    return cache_dir() / "durations.json"


def remembered(key: str) -> dict:
    """{"seconds": float, "total": int} of the last run under key, or {}."""
    try:
        return json.loads(_history().read_text()).get(key, {})
    except (OSError, ValueError):
        return {}


def _remember(key: str, seconds: float, total: int) -> None:
    """Record a finished run. Two at once: one is lost, which is harmless."""
    try:
        known = json.loads(_history().read_text())
    except (OSError, ValueError):
        known = {}
    known[key] = {"seconds": round(seconds, 1), "total": total}
    aside = _history().with_name(f".durations.{os.getpid()}.part")
    aside.write_text(json.dumps(known, indent=1, sort_keys=True))
    aside.replace(_history())


class Step:
    """A long step as a context manager; see the head of this file.

    what:  names it to the person who waits.
    key:   remembers its duration and size under this name; None: does not.
    total: how many units it has; None: what the last run under key had.
    unit:  what is counted, in plural.
    """

    def __init__(self, what: str, key: str | None = None,
                 total: int | None = None, unit: str = "",
                 stream: TextIO | None = None):
        known = remembered(key) if key else {}
        self.what = what
        self.key = key
        self.total = total if total is not None else known.get("total") or None
        self.unit = unit
        self.done = 0
        self.note = ""
        self.last: float | None = known.get("seconds")
        self.stream = stream or sys.stderr
        self.tty = self.stream.isatty()
        self.began = 0.0
        self._over = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> "Step":
        self.began = time.monotonic()
        self._show()
        self._ticker.start()
        return self

    def at(self, done: int, note: str = "") -> None:
        """Say how far the step is, and optionally what it is at."""
        self.done = done
        self.note = note

    def add(self, count: int = 1, note: str = "") -> None:
        """Say that `count` more units are done."""
        self.at(self.done + count, note)

    def __exit__(self, kind, error, trace) -> None:
        self._over.set()
        self._ticker.join()
        took = time.monotonic() - self.began
        if kind is None:
            if self.key:
                _remember(self.key, took, self.done)
            self._line(f"{self.what}: done in {clock(took)}", last=True)
        else:
            self._line(f"{self.what}: failed after {clock(took)}", last=True)

    def _tick(self) -> None:
        while not self._over.wait(TTY_PERIOD if self.tty else LOG_PERIOD):
            self._show()

    def text(self, elapsed: float) -> str:
        """The line that tells the state `elapsed` seconds after the start."""
        words = [f"{self.what}:"]
        if self.done or self.total:
            of = f"/{max(self.total, self.done)}" if self.total else ""
            words.append(f"{self.done}{of} {self.unit}".rstrip() + ",")
        if self.note:
            words.append(f"{self.note},")
        words.append(clock(elapsed))
        left = time_left(elapsed, self.done, self.total, self.last)
        if left is not None:
            words.append(f"(about {clock(left)} left)")
        return " ".join(words)

    def _show(self) -> None:
        self._line(self.text(time.monotonic() - self.began), last=False)

    def _line(self, text: str, last: bool) -> None:
        if self.tty:
            width = shutil.get_terminal_size().columns - 1
            end = "\n" if last else ""
            self.stream.write(f"\r\033[K{text[:width]}{end}")
        else:
            self.stream.write(text + "\n")
        self.stream.flush()
