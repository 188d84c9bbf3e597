# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Finds kernel splats in a console log.

What counts as a splat is data: splat.deny holds one regular expression per
line; a line that matches one of splat.allow as well is let through, and each
such exception states its reason and when it ends.

    /usr/bin/python3 -m qemu.splat FILE    its splats; exit status 1 if any
"""

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
CONTEXT = 40        # lines of a splat that are reported, the first included

# "[   12.345678] " or "[   12.345678][    C0] " before a kernel line.
_STAMP = re.compile(r"^\[ *\d+\.\d+\](\[ *[CT]\d+\])? ?")
_BLANK_OR_COMMENT = re.compile(r"^\s*(#|$)")


class RulesError(Exception):
    """A rules file that cannot be used; the text names file and line."""


def read_deny(path: Path) -> list[re.Pattern]:
    """The patterns of a deny file; an empty one would find nothing: error."""
    rules = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if _BLANK_OR_COMMENT.match(line):
            continue
        try:
            rules.append(re.compile(line))
        except re.error as error:
            raise RulesError(f"{path.name}:{number}: {error}") from error
    if not rules:
        raise RulesError(f"{path.name} holds no pattern")
    return rules


def read_allow(path: Path) -> list[re.Pattern]:
    """The patterns of an allow file: "pattern # reason # until", all three."""
    rules = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if _BLANK_OR_COMMENT.match(line):
            continue
        parts = [part.strip() for part in line.split(" # ")]
        if len(parts) != 3 or not all(parts):
            raise RulesError(f"{path.name}:{number}: an exception is written "
                             "\"pattern # reason # until when\"")
        try:
            rules.append(re.compile(parts[0]))
        except re.error as error:
            raise RulesError(f"{path.name}:{number}: {error}") from error
    return rules


@dataclass
class Rules:
    """What is a splat, and what is let through."""

    deny: list[re.Pattern] = field(
        default_factory=lambda: read_deny(HERE / "splat.deny"))
    allow: list[re.Pattern] = field(
        default_factory=lambda: read_allow(HERE / "splat.allow"))

    def is_splat(self, line: str) -> bool:
        """Whether this line starts a splat."""
        return (any(rule.search(line) for rule in self.deny)
                and not any(rule.search(line) for rule in self.allow))


def find(text: str, rules: Rules | None = None) -> list[str]:
    """The splats in a piece of console, each with the lines that follow.

    A splat within the lines of another one belongs to it: one warning is one
    splat, however many of its lines match.
    """
    rules = rules or Rules()
    lines = [_STAMP.sub("", line.rstrip("\r")) for line in text.split("\n")]
    found, number = [], 0
    while number < len(lines):
        if rules.is_splat(lines[number]):
            found.append("\n".join(lines[number:number + CONTEXT]).rstrip())
            number += CONTEXT
        else:
            number += 1
    return found


class Watcher:
    """Reads a console that grows: each splat is told once."""

    def __init__(self, console: Path, rules: Rules | None = None):
        self._console = console
        self._rules = rules or Rules()
        self._offset = 0

    def new(self) -> list[str]:
        """The splats since the last call; OSError if there is no console."""
        with self._console.open("rb") as file:
            file.seek(self._offset)
            data = file.read()
        # A line that is still being written is left for the next call,
        # unless it is a splat already.
        whole = data.rpartition(b"\n")[0]
        if find(data.decode(errors="replace"), self._rules):
            whole = data
        self._offset += len(whole)
        return find(whole.decode(errors="replace"), self._rules)


def main(argv: list[str]) -> int:
    """Print the splats of the named logs."""
    found = [splat for name in argv for splat in
             find(Path(name).read_text(errors="replace"))]
    print("\n\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
