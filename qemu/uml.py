# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""User-mode Linux: the guest is a process, at native speed.

Its console is its standard output; the agent's line is a serial line on an
inherited socket. It gets the same two disks as a QEMU guest.
"""

import re
import socket
from pathlib import Path

from qemu.errors import SetupError
from qemu.machine import Machine

# ssl0 becomes the guest's /dev/ttyS0.
AGENT_TTY = "ttyS0"

# A tty of the guest holds 4096 bytes, and must not overflow: see agent.c.
WINDOW = 2048

# Panic on warnings from the first process on: booting warns about PCI, which
# is there for its DMA mapping only.
KERNEL_ARGS = (
    "root=/dev/ubda", "rootfstype=erofs", "ro", "init=/init", "seccomp=on",
    "con=null", "ssl=null", "panic=-1", "oops=panic",
    "sysctl.kernel.panic_on_warn=1", f"agent={AGENT_TTY}",
)


def host_mhz() -> str:
    """The host's clock rate, for programs that read /proc/cpuinfo."""
    found = re.search(r"^cpu MHz\s*:\s*([\d.]+)",
                      Path("/proc/cpuinfo").read_text(), re.M)
    return found[1] if found else "1000.000"


def argv(name: str, kernel: Path, root: Path, payload: Path, run_dir: Path,
         agent_fd: int, cpus: int = 2, memory: str = "1G",
         args: tuple[str, ...] = ()) -> list[str]:
    """The command of a User-mode Linux guest. ubdNrc: read-only, shared."""
    return [str(kernel), f"mem={memory}", f"ncpus={cpus}",
            f"ubd0rc={root}", f"ubd1rc={payload}", *KERNEL_ARGS,
            "con0=null,fd:1", f"ssl0=fd:{agent_fd}",
            f"uml_dir={run_dir}", f"host={name}", f"cpu_mhz={host_mhz()}",
            *args]


class UmlMachine(Machine):
    """A Machine that is a User-mode Linux."""

    def __init__(self, name: str, kernel: Path, root: Path, payload: Path,
                 run_dir: Path, **options):
        if not kernel.exists():
            raise SetupError(f"there is no User-mode Linux kernel {kernel}")
        ours, theirs = socket.socketpair()
        with theirs:
            super().__init__(
                name, argv(name, kernel, root, payload, run_dir,
                           theirs.fileno(), **options),
                ours, run_dir / f"console-{name}.log",
                pass_fds=(theirs.fileno(),), output_is_console=True,
                window=WINDOW)
