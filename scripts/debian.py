# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Packages of suites that the machine does not have, through apt.

A private apt state in the cache (own sources, lists and archives; Debian's
keyring, signatures checked) reads the suites of the machine's own mirror; the
system's configuration and its package state are read, never changed.
"""

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scripts import cache
from scripts.errors import LabError
from scripts.paths import cache_dir
from scripts.progress import Step

QEMU = "qemu-system-x86_64"
QEMU_PACKAGE = "qemu-system-x86"
QEMU_SUITE = "bookworm-backports"
# The first with UDP segmentation offload on its taps.
QEMU_WANTED = (8, 1)

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
SOURCE_PACKAGE = "linux-source-7.3"
SOURCE_SUITE = "trixie-backports"
# For people who wait: the download, and the tree it becomes.
SOURCE_SIZE = "about 160 MB, 1.7 GB unpacked"


class DebianError(LabError):
    """A package could not be fetched; the text says why and what to do."""


@dataclass(frozen=True)
class Apt:
    """An apt state: the system's (no config) or a private one of a suite."""

    suite: str
    config: Path | None = None
    archives: Path | None = None

    def command(self, tool: str, *args: str) -> list[str]:
        """The argv of `apt-get`, `apt-cache` ... on this state."""
        # -c is read after the system's configuration and so wins over it.
        return [tool, *(["-c", str(self.config)] if self.config else []), *args]

    def output(self, tool: str, *args: str) -> str:
        """Its standard output; raises DebianError with apt's own words."""
        done = subprocess.run(self.command(tool, *args), text=True,
                              capture_output=True, env=_env(),
                              cwd=cache_dir())
        if done.returncode:
            raise DebianError(f"{tool} {' '.join(args)} ({self.suite}) failed:"
                              f"\n{done.stderr.strip()}")
        return done.stdout

    def candidate(self, package: str) -> str | None:
        """The version that this state would install, None if it has none."""
        text = self.output("apt-cache", "policy", package)
        found = re.search(r"^  Candidate: (\S+)$", text, re.M)
        if not found or found[1] == "(none)":
            return None
        return found[1]

    def download(self, packages: list[str], into: Path) -> None:
        """Fetch .debs, checked against the signed lists, into a directory."""
        done = subprocess.run(
            self.command("apt-get", "-q", "download", *packages), cwd=into,
            text=True, capture_output=True, env=_env())
        if done.returncode:
            raise DebianError(
                f"could not download {' '.join(packages)} ({self.suite}):\n"
                f"{done.stderr.strip()}\nCheck the network and try again.")


@dataclass(frozen=True)
class Qemu:
    """A QEMU: argv0 starts it (program and first arguments), env besides."""

    argv0: list[str]
    version: str
    env: dict[str, str]


SYSTEM = Apt("this machine's suites")


def _env() -> dict[str, str]:
    env = {k: v for k, v in os.environ.items() if k != "APT_CONFIG"}
    return env | {"LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}


def codename() -> str:
    """The machine's Debian release, such as "bookworm"."""
    for line in Path("/etc/os-release").read_text().splitlines():
        if line.startswith("VERSION_CODENAME="):
            return line.partition("=")[2].strip('"')
    raise DebianError("/etc/os-release names no VERSION_CODENAME: "
                      "this needs a Debian machine (12 or newer)")


def mirrors(targets: str, release: str) -> list[str]:
    """URIs that serve `release` among lines of "URI suite" of the machine."""
    found = []
    for line in targets.splitlines():
        uri, _, suite = line.partition(" ")
        if suite.strip() in (release, f"{release}-updates",
                             f"{release}-backports") and uri not in found:
            found.append(uri)
    return found


def _machine_mirrors() -> list[str]:
    targets = SYSTEM.output("apt-get", "indextargets", "--format",
                            "$(REPO_URI) $(RELEASE)", "Created-By: Packages")
    found = mirrors(targets, codename())
    if not found:
        raise DebianError(f"apt's sources name no mirror of {codename()}; "
                          "add one to /etc/apt/sources.list.d")
    return found


def _write_state(top: Path, uris: list[str], suites: list[str]) -> Path:
    """Lay out a private apt state; returns its configuration file."""
    if not KEYRING.exists():
        raise DebianError(f"{KEYRING} is missing; run: "
                          "apt-get install debian-archive-keyring")
    for name in ("lists/partial", "archives/partial", "parts"):
        (top / name).mkdir(parents=True, exist_ok=True)
    lines = [f"deb [signed-by={KEYRING}] {uri} {suite} main"
             for uri in uris for suite in suites]
    (top / "sources.list").write_text("\n".join(lines) + "\n")
    config = top / "apt.conf"
    config.write_text(f"""\
Dir::Etc::SourceList "{top}/sources.list";
Dir::Etc::SourceParts "{top}/parts";
Dir::Etc::Preferences "{top}/preferences";
Dir::Etc::PreferencesParts "{top}/parts";
Dir::State::Lists "{top}/lists";
Dir::Cache "{top}";
Dir::Cache::Archives "{top}/archives";
Acquire::Languages "none";
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
""")
    return config


@contextlib.contextmanager
def private(suite: str, *more: str) -> Iterator[Apt]:
    """A private, updated apt state of `suite` (and more), held locked.

    Every mirror the machine has for its own release is asked for the suite;
    one that serves it is enough.
    """
    top = cache_dir() / "apt" / suite
    with cache.locked(f"apt-{suite}", f"package lists of {suite}"):
        errors = []
        for uri in _machine_mirrors():
            apt = Apt(suite, _write_state(top, [uri], [suite, *more]),
                      top / "archives")
            try:
                with Step(f"package lists of {suite} (about 10 MB)",
                          key=f"apt-{suite}"):
                    apt.output("apt-get", "-q", "update",
                               "-o", "APT::Update::Error-Mode=any")
            except DebianError as error:
                errors.append(str(error))
                continue
            yield apt
            return
        raise DebianError(f"no mirror of this machine serves {suite}:\n"
                          + "\n".join(errors))


def _unpack_source(apt: Apt, into: Path) -> None:
    """Download the source package and unpack its tree to into/linux."""
    with Step(f"download {SOURCE_PACKAGE} from {apt.suite} ({SOURCE_SIZE})",
              key="download-source"):
        apt.download([SOURCE_PACKAGE], into)
    [deb] = into.glob("*.deb")
    with Step(f"unpack {SOURCE_PACKAGE}", key="unpack-source"):
        subprocess.run(["dpkg-deb", "-x", deb.name, "deb"], cwd=into,
                       check=True)
        [tar] = (into / "deb/usr/src").glob(f"{SOURCE_PACKAGE}.tar.*")
        (into / "linux").mkdir()
        subprocess.run(["tar", "-xf", str(tar), "--strip-components=1",
                        "-C", "linux"], cwd=into, check=True)
        subprocess.run(["rm", "-rf", deb.name, "deb"], cwd=into, check=True)


def source() -> tuple[Path, str]:
    """The unpacked tree of linux-source-7.3 and the package's version.

    Taken from the machine's own suites, else from trixie-backports of the
    same mirror. Once unpacked it stays in the cache, and no list is read
    again: a newer package is used after `make distclean`.
    """
    known = sorted((cache_dir() / "debian-source").glob("[!.]*"))
    if known:
        return known[-1] / "linux", (known[-1] / "version").read_text()
    if SYSTEM.candidate(SOURCE_PACKAGE):
        return _source_from(SYSTEM)
    with private(SOURCE_SUITE) as apt:
        return _source_from(apt)


def _source_from(apt: Apt) -> tuple[Path, str]:
    version = apt.candidate(SOURCE_PACKAGE)
    if version is None:
        raise DebianError(
            f"{apt.suite} has no {SOURCE_PACKAGE}. Point KSRC at a tree of "
            "Linux 7.3.y instead: make bench KSRC=/path/to/linux")

    def make(into: Path) -> None:
        _unpack_source(apt, into)
        (into / "version").write_text(version)

    entry = cache.get("debian-source", cache.key(version), make,
                      f"source of Linux {version}")
    return entry / "linux", version


def needed(simulated: str) -> list[str]:
    """"package=version" of everything that `apt-get -s install` would do."""
    return [f"{name}={version}" for name, version in re.findall(
        r"^Inst (\S+) (?:\[\S+\] )?\((\S+) ", simulated, re.M)]


def _unpack_qemu(apt: Apt, packages: list[str], into: Path) -> None:
    """Download packages and unpack them into into/root."""
    with Step(f"download QEMU from {apt.suite} ({len(packages)} packages, "
              "about 15 MB)", key="download-qemu"):
        apt.download(packages, into)
    for deb in into.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", str(deb), str(into / "root")],
                       check=True)
        deb.unlink()


def _aside(root: Path) -> tuple[list[str], dict[str, str]]:
    """(argv0, env) of a QEMU that was unpacked below root, not installed."""
    library = root / "usr/lib/x86_64-linux-gnu"
    env = {"LD_LIBRARY_PATH": str(library),
           "QEMU_MODULE_DIR": str(library / "qemu")}
    # Firmware comes in packages of its own, unpacked or installed.
    data = [top / path for top in (root, Path("/"))
            for path in ("usr/share/qemu", "usr/share/seabios",
                         "usr/lib/ipxe/qemu")]
    argv0 = [str(root / "usr/bin" / QEMU)]
    for path in data:
        argv0 += ["-L", str(path)] if path.is_dir() else []
    return argv0, env


def qemu_version(argv0: list[str], env: dict[str, str]) -> str | None:
    """What `-version` says, None when the program does not start."""
    try:
        done = subprocess.run([*argv0, "-version"], capture_output=True,
                              text=True, env=os.environ | env)
    except OSError:
        return None
    found = re.search(r"version (\d+\.\d+\S*)", done.stdout)
    return found[1] if found and done.returncode == 0 else None


def _check_qemu(argv0: list[str], env: dict[str, str]) -> None:
    """Raise DebianError unless it starts and has what the VMs use."""
    # Never `-device help`: it loads every module, also the system's.
    for ask, want in ((["-machine", "help"], "q35"),
                      (["-netdev", "help"], "tap"),
                      (["-device", "virtio-net-pci,help"], "guest_uso4"),
                      (["-accel", "help"], "tcg")):
        done = subprocess.run([*argv0, *ask], capture_output=True, text=True,
                              env=os.environ | env)
        if done.returncode or not re.search(rf"\b{want}\b", done.stdout):
            raise DebianError(f"the unpacked QEMU has no {want}: "
                              f"{done.stderr.strip() or done.stdout[:200]}")


def _qemu_from(apt: Apt) -> Qemu:
    packages = needed(apt.output(
        "apt-get", "-s", "install", "--no-install-recommends", "-t",
        apt.suite, QEMU_PACKAGE))
    if not packages:
        raise DebianError(f"{apt.suite} has no newer {QEMU_PACKAGE}")

    def make(into: Path) -> None:
        _unpack_qemu(apt, packages, into)
        _check_qemu(*_aside(into / "root"))

    entry = cache.get("qemu", cache.key(*packages), make, "QEMU")
    return _found_qemu(entry)


def _found_qemu(entry: Path) -> Qemu:
    argv0, env = _aside(entry / "root")
    version = qemu_version(argv0, env)
    if version is None:
        raise DebianError(f"the QEMU unpacked in {entry} does not start any "
                          "more (did a library change?); remove that "
                          "directory and try again")
    return Qemu(argv0, version, env)


def new_enough(version: str) -> bool:
    """Whether a QEMU of this version has the offload on its taps."""
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    return numbers >= QEMU_WANTED


def qemu() -> Qemu | None:
    """The QEMU for pairs of VMs; None when there is none at all.

    The distribution's when it is 8.1 or newer, else the one of
    bookworm-backports, unpacked in the cache, else (it cannot be had, which
    is said) the distribution's all the same.
    """
    plain = qemu_version([QEMU], {})
    if plain and new_enough(plain):
        return Qemu([QEMU], plain, {})
    known = sorted((cache_dir() / "qemu").glob("[!.]*"))
    if known:
        return _found_qemu(known[-1])
    try:
        with private(QEMU_SUITE, codename()) as apt:
            return _qemu_from(apt)
    except DebianError as error:
        print(f"note: no QEMU of {QEMU_SUITE}, so no UDP segmentation "
              f"offload between the VMs: {error}", file=sys.stderr)
    return Qemu([QEMU], plain, {}) if plain else None
