# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A person's terminal joined to shells in the guests.

Door is the server: a Unix socket per host, each connection of which gets a
shell of its own on a terminal of its own. attach() is the client. Its first
line tells the size of the terminal; after that bytes go both ways as they are.
"""

import contextlib
import os
import select
import shutil
import socket
import sys
import termios
import threading
import tty
from pathlib import Path

from qemu.errors import LabError
from qemu.lab import Host

ESCAPE = b"\x1d"        # Ctrl-]
SHELL = "cd /root; exec bash"


class Door:
    """Serves shells of a host on a socket file until close()."""

    def __init__(self, host: Host, path: Path):
        self._host = host
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                peer, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(peer,),
                                 daemon=True).start()

    def _serve(self, peer: socket.socket) -> None:
        with peer, contextlib.suppress(OSError, LabError, ValueError):
            file = peer.makefile("rb", buffering=0)
            rows, columns = map(int, file.readline().split())
            job = self._host.start(
                SHELL, tty=True, env={"TERM": os.environ.get("TERM", "linux")},
                on_output=peer.sendall, on_end=lambda: peer.shutdown(
                    socket.SHUT_RDWR))
            job.resize(rows, columns)
            while data := peer.recv(4096):
                job.input(data)
            job.signal(1)       # SIGHUP: the terminal is gone

    def close(self) -> None:
        """Take no more connections."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


def connect(path: Path) -> socket.socket:
    """A new shell behind a door; OSError when nobody is there."""
    line = socket.socket(socket.AF_UNIX)
    line.connect(str(path))
    size = shutil.get_terminal_size()
    line.sendall(f"{size.lines} {size.columns}\n".encode())
    return line


@contextlib.contextmanager
def _raw():
    """Standard input without line editing and signals, as long as it lasts."""
    old = termios.tcgetattr(0)
    tty.setraw(0)
    try:
        yield
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, old)


def _say(text: str) -> None:
    os.write(1, f"\r\n{text}\r\n".encode())


def attach(doors: dict[str, Path], first: str) -> None:
    """Join the terminal to the shells behind these doors, until "quit".

    Ctrl-] and then a host's name goes to that host's shell, q ends. A shell
    that exits ends it too. Needs a terminal.
    """
    if not sys.stdin.isatty():
        raise LabError("standard input is no terminal; give commands as "
                       "lines instead: echo 'a: uname -r' | make shell")
    lines: dict[str, socket.socket] = {}
    current = first
    with _raw(), contextlib.ExitStack() as stack:
        while True:
            if current not in lines:
                lines[current] = stack.enter_context(connect(doors[current]))
            escaped = _pump(lines[current])
            if escaped is None or escaped == "q":
                return
            if escaped in doors:
                current = escaped
                _say(f"--- host {current}")
                if current in lines:
                    lines[current].sendall(b"\n")   # shows its prompt again
            else:
                _say(f"--- Ctrl-] then {', '.join(doors)}: go to that host, "
                     "q: end")


def _pump(line: socket.socket) -> str | None:
    """Move bytes until Ctrl-] (returns the key after it) or the end (None)."""
    while True:
        ready, _, _ = select.select([0, line], [], [])
        if line in ready:
            data = line.recv(65536)
            if not data:
                return None
            os.write(1, data)
        if 0 in ready:
            data = os.read(0, 4096)
            before, escape, after = data.partition(ESCAPE)
            if before:
                line.sendall(before)
            if escape:
                return (after[:1] or os.read(0, 1)).decode(errors="replace")
            if not data:
                return None
