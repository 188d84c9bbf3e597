# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What tshark is asked, and that it objects to what is no packet of ours."""

import unittest
from unittest import mock

from qemu import roce, tshark
from qemu.tests_unit.test_roce import packet


class Headers(unittest.TestCase):
    def test_what_roce_says_too(self):
        frames = [bytes(packet(ipv6, bytes(16) + data))
                  for ipv6 in (False, True) for data in (b"", b"x" * 4096)]
        for frame, found in zip(frames, tshark.headers(frames), strict=True):
            ours = roce.decode(frame)
            self.assertEqual(found, (ours.opcode, ours.qpn, ours.psn))

    def test_another_protocol(self):
        other = packet(False)
        other[14 + 20 + 2] ^= 1                     # UDP's port
        with self.assertRaisesRegex(tshark.Undissected, "packet 2 is no"):
            tshark.headers([bytes(packet(False)), bytes(other)])

    def test_a_header_that_is_cut_off(self):
        # A WRITE whose RETH has 12 of its 16 bytes.
        with self.assertRaisesRegex(tshark.Undissected, "packet 1 is malf"):
            tshark.headers([bytes(packet(False, bytes(8)))])

    def test_a_payload_that_looks_like_another_protocol(self):
        # Said of a SEND whose bytes were a test pattern.
        row = "4\t0x000011\t8699521\t[Malformed Packet: RPCoRDMA],_ws.malformed"
        self.assertEqual(tshark._header(row, 1), (4, 0x11, 8699521))

    def test_no_tshark(self):
        with (mock.patch.object(tshark.subprocess, "run",
                                side_effect=FileNotFoundError("tshark")),
              self.assertRaisesRegex(tshark.Undissected, "make deps")):
            tshark.headers([])


if __name__ == "__main__":
    unittest.main()
