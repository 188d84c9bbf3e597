# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Kernel configurations: fragments merged onto tinyconfig, and checked.

configs/variants names the kernels, configs/<fragment>.config what is asked
for. Kconfig drops a requested line without a word when a dependency is
missing, so each line is looked for in the result.
"""

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from scripts import cache, kmake
from scripts.base import Base, clean_env
from scripts.errors import LabError
from scripts.paths import CONFIGS
from scripts.progress import Step


class ConfigError(LabError):
    """A requested configuration cannot be had; names fragment and line."""


@dataclass(frozen=True)
class Variant:
    """One line of configs/variants."""

    name: str
    arch: str
    files: int                  # how many files its build makes, roughly
    fragments: tuple[str, ...]


@dataclass(frozen=True)
class Request:
    """One line of a fragment: "CONFIG_NET=y", asked for by `where`."""

    where: str                  # "configs/net.config:3"
    symbol: str
    value: str


def variants() -> dict[str, Variant]:
    """Every kernel that configs/variants names."""
    found = {}
    for number, line in enumerate(
            (CONFIGS / "variants").read_text().splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) < 4 or not words[2].isdigit():
            raise ConfigError(f"configs/variants:{number}: want name, "
                              "architecture, number of files, fragments")
        found[words[0]] = Variant(words[0], words[1], int(words[2]),
                                  tuple(words[3:]))
    return found


def variant(name: str) -> Variant:
    """The variant of that name; ConfigError lists those there are."""
    known = variants()
    if name not in known:
        raise ConfigError(f"no kernel variant {name!r} in configs/variants; "
                          f"there are: {', '.join(known)}")
    return known[name]


def requests(name: str, text: str) -> list[Request]:
    """The lines that a fragment's text asks for."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        where = f"configs/{name}.config:{number}"
        symbol, equals, value = line.partition("=")
        if line.startswith("CONFIG_") and equals:
            found.append(Request(where, symbol, value))
        elif line.strip() and not line.startswith("# "):
            raise ConfigError(f"{where}: neither a comment nor CONFIG_X=v: "
                              f"{line!r} (ask for off with =n)")
    return found


def values(config: str) -> dict[str, str]:
    """Symbol to value of a .config; symbols that are off are not in it."""
    lines = (line.partition("=") for line in config.splitlines())
    return {symbol: value for symbol, equals, value in lines
            if equals and symbol.startswith("CONFIG_")}


def lost(wanted: Iterable[Request], config: str) -> list[str]:
    """One line for each request that a .config does not fulfil."""
    have = values(config)
    return [f"{want.where}: {want.symbol}={want.value} was asked for, the "
            f"merged configuration has {have.get(want.symbol, 'n')}"
            for want in wanted
            if have.get(want.symbol, "n") != want.value]


def asked(what: Variant, changes: dict[str, str]) -> list[Request]:
    """All requests of a variant, `changes` overriding fragments' lines."""
    wanted = []
    for name in what.fragments:
        path = CONFIGS / f"{name}.config"
        if not path.exists():
            raise ConfigError(f"configs/variants: {what.name} wants fragment "
                              f"{name}, and {path.name} does not exist")
        wanted += requests(name, path.read_text())
    kept = [want for want in wanted if want.symbol not in changes]
    return kept + [Request("requested by the caller", symbol, value)
                   for symbol, value in changes.items()]


def _merge(base: Base, what: Variant, wanted: list[Request],
           into: Path) -> None:
    """Leave the merged and checked configuration in into/config."""
    out = into / "out"
    out.mkdir()
    make = ["-s", "-C", str(base.dir), f"O={out}", f"ARCH={what.arch}"]
    kmake.run([*make, "tinyconfig"], f"config-{what.name}")
    fragment = into / "fragment"
    fragment.write_text("".join(f"{want.symbol}={want.value}\n"
                                for want in wanted))
    (out / ".config").rename(into / "tiny")
    done = subprocess.run(
        [str(base.dir / "scripts/kconfig/merge_config.sh"), "-m", "-O",
         str(out), str(into / "tiny"), str(fragment)], cwd=out,
        env=clean_env() | {"ARCH": what.arch}, capture_output=True, text=True)
    if done.returncode:
        raise ConfigError(f"merge_config.sh failed for {what.name}:\n"
                          f"{done.stdout}{done.stderr}")
    kmake.run([*make, "olddefconfig"], f"config-{what.name}")
    config = (out / ".config").read_text()
    missing = lost(wanted, config)
    if missing:
        raise ConfigError(
            f"kernel {what.name}: the merge lost requested lines (an unmet "
            "dependency, or EXPERT changed a default):\n"
            + "\n".join(f"    {line}" for line in missing))
    (into / "config").write_text(config)
    subprocess.run(["rm", "-rf", *map(str, (out, fragment, into / "tiny"))],
                   check=True)


def merged(base: Base, what: Variant,
           changes: dict[str, str] | None = None) -> str:
    """The text of a variant's .config, merged once and cached.

    changes: {"CONFIG_IPV6": "n"} to ask for something else than fragments
    do. Raises ConfigError when a requested line is lost.
    """
    wanted = asked(what, changes or {})
    lines = "".join(f"{want.symbol}={want.value}\n" for want in wanted)

    def make(into: Path) -> None:
        with Step(f"configure kernel {what.name}", key="configure"):
            _merge(base, what, wanted, into)

    entry = cache.get("config", kmake.key(base.key, what.arch, lines), make,
                      f"configuration of kernel {what.name}")
    return (entry / "config").read_text()
