# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The frames between host and agent; guest/agent.h is the other end."""

import enum
import struct
from collections.abc import Iterator

HEADER = struct.Struct("<IBI")      # length of the payload, type, job
LIMIT = 1 << 20                     # longer frames are a broken stream


class Type(enum.IntEnum):
    """Frame types, numbered as in agent.h."""

    START = 1
    START_TTY = 2
    STDIN = 3
    SIGNAL = 4
    RESIZE = 5
    PING = 6
    POWEROFF = 7
    HELLO = 16
    STDOUT = 17
    STDERR = 18
    EXIT = 19
    STARTFAIL = 20
    PONG = 21
    TOOK = 22


class BrokenStream(Exception):
    """What came is no sequence of frames."""


def frame(kind: Type, job: int = 0, payload: bytes = b"") -> bytes:
    """One frame, ready to be sent; ValueError when the payload is too long."""
    if len(payload) > LIMIT:
        raise ValueError(f"frame of {len(payload)} bytes, {LIMIT} at most")
    return HEADER.pack(len(payload), kind, job) + payload


def start(job: int, cmd: str, cwd: str = "", env: dict[str, str] | None = None,
          tty: bool = False) -> bytes:
    """The frame that starts a shell command in the guest."""
    words = [cmd, cwd, *(f"{k}={v}" for k, v in (env or {}).items())]
    if any("\0" in word for word in words):
        raise ValueError("a command cannot hold a NUL")
    payload = b"".join(word.encode() + b"\0" for word in words)
    return frame(Type.START_TTY if tty else Type.START, job, payload)


class Decoder:
    """Cuts a byte stream into frames."""

    def __init__(self):
        self._rest = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[Type, int, bytes]]:
        """Yield (type, job, payload) of the frames that data completes."""
        self._rest += data
        while len(self._rest) >= HEADER.size:
            length, kind, job = HEADER.unpack_from(self._rest)
            if length > LIMIT or kind not in Type._value2member_map_:
                raise BrokenStream(f"frame of type {kind}, {length} bytes")
            end = HEADER.size + length
            if len(self._rest) < end:
                return
            payload = bytes(self._rest[HEADER.size:end])
            del self._rest[:end]
            yield Type(kind), job, payload
