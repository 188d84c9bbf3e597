# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A QEMU guest: a Machine with a monitor."""

import contextlib
import json
import socket

from qemu import argv
from qemu.accel import Qemu
from qemu.machine import Machine

MONITOR_LIMIT = 5.0     # seconds for an answer of QEMU itself


class Monitor:
    """Our end of QEMU's control socket (QMP)."""

    def __init__(self, line: socket.socket):
        self._line = line
        self._line.settimeout(MONITOR_LIMIT)

    def execute(self, *commands: str) -> None:
        """Execute commands without arguments; OSError when QEMU is stuck."""
        file = self._line.makefile("r")
        for command in ("qmp_capabilities", *commands):
            text = json.dumps({"execute": command})
            self._line.sendall(text.encode() + b"\n")
            for reply in file:      # the greeting and events come between
                if {"return", "error"} & json.loads(reply).keys():
                    break

    def close(self) -> None:
        """Close our end."""
        self._line.close()


class VmMachine(Machine):
    """Starts the guest that a Vm describes.

    prefix: what its command is run by; pass_fds: more inherited descriptors.
    """

    def __init__(self, vm: argv.Vm, which: Qemu,
                 prefix: list[str] | None = None,
                 pass_fds: tuple[int, ...] = ()):
        agent, their_agent = socket.socketpair()
        monitor, their_monitor = socket.socketpair()
        self._monitor = Monitor(monitor)
        with their_agent, their_monitor:
            vm.agent_fd = their_agent.fileno()
            vm.monitor_fd = their_monitor.fileno()
            super().__init__(
                vm.name, [*(prefix or []), *argv.argv(vm, list(which.argv0))],
                agent, vm.console, env=which.environment(),
                pass_fds=(vm.agent_fd, vm.monitor_fd, *pass_fds),
                on_hang=self._ask_where)

    def _ask_where(self) -> None:
        """Interrupt the guest's CPU: it panics and prints a backtrace."""
        with contextlib.suppress(OSError, ValueError):
            self._monitor.execute("inject-nmi")

    def close(self) -> None:
        """As Machine.close()."""
        super().close()
        self._monitor.close()
