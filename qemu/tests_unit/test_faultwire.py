# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The wire that loses, doubles and reorders: which packets, and no others."""

import os
import struct
import unittest

from qemu.faultwire import HOLD_MOST, Faults, FaultWire, cut, is_roce

COUNT = 4000


def frame(number: int, port: int = 4791, version: int = 4) -> bytes:
    """An Ethernet frame with UDP in IPv4 (no options) or IPv6."""
    udp = struct.pack(">HHHH", 50000, port, 12, 0) + number.to_bytes(4, "big")
    if version == 4:
        return bytes(12) + b"\x08\x00\x45" + bytes(8) + b"\x11" + bytes(
            10) + udp
    return bytes(12) + b"\x86\xdd\x60" + bytes(5) + b"\x11" + bytes(33) + udp


def number(data: bytes) -> int:
    return int.from_bytes(data[-4:], "big")


def through(faults: Faults) -> list[int]:
    """The numbers that arrive when COUNT packets are sent."""
    out = [f for n in range(COUNT) for f in faults.feed(frame(n))]
    return [number(f) for f in out + faults.flush()]


class Packets(unittest.TestCase):
    def test_roce_is_known_by_its_port(self):
        self.assertTrue(is_roce(frame(1)))
        self.assertTrue(is_roce(frame(1, version=6)))
        self.assertFalse(is_roce(frame(1, port=4792)))
        self.assertFalse(is_roce(bytes(12) + b"\x08\x06" + bytes(40)))
        self.assertFalse(is_roce(b""))

    def test_others_pass_untouched(self):
        faults = Faults(loss=1.0)
        other = frame(1, port=53)
        self.assertEqual(faults.feed(other), [other])
        self.assertEqual(faults.counts.seen, 0)

    def test_frames_are_cut_off_a_stream(self):
        frames = [b"one", b"", b"three" * 100]
        stream = b"".join(struct.pack(">I", len(f)) + f for f in frames)
        buffer, found = bytearray(), []
        for at in range(0, len(stream), 7):
            buffer += stream[at:at + 7]
            found += cut(buffer)
        self.assertEqual((found, buffer), (frames, b""))


class Fates(unittest.TestCase):
    def test_without_faults_nothing_changes(self):
        self.assertEqual(through(Faults()), list(range(COUNT)))

    def test_loss(self):
        faults = Faults(loss=0.05)
        arrived = through(faults)
        self.assertEqual(len(arrived), COUNT - faults.counts.lost)
        self.assertEqual(arrived, sorted(set(arrived)))
        self.assertAlmostEqual(faults.counts.lost / COUNT, 0.05, delta=0.02)

    def test_duplicates(self):
        faults = Faults(duplicate=0.05)
        arrived = through(faults)
        self.assertEqual(sorted(set(arrived)), list(range(COUNT)))
        self.assertEqual(len(arrived), COUNT + faults.counts.doubled)
        self.assertGreater(faults.counts.doubled, COUNT * 0.03)

    def test_reorder_moves_packets_a_little_and_loses_none(self):
        faults = Faults(reorder=0.05)
        arrived = through(faults)
        self.assertEqual(sorted(arrived), list(range(COUNT)))
        late = [n for at, n in enumerate(arrived[1:], 1)
                if n < arrived[at - 1]]
        self.assertGreater(len(late), COUNT * 0.03)
        # Held packets may hold each other up, but none is stranded.
        self.assertLess(max(abs(at - n) for at, n in enumerate(arrived)),
                        4 * HOLD_MOST)

    def test_the_same_seed_has_the_same_fates(self):
        self.assertEqual(through(Faults(loss=0.1, seed=7)),
                         through(Faults(loss=0.1, seed=7)))
        self.assertNotEqual(through(Faults(loss=0.1, seed=7)),
                            through(Faults(loss=0.1, seed=8)))


class Wire(unittest.TestCase):
    """The relay itself, between two ends that are no guests."""

    def setUp(self):
        self.wire = FaultWire()
        self.addCleanup(self.wire.close)
        self.fds = {host: self.wire.pass_fds(host)[0] for host in "ab"}

    def send(self, data: bytes) -> bytes:
        """What b gets when a sends a frame."""
        os.write(self.fds["a"], struct.pack(">I", len(data)) + data)
        got = os.read(self.fds["b"], 1 << 16)
        self.assertEqual(struct.unpack(">I", got[:4])[0], len(got) - 4)
        return got[4:]

    def test_a_frame_is_changed_until_the_block_ends(self):
        with self.wire.changed(lambda data: data[:-1] + b"!"):
            self.assertEqual(self.send(frame(1))[-1:], b"!")
        self.assertEqual(self.send(frame(1)), frame(1))

    def test_what_is_seen_is_what_leaves(self):
        seen = []
        with self.wire.changed(lambda data: data + b"more"), \
                self.wire.watched(seen.append):
            self.assertEqual([self.send(frame(2))], seen)
