# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The host's end of the socket to an agent: sends whole frames in turn.

User-mode Linux offers a tty as the other end, with two faults on several
CPUs: it loses the order of bytes when the tty's buffer fills up, and now and
then it misses that the socket became ready. Hence a window of bytes that may
be under way, and nudges: anything sent is a new interrupt.
"""

import contextlib
import select
import socket
import threading
import time

from qemu import wire

TTY_ROOM = 3500         # bytes that a guest's tty takes for certain
NUDGE_AFTER = 1.0       # seconds of silence


class Line:
    """Sends frames, from any thread.

    window: how many bytes may be under way; 0: any number.
    """

    def __init__(self, sock: socket.socket, window: int = 0):
        self._sock = sock
        self._window = window
        self._under_way = 0
        self._lost = False
        self._turn = threading.Lock()
        self._room = threading.Condition()

    def recv(self) -> bytes:
        """What came; nothing when the other end is closed."""
        return self._sock.recv(65536)

    def took(self, count: int) -> None:
        """The guest has taken `count` more bytes out of its tty."""
        with self._room:
            self._under_way -= count
            self._room.notify_all()

    def lose(self) -> None:
        """The other end is gone: whoever sends gets an OSError."""
        with self._room:
            self._lost = True
            self._room.notify_all()

    def close(self) -> None:
        """Close it; a recv() in another thread returns."""
        self.lose()
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)
        self._sock.close()

    def send(self, data: bytes, limit: float) -> bool:
        """Send all; False when the guest takes nothing more of it.

        limit: seconds without progress. Raises OSError when the other end is
        gone.
        """
        end = time.monotonic() + limit
        view = memoryview(data)
        with self._turn:
            while view:
                sent = self._send_some(view, NUDGE_AFTER)
                view = view[sent:]
                if sent:
                    end = time.monotonic() + limit
                elif time.monotonic() > end:
                    return False
        return True

    def nudge(self) -> None:
        """Interrupt a silent guest that has a tty, but not within a frame."""
        if not self._window or not self._turn.acquire(blocking=False):
            return
        try:
            with contextlib.suppress(OSError):
                if self._under_way < TTY_ROOM:
                    self._write(wire.frame(wire.Type.PING))
        finally:
            self._turn.release()

    def _send_some(self, view: memoryview, limit: float) -> int:
        """Wait for room and send what fits: so many bytes."""
        if self._window:
            with self._room:
                self._room.wait_for(
                    lambda: self._lost or self._under_way < self._window,
                    limit)
                fits = self._window - self._under_way
            if fits <= 0 and self._under_way >= TTY_ROOM:
                return 0
            view = view[:max(fits, 1)]      # at least a nudge
        if self._lost:
            raise BrokenPipeError("the agent's line is closed")
        if not select.select([], [self._sock], [], limit)[1]:
            return 0
        with contextlib.suppress(BlockingIOError):
            return self._write(view)
        return 0

    def _write(self, data: bytes | memoryview) -> int:
        with self._room:        # took() waits until it is counted
            sent = self._sock.send(data, socket.MSG_DONTWAIT
                                   | socket.MSG_NOSIGNAL)
            self._under_way += sent
        return sent
