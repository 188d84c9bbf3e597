# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""`make export`: the commits of build/linux become patches/ again.

Author and dates are neutral and object names are written in full, so two
exports of the same commits give the same bytes, on any machine. The files
that the series adds are copied to drivers/infiniband/sw/rxe/ of this
repository.
"""

import os
import re
import tempfile
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path

from scripts import git, series
from scripts.errors import LabError, run_main
from scripts.paths import PATCHES, ROOT, RXE
from scripts.tree import (BASE_REF, EXPORTED_REF, TREE, require_settled,
                          revision)

FORMAT = ["format-patch", "-q", "--zero-commit", "--no-signature", "-N",
          "--full-index", "-M", "--no-thread", "--no-base", "--no-notes",
          "--no-cover-letter", "--suffix=.patch", "--no-attach",
          "--no-encode-email-headers", "--src-prefix=a/", "--dst-prefix=b/",
          "--no-color", "--no-ext-diff", "--no-textconv", "--unified=3",
          "--diff-algorithm=myers"]


class ExportError(LabError):
    """The tree cannot be exported as it is; says what to do."""


@dataclass(frozen=True)
class Patch:
    """One patch to be written."""

    topic: str      # "" or a directory below patches/, such as "02-receive"
    name: str       # "0007-RDMA-rxe-Do-this.patch"
    text: bytes


def neutral(text: bytes, index: int) -> bytes:
    """A patch with our author and a date made from its place in the series."""
    head, blank, body = text.partition(b"\n\n")
    date = formatdate(git.EPOCH + 60 * index).replace("-0000", "+0000")
    head = re.sub(rb"^From: .*(\n[ \t].*)*$",
                  f"From: {git.AUTHOR} <{git.EMAIL}>".encode(), head,
                  count=1, flags=re.M)
    head = re.sub(rb"^Date: .*$", f"Date: {date}".encode(), head, count=1,
                  flags=re.M)
    return head + blank + body


def subject(text: bytes) -> str:
    """The subject line of a patch, unfolded, without "[PATCH ...]"."""
    found = re.search(rb"^Subject: (.*(?:\n[ \t].*)*)$", text, re.M)
    line = re.sub(r"\s*\n\s+", " ", found[1].decode(errors="replace"))
    return re.sub(r"^\[PATCH[^\]]*\]\s*", "", line)


def topics(subjects: list[str], known: dict[str, str],
           fresh: str | None) -> list[str]:
    """The topic of each commit, given the topics of subjects in patches/.

    A commit that patches/ does not know goes where the one before it went,
    or into `fresh` when new ones shall start a topic (TOPIC=). Raises
    ExportError when the topics' order is not that of the commits.
    """
    found = []
    current = ""
    for line in subjects:
        current = known.get(line, fresh if fresh is not None else current)
        found.append(current)
    for earlier, later, line in zip(found, found[1:], subjects[1:]):
        if later < earlier:
            raise ExportError(
                f'"{line}" is of topic {later or "(none)"} and comes after '
                f"one of {earlier}: topics apply in order of their names; "
                "reorder the commits or rename the directories in patches/")
    return found


def _formatted(tree: Path) -> list[bytes]:
    """Every commit of the series as a neutral patch."""
    with tempfile.TemporaryDirectory() as where:
        git.run(tree, *FORMAT, "-o", where, f"{BASE_REF}..HEAD")
        return [neutral(path.read_bytes(), index) for index, path in
                enumerate(sorted(Path(where).iterdir()), 1)]


def file_name(number: int, line: str) -> str:
    """What git format-patch would call a patch of this subject."""
    slug = re.sub(r"[^A-Za-z0-9._]+", "-", line).strip("-.")
    return f"{number:04}-{slug[:52].rstrip('-.')}.patch"


def collect(tree: Path, top: Path, fresh: str | None) -> list[Patch]:
    """The patches that the tree's commits make, in order."""
    known = {subject(patch.read_bytes()):
             "" if patch.parent == top else patch.parent.name
             for patch in series.patches(top)}
    texts = _formatted(tree)
    lines = [subject(text) for text in texts]
    found: list[Patch] = []
    for topic, line, text in zip(topics(lines, known, fresh), lines, texts):
        number = 1 + sum(patch.topic == topic for patch in found)
        found.append(Patch(topic, file_name(number, line), text))
    return found


def write(found: list[Patch], top: Path) -> None:
    """Make the patches below top exactly these; cover letters stay."""
    wanted = {top / patch.topic / patch.name: patch.text for patch in found}
    for stale in series.patches(top):
        if stale not in wanted:
            stale.unlink()
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != text:
            path.write_bytes(text)


def cover(letter: str, count: int, shortlog: str, diffstat: str) -> str:
    """A cover letter with its subject's count and its statistics renewed.

    Everything from the shortlog's head line on is replaced; the text before
    it is people's.
    """
    letter = re.sub(r"^Subject: (\[PATCH[^\]]*\] *)?",
                    f"Subject: [PATCH 00/{count:02}] ", letter, count=1,
                    flags=re.M)
    head = re.split(rf"^{re.escape(git.AUTHOR)} \(\d+\):$", letter, maxsplit=1,
                    flags=re.M)[0].rstrip("\n")
    return f"{head}\n\n{shortlog.rstrip()}\n\n{diffstat.rstrip()}\n"


def _renew_cover(tree: Path, top: Path, found: list[Patch]) -> None:
    path = top / series.COVER
    if not path.exists():
        return
    lines = "".join(f"  {subject(patch.text)}\n" for patch in found)
    diffstat = git.run(tree, "diff", "--stat=72", "--summary", "-M", BASE_REF,
                       "HEAD")
    text = cover(path.read_text(), len(found),
                 f"{git.AUTHOR} ({len(found)}):\n{lines}", diffstat)
    path.write_bytes(neutral(text.encode(), 0))


def added(tree: Path) -> dict[str, bytes]:
    """The driver's files that the series adds: path below RXE to content."""
    names = git.run(tree, "diff", "--name-only", "--diff-filter=A",
                    "--no-renames", "-z", BASE_REF, "HEAD", "--",
                    RXE).split("\0")
    return {name.removeprefix(RXE + "/"): git.show(tree, "HEAD", name)
            for name in names if name}


def require_unedited(tree: Path, here: Path,
                     files: dict[str, bytes]) -> None:
    """Raise ExportError when a copy in this repository was edited itself."""
    for path in sorted(here.rglob("*")) if here.is_dir() else []:
        name = str(path.relative_to(here))
        if not path.is_file() or path.read_bytes() == files.get(name):
            continue
        if path.read_bytes() != git.show(tree, EXPORTED_REF,
                                         f"{RXE}/{name}"):
            raise ExportError(
                f"{RXE}/{name} was edited in this repository and differs from "
                f"build/linux: carry the change over (copy it to build/linux/"
                f"{RXE}/ and commit it there) or discard it, then try again")


def copy_added(files: dict[str, bytes], here: Path) -> None:
    """Make a directory hold exactly these files."""
    if here.is_dir():
        for path in sorted(here.rglob("*"), reverse=True):
            if path.is_file() and str(path.relative_to(here)) not in files:
                path.unlink()
            elif path.is_dir() and not any(path.iterdir()):
                path.rmdir()
    for name, data in files.items():
        path = here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != data:
            path.write_bytes(data)


def export(tree: Path, top: Path, here: Path, fresh: str | None) -> int:
    """Write patches to top and added files to here; returns how many patches.

    Raises TreeError or ExportError, before anything is written.
    """
    require_settled(tree)
    found = collect(tree, top, fresh)
    for patch in found:
        wrong = series.outside(patch.text.decode(errors="replace"))
        if wrong:
            raise ExportError(f'"{subject(patch.text)}" touches '
                              f"{', '.join(wrong)}; the series may only touch "
                              f"{', '.join(series.TOUCHED)}")
    files = added(tree)
    require_unedited(tree, here, files)
    write(found, top)
    _renew_cover(tree, top, found)
    copy_added(files, here)
    git.run(tree, "update-ref", EXPORTED_REF, "HEAD")
    return len(found)


def main() -> int:
    """Export build/linux."""
    if not revision(TREE, BASE_REF):
        raise ExportError("there is no build/linux to export; run `make tree`")
    count = export(TREE, PATCHES, ROOT / RXE, os.environ.get("TOPIC") or None)
    print(f"patches/: {count} patches, as in build/linux")
    return 0


if __name__ == "__main__":
    run_main("export", main)
