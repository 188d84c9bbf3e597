# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The base: a pristine tree of Linux 7.3.y, checked against patches/BASE.

patches/BASE names the upstream tag that the series stands on, a checksum over
the tag's drivers/infiniband/sw/rxe, and the checksum of each file of it, so
that a difference can be told by file. Run as a program, this module prints
the base that is in use; with `record` it writes patches/BASE from it.
"""

import functools
import hashlib
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from scripts import cache, debian
from scripts.errors import LabError, run_main
from scripts.paths import PATCHES, RXE
from scripts.progress import Step

SERIES = "7.3"      # the stable series that the patches are for
BASE_FILE = PATCHES / "BASE"


class BaseError(LabError):
    """The base is not the one the series is for; says what to do."""


@dataclass(frozen=True)
class Base:
    """A pristine tree in the cache. Never write to it.

    dir: the tree; version: upstream version, "7.3.4"; origin: the package's
    version, or how KSRC was identified; rxe: checksum of its rxe directory;
    note: how it differs from what patches/BASE names, "" when it does not.
    """

    dir: Path
    version: str
    origin: str
    rxe: str
    note: str

    @property
    def key(self) -> str:
        """What names this base in the keys of what is built from it."""
        return cache.key(self.version, self.origin, self.rxe)


def file_sums(directory: Path) -> dict[str, str]:
    """sha256 of every file below a directory, by relative path."""
    return {str(path.relative_to(directory)):
            hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(directory.rglob("*")) if path.is_file()}


def checksum(sums: dict[str, str]) -> str:
    """One sha256 over names and sums of files."""
    lines = "".join(f"{value}  {name}\n" for name, value in
                    sorted(sums.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def upstream_version(tree: Path) -> str:
    """The version that a kernel tree's Makefile states, as "7.3.4"."""
    try:
        head = (tree / "Makefile").read_text()[:400]
        parts = [re.search(rf"^{name} = (\d+)$", head, re.M)[1] for name in
                 ("VERSION", "PATCHLEVEL", "SUBLEVEL")]
    except (OSError, TypeError) as error:
        raise BaseError(f"{tree} is not a kernel source tree: its Makefile "
                        "states no version") from error
    return ".".join(parts)


def record(tag: str, sums: dict[str, str]) -> str:
    """The text of patches/BASE."""
    lines = [f"tag {tag}", f"rxe {checksum(sums)}"]
    lines += [f"file {value} {name}" for name, value in sorted(sums.items())]
    return "\n".join(lines) + "\n"


def parse(text: str) -> tuple[str, dict[str, str]]:
    """(tag, file sums) of a patches/BASE; raises BaseError when damaged."""
    tag = rxe = ""
    sums = {}
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "tag":
            tag = rest
        elif word == "rxe":
            rxe = rest
        elif word == "file":
            value, _, name = rest.partition(" ")
            sums[name] = value
    if not tag or checksum(sums) != rxe:
        raise BaseError(f"{BASE_FILE.name} is damaged: its checksum is not "
                        "that of its file lines; restore it from git")
    return tag, sums


def differences(want: dict[str, str], have: dict[str, str]) -> list[str]:
    """One line per file that differs: "changed rxe_qp.c"."""
    return ([f"changed {name}" for name in sorted(want)
             if name in have and have[name] != want[name]]
            + [f"missing {name}" for name in sorted(want) if name not in have]
            + [f"added {name}" for name in sorted(have) if name not in want])


def check(version: str, sums: dict[str, str], recorded: str) -> str:
    """Compare a tree with patches/BASE's text; returns the note.

    Raises BaseError when the tree is of another series, or its rxe differs.
    """
    tag, want = parse(recorded)
    if version != SERIES and not version.startswith(SERIES + "."):
        raise BaseError(f"the tree is Linux {version}; the series is for "
                        f"{SERIES}.y (patches/BASE: {tag})")
    differing = differences(want, sums)
    if differing:
        listed = "".join(f"    {line}\n" for line in differing)
        raise BaseError(
            f"{RXE} of this Linux {version} is not that of {tag}, which the "
            f"series is for:\n{listed}"
            "Either use the base of record (unset KSRC; it comes as Debian's "
            f"{debian.SOURCE_PACKAGE}), or carry the series over to this one: "
            "`/usr/bin/python3 -m scripts.base record` writes it to "
            "patches/BASE, then `make tree` applies the series and stops at "
            "the first patch that needs work, and `make export` writes the "
            "result back.")
    if f"v{version}" != tag:
        return f"base is v{version}, not {tag}; its rxe is the same"
    return ""


def _copy_ksrc(ksrc: Path, into: Path) -> None:
    """Copy a user's tree without .git and without what a build left there."""
    with Step(f"copy KSRC={ksrc}", key="copy-ksrc"):
        with subprocess.Popen(["tar", "-C", str(ksrc), "--exclude=./.git",
                               "-cf", "-", "."],
                              stdout=subprocess.PIPE) as pack:
            subprocess.run(["tar", "-C", str(into), "-xf", "-"],
                           stdin=pack.stdout, check=True)
        if pack.returncode:
            raise BaseError(f"could not read all of {ksrc}")
        # A tree that was built in place refuses to be built with O=.
        subprocess.run(["make", "-s", "-C", str(into), "mrproper"],
                       check=True, env=clean_env())


def _ksrc_state(ksrc: Path) -> str:
    """Tells whether a user's tree changed: names, sizes and times of files."""
    digest = hashlib.sha256()
    for where, dirs, files in os.walk(ksrc):
        dirs[:] = sorted(d for d in dirs if d != ".git")
        for name in sorted(files):
            path = os.path.join(where, name)
            info = os.lstat(path)
            digest.update(f"{path} {info.st_size} {info.st_mtime_ns}\n"
                          .encode(errors="surrogateescape"))
    return digest.hexdigest()[:cache.KEY_LENGTH]


def clean_env() -> dict[str, str]:
    """The environment for a kernel make: nothing of the caller's make.

    Our own Makefile's jobserver and command-line variables, and a user's
    ARCH= or KCFLAGS=, would otherwise leak into builds that are cached.
    """
    drop = re.compile(r"^(MAKE.*|MFLAGS|GNUMAKEFLAGS|ARCH|SUBARCH|KSRC|O|V|W|C"
                      r"|M|CC|LD|HOSTCC|CROSS_COMPILE|LLVM|LOCALVERSION"
                      r"|INSTALL_.*|K?CFLAGS.*|KAFLAGS|KCPPFLAGS|KBUILD_.*"
                      r"|KCONFIG_.*)$")
    env = {k: v for k, v in os.environ.items() if not drop.match(k)}
    return env | {"LC_ALL": "C"}


def _locate() -> tuple[Path, str]:
    """(pristine tree in the cache, what identifies it)."""
    ksrc = os.environ.get("KSRC")
    if not ksrc:
        tree, version = debian.source()
        return tree, version
    path = Path(ksrc).absolute()
    upstream_version(path)
    state = _ksrc_state(path)
    entry = cache.get("ksrc", state, lambda into: _copy_ksrc(path, into),
                      f"copy of KSRC={path}")
    return entry, f"KSRC {state}"


@functools.cache
def base() -> Base:
    """The base in use: KSRC's tree, else Debian's package; checked.

    Fetches and unpacks it when it is not in the cache. Raises BaseError when
    it does not fit patches/BASE, debian.DebianError when it is not to be had.
    """
    tree, origin = _locate()
    version = upstream_version(tree)
    sums = file_sums(tree / RXE)
    if not BASE_FILE.exists():
        raise BaseError("patches/BASE is missing; restore it from git, or "
                        "`/usr/bin/python3 -m scripts.base record` writes it")
    note = check(version, sums, BASE_FILE.read_text())
    if note:
        print(f"note: {note}", file=sys.stderr)
    return Base(tree, version, origin, checksum(sums), note)


def main() -> int:
    """Print the base in use, or record it as the series' base."""
    if sys.argv[1:] == ["record"]:
        tree, _ = _locate()
        tag = f"v{upstream_version(tree)}"
        BASE_FILE.write_text(record(tag, file_sums(tree / RXE)))
        print(f"patches/BASE: {tag}")
    found = base()
    print(f"Linux {found.version} ({found.origin}) {found.note}".rstrip())
    return 0


if __name__ == "__main__":
    run_main("base", main)
