# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A wire between two guests that loses, doubles and reorders packets.

    guest a -- socket -- relay (a thread per direction) -- socket -- guest b

Each packet has been cut to the MTU when it comes here, because a NIC on a
socket has no segmentation offload: faults hit packets of the wire, never a
whole unit. Only RoCEv2 packets are touched, so that ARP, neighbour discovery
and the tests' own TCP connections are as ever. Faults are drawn from a seeded
generator: the n-th packet of a direction always meets the same fate.
"""

import contextlib
import random
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

ROCE_PORT = 4791
HOLD_LIMIT = 0.005      # seconds after which a held packet goes anyway
HOLD_MOST = 3           # packets that may overtake a held one
CHUNK = 1 << 16

_LENGTH = struct.Struct(">I")


def is_roce(frame: bytes) -> bool:
    """Whether an Ethernet frame is a RoCEv2 packet over IPv4 or IPv6."""
    if frame[12:14] == b"\x08\x00":
        protocol, udp = frame[23:24], 14 + (frame[14] & 15) * 4
    elif frame[12:14] == b"\x86\xdd":
        protocol, udp = frame[20:21], 54
    else:
        return False
    return (protocol == b"\x11" and
            frame[udp + 2:udp + 4] == ROCE_PORT.to_bytes(2, "big"))


@dataclass
class Counts:
    """What befell the RoCEv2 packets of one direction."""

    seen: int = 0
    lost: int = 0
    doubled: int = 0
    late: int = 0


class Faults:
    """One direction: packets go in, what the other end gets comes out.

    loss, duplicate, reorder: probabilities, 0 to 1, of each.
    """

    def __init__(self, loss: float = 0, duplicate: float = 0,
                 reorder: float = 0, seed: int = 1):
        self.counts = Counts()
        self._loss = loss
        self._duplicate = duplicate
        self._reorder = reorder
        self._random = random.Random(seed)
        self._held: list[list] = []     # [packets still to overtake it, frame]

    def feed(self, frame: bytes) -> list[bytes]:
        """The frames to send on now that this one came."""
        if not is_roce(frame):
            return [frame]
        self.counts.seen += 1
        draw = self._random.random()
        if draw < self._loss:
            self.counts.lost += 1
            return []
        draw -= self._loss
        out = [frame]
        if draw < self._duplicate:
            self.counts.doubled += 1
            out = [frame, frame]
        elif draw - self._duplicate < self._reorder:
            self.counts.late += 1
            self._held.append([self._random.randint(1, HOLD_MOST), frame])
            return []
        return out + self._overtaken()

    def _overtaken(self) -> list[bytes]:
        for held in self._held:
            held[0] -= 1
        due = [frame for left, frame in self._held if left <= 0]
        self._held = [held for held in self._held if held[0] > 0]
        return due

    def flush(self) -> list[bytes]:
        """What is held, when nothing follows that could overtake it."""
        due = [frame for _, frame in self._held]
        self._held = []
        return due


def cut(buffer: bytearray) -> Iterator[bytes]:
    """Take whole frames off a stream's buffer (length, big endian; bytes)."""
    while len(buffer) >= _LENGTH.size:
        [length] = _LENGTH.unpack_from(buffer)
        if len(buffer) < _LENGTH.size + length:
            return
        frame = bytes(buffer[_LENGTH.size:_LENGTH.size + length])
        del buffer[:_LENGTH.size + length]
        yield frame


class FaultWire:
    """Two guests' NICs joined through this process; for lab.pair().

    forward: the Faults from a to b; back: those from b to a.
    """

    kind = "fault"

    def __init__(self):
        self.forward = Faults()
        self.back = Faults()
        self._change: Callable[[bytes], bytes] = lambda frame: frame
        self._guests, self._ours = {}, {}
        for name in ("a", "b"):
            self._guests[name], self._ours[name] = socket.socketpair()
        self._threads = [
            threading.Thread(target=self._relay, args=args, daemon=True)
            for args in (("a", "b", "forward"), ("b", "a", "back"))]
        for thread in self._threads:
            thread.start()

    def prefix(self) -> list[str]:
        """There is no network namespace: nothing."""
        return []

    def netdev(self, host: str) -> str:
        """QEMU's -netdev argument of host "a" or "b"."""
        return f"socket,id=n0,fd={self._guests[host].fileno()}"

    def pass_fds(self, host: str) -> tuple[int, ...]:
        """Descriptors that the guest's process inherits for its NIC."""
        return (self._guests[host].fileno(),)

    @contextlib.contextmanager
    def faults(self, seed: int = 1, **rates: float) -> Iterator[None]:
        """Faults in both directions until the block ends."""
        self.forward = Faults(seed=seed, **rates)
        self.back = Faults(seed=seed + 1, **rates)
        try:
            yield
        finally:
            self.forward, self.back = Faults(), Faults()

    @contextlib.contextmanager
    def changed(self, change: Callable[[bytes], bytes]) -> Iterator[None]:
        """Have a function replace each frame, of both directions, until the
        block ends, after those of the blocks around it; two threads call it,
        and an error of it ends the wire.
        """
        old = self._change
        self._change = lambda frame: change(old(frame))
        try:
            yield
        finally:
            self._change = old

    def watched(self, look: Callable[[bytes], None]
                ) -> contextlib.AbstractContextManager[None]:
        """Likewise have a function see each frame."""
        def seen(frame: bytes) -> bytes:
            look(frame)
            return frame
        return self.changed(seen)

    def _relay(self, source: str, target: str, which: str) -> None:
        """Move frames one way until a guest closes its end."""
        buffer = bytearray()
        faults = getattr(self, which)
        self._ours[source].settimeout(HOLD_LIMIT)
        with contextlib.suppress(OSError):
            while True:
                out = []
                if faults is not getattr(self, which):
                    out, faults = faults.flush(), getattr(self, which)
                try:
                    data = self._ours[source].recv(CHUNK)
                    if not data:
                        return
                    buffer += data
                except TimeoutError:
                    out += faults.flush()
                for frame in map(self._change, cut(buffer)):
                    out += faults.feed(frame)
                if out:
                    self._send(target, out)

    def _send(self, target: str, frames: list[bytes]) -> None:
        data = b"".join(_LENGTH.pack(len(f)) + f for f in frames)
        # The relay's reading end has a short limit, which is no failure of
        # writing: go on until all is taken.
        view = memoryview(data)
        while view:
            with contextlib.suppress(TimeoutError):
                view = view[self._ours[target].send(view):]

    def close(self) -> None:
        """End the relay; the guests must have ended."""
        for end in [*self._ours.values(), *self._guests.values()]:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for end in [*self._ours.values(), *self._guests.values()]:
            end.close()
