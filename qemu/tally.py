# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tells the outcomes of `make test` as they come, and counts them."""

import sys
from typing import TextIO

from qemu.verdict import Judged

COUNTED = ("passed", "failed", "skipped")


class Tally:
    """Prints a line per case and the totals; remembers what went wrong.

    quiet suites (many fast cases) print only what is worth a look.
    """

    def __init__(self, stream: TextIO | None = None):
        self._stream = stream or sys.stdout
        self._counts = dict.fromkeys(COUNTED, 0)
        self._known: list[Judged] = []
        self._news: list[Judged] = []
        self._regressions: list[Judged] = []
        self._errors: list[str] = []

    def suite(self, title: str) -> None:
        """Start a part."""
        self._print(f"\n== {title}")

    def add(self, judged: Judged, quiet: bool = False) -> None:
        """Count and tell one case."""
        self._counts[judged.counts_as] += 1
        if judged.regression:
            self._regressions.append(judged)
        elif judged.counts_as == "failed":
            self._known.append(judged)
        elif judged.note:
            self._news.append(judged)
        if not quiet or judged.note or judged.counts_as == "failed":
            self._line(judged)

    def error(self, text: str) -> None:
        """A part could not run: the whole run fails."""
        self._errors.append(text)
        self._print(f"ERROR {text}")

    def _line(self, judged: Judged) -> None:
        outcome = judged.outcome
        word = outcome.verdict.value.upper()
        tail = f" [{judged.note}]" if judged.note else ""
        cause = f": {outcome.cause}" if outcome.cause else ""
        self._print(f"{word:5} {outcome.name} ({outcome.seconds:.1f} s)"
                    f"{cause}{tail}")
        if judged.regression:
            rest = outcome.reason.strip().partition("\n")[2]
            for line in rest.splitlines():
                self._print(f"      {line}")

    def _print(self, text: str) -> None:
        # A progress line of scripts.progress may stand on the terminal.
        if self._stream.isatty():
            text = "\r\033[K" + text
        print(text, file=self._stream, flush=True)

    def _list(self, title: str, entries: list[Judged]) -> None:
        if entries:
            self._print(f"{title}:")
        for judged in entries:
            self._print(f"  {judged.outcome.name}: "
                        f"{judged.note or judged.outcome.cause}")

    def close(self) -> int:
        """Print what is worth knowing, then the one closing line; returns
        the exit status: 0 unless something is worse than on side A, or a
        part could not run.
        """
        self._print("")
        self._list("Newly passing", self._news)
        self._list("Known failures, on side A too", self._known)
        self._list("Failed", self._regressions)
        for text in self._errors:
            self._print(f"Could not run: {text.partition(chr(10))[0]}")
        failed = self._counts["failed"] + len(self._errors)
        self._print(f"{self._counts['passed']} passed, {failed} failed, "
                    f"{self._counts['skipped']} skipped")
        return 1 if self._regressions or self._errors else 0
