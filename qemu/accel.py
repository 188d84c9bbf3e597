# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Which QEMU runs the guests, and whether KVM works.

$QEMU names another program; else the one that scripts.debian provides (it has
UDP segmentation offload on its taps), else the distribution's.
"""

import functools
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from qemu.errors import SetupError

SYSTEM = "qemu-system-x86_64"
PROBE_LIMIT = 20        # seconds for the guest of a few instructions
PROBE_STATUS = 0x21     # what that guest writes to the exit device


@dataclass(frozen=True)
class Qemu:
    """A QEMU program: how to start it, and which it is."""

    argv0: tuple[str, ...]
    version: str
    env: dict[str, str] = field(default_factory=dict, hash=False)

    def environment(self) -> dict[str, str]:
        """The whole environment to start it in."""
        return {**os.environ, **self.env}


def _version(argv0: tuple[str, ...], env: dict[str, str]) -> str:
    try:
        done = subprocess.run([*argv0, "--version"], capture_output=True,
                              text=True, env={**os.environ, **env})
    except OSError as error:
        raise SetupError(f"cannot run {argv0[0]}: {error}") from error
    found = re.search(r"version (\S+)", done.stdout)
    if done.returncode or not found:
        raise SetupError(f"{' '.join(argv0)} --version failed:\n"
                         f"{done.stderr.strip()}")
    return found[1]


@functools.cache
def system_qemu() -> Qemu:
    """The distribution's: the pinned one that counts instructions."""
    path = shutil.which(SYSTEM)
    if not path:
        raise SetupError(f"{SYSTEM} is missing; run: make deps")
    return Qemu((path,), _version((path,), {}))


@functools.cache
def qemu() -> Qemu:
    """The one for pairs of guests; prefers one whose taps do USO."""
    named = os.environ.get("QEMU")
    if named:
        argv0 = tuple(named.split())
        return Qemu(argv0, _version(argv0, {}))
    from scripts import debian
    found = debian.qemu()
    if found is None:
        return system_qemu()
    env = dict(getattr(found, "env", None) or {})
    return Qemu(tuple(found.argv0), found.version, env)


def runs_a_guest(which: Qemu, accel: str) -> bool:
    """Whether a guest of a few instructions runs under this accelerator.

    It writes to the exit device at once; the process's status tells that the
    instructions were executed. The firmware's last 16 bytes are the CPU's
    first: mov al, STATUS; out 0xf4, al; hlt.
    """
    rom = bytearray(65536)
    code = bytes([0xb0, PROBE_STATUS, 0xe6, 0xf4, 0xf4])
    rom[-16:-16 + len(code)] = code
    with tempfile.NamedTemporaryFile(suffix=".bin") as bios:
        bios.write(rom)
        bios.flush()
        argv = [*which.argv0, "-accel", accel, "-machine", "pc", "-m", "16",
                "-nodefaults", "-no-user-config", "-display", "none",
                "-no-reboot", "-bios", bios.name,
                "-device", "isa-debug-exit,iobase=0xf4,iosize=4"]
        try:
            done = subprocess.run(argv, capture_output=True,
                                  env=which.environment(),
                                  timeout=PROBE_LIMIT)
        except subprocess.TimeoutExpired:
            return False
    return done.returncode == (PROBE_STATUS << 1 | 1)


def _cpu_can_virtualise() -> bool:
    # Not implied by a guest that runs: KVM without hardware support (PVM)
    # interprets the few instructions of the probe and boots no kernel.
    flags = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(),
                      re.M)
    return bool(flags and {"vmx", "svm"} & set(flags[1].split()))


def _kvm_opens() -> bool:
    try:
        os.close(os.open("/dev/kvm", os.O_RDWR | os.O_CLOEXEC))
    except OSError:
        return False
    return True


@functools.cache
def kvm_works() -> bool:
    """Whether KVM really runs a guest: the device alone proves nothing."""
    return (_cpu_can_virtualise() and _kvm_opens()
            and runs_a_guest(qemu(), "kvm"))


def accelerator() -> str:
    """"kvm" or "tcg"; $ACCEL decides when it is set."""
    named = os.environ.get("ACCEL")
    if named and named not in ("kvm", "tcg"):
        raise SetupError(f"ACCEL is {named!r}: it can be kvm or tcg")
    return named or ("kvm" if kvm_works() else "tcg")
