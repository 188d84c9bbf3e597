# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The machine's installed packages: which a guest needs, and their files."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from qemu.errors import SetupError

GUEST = Path(__file__).resolve().parent / "guest"
_FORMAT = ("${Package}\t${Architecture}\t${Version}\t${db:Status-Status}\t"
           "${Pre-Depends}, ${Depends}\t${Provides}\n")


def read_list(path: Path) -> list[str]:
    """The names in a list: one per line, # starts a comment."""
    lines = (line.partition("#")[0].strip()
             for line in path.read_text().splitlines())
    return [line for line in lines if line]


@dataclass(frozen=True)
class Package:
    """An installed package. depends: one tuple of alternatives per need."""

    name: str
    arch: str
    version: str
    depends: tuple[tuple[str, ...], ...]
    provides: tuple[str, ...]


def _names(field: str) -> tuple[tuple[str, ...], ...]:
    """Names in a dependency field: needs, each with its alternatives."""
    needs = []
    for need in field.split(","):
        names = tuple(re.sub(r"[\s(:\[].*", "", choice.strip())
                      for choice in need.split("|"))
        if any(names):
            needs.append(tuple(name for name in names if name))
    return tuple(needs)


def parse(text: str, native: str) -> dict[str, Package]:
    """Packages of the native architecture by name, from dpkg-query's output
    in our format."""
    found: dict[str, Package] = {}
    for line in text.splitlines():
        name, arch, version, status, depends, provides = line.split("\t")
        if status != "installed" or arch not in (native, "all"):
            continue
        flat = tuple(n for need in _names(provides) for n in need)
        found[name] = Package(name, arch, version, _names(depends), flat)
    return found


def closure(wanted: list[str], skip: set[str],
            installed: dict[str, Package]) -> list[Package]:
    """The wanted packages and all they depend on, except `skip`, by name.

    Raises SetupError when a wanted one is not installed.
    """
    missing = [name for name in wanted if name not in installed]
    if missing:
        raise SetupError("the guest image needs packages that are not "
                         f"installed; run: apt-get install "
                         f"{' '.join(missing)}")
    providers = {virtual: package.name for package in installed.values()
                 for virtual in package.provides}
    found: set[str] = set()
    todo = list(wanted)
    while todo:
        name = todo.pop()
        if name in found or name in skip:
            continue
        found.add(name)
        for need in installed[name].depends:
            present = [n if n in installed else providers[n]
                       for n in need if n in installed or n in providers]
            todo += present[:1]
    return [installed[name] for name in sorted(found)]


def _output(*argv: str) -> str:
    try:
        return subprocess.run(argv, check=True, capture_output=True,
                              text=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise SetupError("the guest image is made from Debian packages, but "
                         f"{argv[0]} does not work here: {error}") from error


def guest_packages() -> list[Package]:
    """What the guest image is made of."""
    text = _output("dpkg-query", "-W", "-f", _FORMAT)
    native = _output("dpkg", "--print-architecture").strip()
    return closure(read_list(GUEST / "packages"),
                   set(read_list(GUEST / "packages.skip")),
                   parse(text, native))


def files(packages: list[Package]) -> list[Path]:
    """Every path that the packages own, directories included."""
    names = [f"{p.name}:{p.arch}" if p.arch != "all" else p.name
             for p in packages]
    text = _output("dpkg-query", "-L", *names)
    return sorted({Path(line) for line in text.splitlines()
                   if line.startswith("/") and line != "/."})
