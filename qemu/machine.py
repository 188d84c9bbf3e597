# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A guest that runs, and the host's end of the agent in it.

A Machine is the same for QEMU and User-mode Linux: a process with a console
file and a socket to the agent. One thread per machine reads the socket; any
thread may run commands, several at once.
"""

import contextlib
import re
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from signal import SIGKILL

from qemu import procs, splat, wire
from qemu.errors import (GuestError, GuestGone, GuestHang, GuestPanic,
                         JobTimeout)
from qemu.job import KILL_LIMIT, Job, Result
from qemu.limits import scaled
from qemu.line import Line
from qemu.wire import Type

__all__ = ["Job", "Machine", "Result"]

TAIL = 40               # lines of the console in a message
BOOT_LIMIT = 120.0      # seconds until the agent must have said HELLO
PONG_LIMIT = 20.0       # seconds in which a living guest answers
LAST_WORDS = 3.0        # seconds for a hanging guest to say where
EXIT_LIMIT = 10.0       # seconds for a guest to power off, or to panic

_PANIC = re.compile(r"Kernel panic - not syncing.*")


class Machine:
    """A guest, from the start of its process to its end.

    name:    for messages;
    argv:    the whole command;
    line:    our end of the agent's socket; theirs is in pass_fds;
    console: the file that the guest's console is written to;
    output_is_console: the process's own output is the console;
    on_hang: called when the guest hangs, to make it say where;
    window: bytes that may be under way to the guest, 0: any number.

    Raises GuestError when the agent does not come up.
    """

    def __init__(self, name: str, argv: list[str], line: socket.socket,
                 console: Path, pass_fds: tuple[int, ...] = (),
                 env: dict[str, str] | None = None,
                 output_is_console: bool = False,
                 on_hang: Callable[[], None] | None = None,
                 window: int = 0):
        self.name = name
        self.console = console
        self.changed = threading.Condition()
        self.release = ""               # the guest kernel's, from HELLO
        self.boot_seconds = 0.0         # start of the process to HELLO
        self.failure: GuestError | None = None
        self._line = Line(line, window)
        self._on_hang = on_hang
        self._jobs: dict[int, Job] = {}
        self._next = 1
        self._pongs = 0
        self._closed = False
        self._line_lost = ""
        console.touch()
        self._splats = splat.Watcher(console)
        self._log = (console if output_is_console
                     else console.with_suffix(".err")).open("ab")
        self._began = time.monotonic()
        self.proc = procs.start(argv, stdin=subprocess.DEVNULL,
                                stdout=self._log, stderr=self._log,
                                pass_fds=pass_fds, env=env)
        self._reader = threading.Thread(target=self._read, daemon=True,
                                        name=f"agent of {name}")
        self._reader.start()

    def wait_boot(self, limit: float | None = None) -> None:
        """Wait for the agent; raises GuestError and ends the guest if late.

        limit: seconds since the start; BOOT_LIMIT, scaled for slow kernels.
        """
        limit = limit or scaled(BOOT_LIMIT)
        left = limit - (time.monotonic() - self._began)
        if not self.wait_until(lambda: bool(self.release), left):
            self._fail(GuestHang, f"no word from the agent {limit:.0f} s "
                                  "after the start")

    # -- commands ----------------------------------------------------------

    def start(self, cmd: str, cwd: str = "", env: dict[str, str] | None = None,
              tty: bool = False,
              on_output: Callable[[bytes], None] | None = None,
              on_end: Callable[[], None] | None = None) -> Job:
        """Start a shell command and return at once.

        tty: on a terminal of its own. on_output: gets standard output as it
        comes instead of Job.out; on_end: is called at the end. Both run in
        the reader's thread: they must not wait for this machine.
        """
        self.check()
        with self.changed:
            job = Job(self, self._next, cmd, on_output, on_end)
            self._jobs[job.number] = job
            self._next += 1
        self.send(wire.start(job.number, cmd, cwd, env, tty))
        return job

    def run(self, cmd: str, timeout: float = 60,
            check: bool = False) -> Result:
        """Run a shell command to its end.

        timeout: seconds of wall clock. check: another exit status than 0
        raises CommandFailed. Raises JobTimeout when the command alone is
        late, and GuestPanic, GuestHang or GuestGone when the guest is lost.
        """
        return self.start(cmd).wait(timeout, check)

    def splats(self) -> list[str]:
        """Kernel splats on the console since the last call."""
        return self._splats.new()

    def tail(self, lines: int = TAIL) -> str:
        """The last lines of the console, or of the process's own errors."""
        text = self.console.read_text(errors="replace").rstrip()
        if not text:
            text = Path(self._log.name).read_text(errors="replace").rstrip()
        return "\n".join(text.splitlines()[-lines:])

    # -- state -------------------------------------------------------------

    def check(self) -> None:
        """Raise what befell the guest, if something did."""
        if self.failure:
            raise self.failure
        if self._closed:
            raise GuestGone(f"{self.name}: it has been shut down")

    def wait_until(self, condition: Callable[[], bool], limit: float) -> bool:
        """Wait for a condition that a frame makes true; False when late.

        Raises the GuestError if the guest is lost meanwhile.
        """
        end = time.monotonic() + limit
        with self.changed:
            while not condition():
                if self.failure or self._line_lost:
                    break
                left = end - time.monotonic()
                if left <= 0:
                    return False
                if not self.changed.wait(min(left, 1.0)):
                    self._line.nudge()
            else:
                return True
        if not self.failure:
            self._diagnose()
        raise self.failure

    def end_late_job(self, job: Job, timeout: float) -> None:
        """Kill a job that is late and raise what it was.

        Returns when the job ended by itself in the last moment.
        """
        pongs = self._pongs
        self.send(wire.frame(Type.PING))
        if not self.wait_until(lambda: self._pongs > pongs, PONG_LIMIT):
            self._fail(GuestHang, f"hangs: no answer for {PONG_LIMIT:.0f} s "
                       f"after {timeout:.0f} s of: {job.cmd}")
        if job.ended is not None:
            return
        job.signal(SIGKILL)
        if not self.wait_until(lambda: job.ended is not None, KILL_LIMIT):
            self._fail(GuestHang, "a process cannot be killed (it waits in "
                       f"the kernel), {timeout:.0f} s into: {job.cmd}")
        raise JobTimeout(f"{self.name}: killed after {timeout:.0f} s: "
                         f"{job.cmd}", job.output(), job.errors())

    def power_off(self) -> None:
        """Ask the guest to power off; close() waits for it."""
        if not self._closed and not self.failure:
            with contextlib.suppress(GuestError, OSError):
                self.send(wire.frame(Type.POWEROFF))

    def close(self) -> None:
        """Power the guest off, kill it if it does not; idempotent."""
        if self._closed:
            return
        self.power_off()
        self._closed = True
        if not self.failure:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.proc.wait(EXIT_LIMIT)
        self._end()

    def _end(self) -> None:
        procs.end(self.proc)
        self._line.close()
        self._reader.join(EXIT_LIMIT)
        self._log.close()

    # -- the line ----------------------------------------------------------

    def send(self, data: bytes) -> None:
        """Send a frame; a guest that does not take it in time hangs."""
        try:
            taken = self._line.send(data, PONG_LIMIT)
        except (OSError, ValueError):   # closed by the guest, or by us
            self._diagnose()
            raise self.failure from None
        if not taken:
            self._fail(GuestHang, "hangs: takes no more commands")

    def _read(self) -> None:
        decoder = wire.Decoder()
        why = "the agent closed its line"
        try:
            while data := self._line.recv():
                for kind, number, payload in decoder.feed(data):
                    self._take(kind, number, payload)
        except (OSError, wire.BrokenStream, struct.error) as error:
            why = f"the agent's line broke: {error}"
        self._line.lose()
        with self.changed:
            self._line_lost = why
            self.changed.notify_all()

    def _take(self, kind: Type, number: int, payload: bytes) -> None:
        with self.changed:
            if kind == Type.HELLO:
                self.release = payload.decode(errors="replace")
                self.boot_seconds = time.monotonic() - self._began
            elif kind == Type.PONG:
                self._pongs += 1
            elif kind == Type.TOOK:
                self._line.took(struct.unpack("<I", payload)[0])
            elif number in self._jobs:
                job = self._jobs[number]
                job.take(kind, payload)
                if job.ended is not None:
                    del self._jobs[number]
            self.changed.notify_all()

    def _diagnose(self) -> None:
        """The line is lost: find out why, from the console and the process."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.proc.wait(EXIT_LIMIT)
        panic = _PANIC.search(self.console.read_text(errors="replace"))
        code = self.proc.poll()
        if panic:
            self._set_failure(GuestPanic, panic[0].strip())
        elif code is None:
            self._set_failure(GuestGone, self._line_lost
                              or "the agent's line is closed")
        else:
            self._set_failure(GuestGone, f"its process ended (status {code}) "
                                         "without a panic")

    def _set_failure(self, kind: type[GuestError], text: str) -> None:
        if not self.failure:
            self.failure = kind(f"{self.name}: {text}", self.tail())

    def _fail(self, kind: type[GuestError], text: str) -> None:
        """Give the guest up: end it and raise."""
        if kind is GuestHang and self._on_hang and not self.failure:
            self._on_hang()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.proc.wait(LAST_WORDS)
        self._set_failure(kind, text)
        self._end()
        with self.changed:
            self.changed.notify_all()
        raise self.failure
