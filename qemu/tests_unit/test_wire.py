# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Frames: both directions, cut anywhere, and broken ones."""

import re
import unittest
from pathlib import Path

from qemu import wire
from qemu.wire import Type

HEADER = Path(wire.__file__).parent / "guest/agent.h"


class Frames(unittest.TestCase):
    def test_what_is_sent_is_received_wherever_it_is_cut(self):
        stream = (wire.frame(Type.STDOUT, 7, b"hello") + wire.frame(Type.PONG)
                  + wire.frame(Type.EXIT, 7, b"\0\0\0\0"))
        want = [(Type.STDOUT, 7, b"hello"), (Type.PONG, 0, b""),
                (Type.EXIT, 7, b"\0\0\0\0")]
        for cut in range(len(stream) + 1):
            decoder = wire.Decoder()
            got = [*decoder.feed(stream[:cut]), *decoder.feed(stream[cut:])]
            self.assertEqual(got, want)

    def test_broken_streams_are_noticed(self):
        for bad in (wire.HEADER.pack(wire.LIMIT + 1, Type.STDOUT, 1),
                    wire.HEADER.pack(0, 99, 1)):
            with self.assertRaises(wire.BrokenStream):
                list(wire.Decoder().feed(bad))

    def test_a_payload_too_long_is_refused(self):
        with self.assertRaises(ValueError):
            wire.frame(Type.STDIN, 1, bytes(wire.LIMIT + 1))

    def test_a_command_is_strings_each_with_its_nul(self):
        data = wire.start(3, "echo $X", "/tmp", {"X": "1"})
        self.assertEqual(data[wire.HEADER.size:], b"echo $X\0/tmp\0X=1\0")

    def test_a_command_with_a_nul_is_refused(self):
        with self.assertRaises(ValueError):
            wire.start(1, "true\0rm")


class OtherEnd(unittest.TestCase):
    """The C header numbers the frames as we do."""

    def test_types_agree(self):
        theirs = {name: int(number) for name, number in re.findall(
            r"FRAME_(\w+)\s*= (\d+),", HEADER.read_text())}
        self.assertEqual(theirs, {t.name: t.value for t in Type})

    def test_limits_agree(self):
        self.assertIn("#define FRAME_MAX (1u << 20)", HEADER.read_text())
        self.assertEqual(wire.LIMIT, 1 << 20)


if __name__ == "__main__":
    unittest.main()
