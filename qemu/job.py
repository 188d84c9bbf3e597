# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A command that runs in a guest, and how it ended."""

import contextlib
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from signal import SIGKILL, SIGTERM
from typing import TYPE_CHECKING

from qemu import wire
from qemu.errors import CommandFailed
from qemu.wire import Type

if TYPE_CHECKING:
    from qemu.machine import Machine

KILL_LIMIT = 15.0       # seconds in which a killed job must be gone


@dataclass
class Result:
    """How a command ended.

    code: its exit status, or minus the signal that killed its shell;
    out, err: its outputs as text; out_raw: standard output as it came;
    seconds: wall-clock time seen from the host.
    """

    code: int
    out: str
    err: str
    seconds: float
    out_raw: bytes = b""


class Job:
    """A command that runs in a guest. Made by Machine.start()."""

    def __init__(self, machine: "Machine", number: int, cmd: str,
                 on_output: Callable[[bytes], None] | None = None,
                 on_end: Callable[[], None] | None = None):
        self.machine = machine
        self.number = number
        self.cmd = cmd
        self.began = time.monotonic()
        self.ended: float | None = None
        self.status: int | None = None      # as wait(2) gives it
        self.error: int | None = None       # errno of a start that failed
        self.out = bytearray()
        self.err = bytearray()
        self._on_output = on_output
        self._on_end = on_end

    def running(self) -> bool:
        """Whether it has not ended yet; raises if the guest is lost."""
        self.machine.check()
        return self.ended is None

    def output(self) -> str:
        """Its standard output so far."""
        with self.machine.changed:
            return self.out.decode(errors="replace")

    def errors(self) -> str:
        """Its standard error so far."""
        with self.machine.changed:
            return self.err.decode(errors="replace")

    def signal(self, number: int) -> None:
        """Send a signal to all processes of the job."""
        self.machine.send(wire.frame(Type.SIGNAL, self.number,
                                     struct.pack("<I", number)))

    def input(self, data: bytes) -> None:
        """Write to its standard input; no bytes close it."""
        for at in range(0, len(data), wire.LIMIT):
            self.machine.send(wire.frame(Type.STDIN, self.number,
                                         data[at:at + wire.LIMIT]))
        if not data:
            self.machine.send(wire.frame(Type.STDIN, self.number))

    def resize(self, rows: int, columns: int) -> None:
        """Set the size of its terminal."""
        self.machine.send(wire.frame(Type.RESIZE, self.number,
                                     struct.pack("<HH", rows, columns)))

    def wait(self, timeout: float = 60, check: bool = False) -> Result:
        """Wait for its end; see Machine.run() for what it raises.

        timeout: seconds from now. A job that is late is killed.
        """
        if not self.machine.wait_until(lambda: self.ended is not None,
                                       timeout):
            self.machine.end_late_job(self, timeout)
        return self._result(check)

    def stop(self, number: int = SIGTERM, timeout: float = 10) -> Result:
        """End a server: signal it and wait; killed when that is not enough."""
        if self.ended is None:
            self.signal(number)
            if not self.machine.wait_until(lambda: self.ended is not None,
                                           timeout):
                self.signal(SIGKILL)
        return self.wait(KILL_LIMIT)

    def _result(self, check: bool) -> Result:
        if self.error is not None:
            raise CommandFailed(self.machine.name, self.cmd, 127, "",
                                f"the guest could not start it: errno "
                                f"{self.error}")
        status = self.status or 0
        code = -(status & 0x7f) if status & 0x7f else status >> 8 & 0xff
        result = Result(code, self.out.decode(errors="replace"),
                        self.err.decode(errors="replace"),
                        (self.ended or self.began) - self.began,
                        bytes(self.out))
        if check and code:
            raise CommandFailed(self.machine.name, self.cmd, code,
                                result.out, result.err)
        return result

    def take(self, kind: Type, payload: bytes) -> None:
        """Take a frame of this job; called with machine.changed held."""
        if kind == Type.STDOUT:
            if self._on_output:
                with contextlib.suppress(OSError):  # whoever listened left
                    self._on_output(payload)
            else:
                self.out += payload
        elif kind == Type.STDERR:
            self.err += payload
        else:
            [word] = struct.unpack("<I", payload)
            if kind == Type.EXIT:
                self.status = word
            else:
                self.error = word
            self.ended = time.monotonic()
            if self._on_end:
                with contextlib.suppress(OSError):
                    self._on_end()
