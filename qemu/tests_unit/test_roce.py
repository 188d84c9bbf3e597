# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Packets decoded, and each kind of wrong byte found."""

import struct
import unittest

from qemu import roce

BODY = bytes(range(16))


def packet(ipv6: bool, payload: bytes = BODY) -> bytearray:
    """A frame with a right ICRC, opcode 10, QPN 0x11, PSN 0x22."""
    bth = bytes([10, 0, 0xff, 0xff, 0, 0, 0, 0x11, 0, 0, 0, 0x22])
    udp_length = 8 + len(bth) + len(payload) + 4
    udp = struct.pack(">4H", 50000, roce.PORT, udp_length, 0)
    if ipv6:
        ip = struct.pack(">IHBB", 6 << 28, udp_length, 17, 64) + bytes(32)
        kind = b"\x86\xdd"
    else:
        ip = bytearray(struct.pack(">BBHHHBBH", 0x45, 0, 20 + udp_length,
                                   7, 0x4000, 64, 17, 0) + bytes(8))
        struct.pack_into(">H", ip, 10, roce._checksum(bytes(ip)))
        kind = b"\x08\x00"
    rest = bytes(ip) + udp + bth + payload
    crc = roce.icrc(rest, len(ip))
    return bytearray(bytes(12) + kind + rest + struct.pack("<I", crc))


class Decode(unittest.TestCase):
    def test_fields(self):
        for ipv6 in (False, True):
            found = roce.decode(bytes(packet(ipv6)))
            self.assertEqual((found.opcode, found.qpn, found.psn,
                              found.payload), (10, 0x11, 0x22, len(BODY)))
            self.assertEqual(found.ip_id, None if ipv6 else 7)

    def test_padding_of_short_frames_is_ignored(self):
        self.assertIsNotNone(roce.decode(bytes(packet(False)) + bytes(4)))

    def test_what_routers_change_is_not_covered(self):
        frame = packet(True)
        frame[14 + 7] -= 1
        self.assertIsNotNone(roce.decode(bytes(frame)))

    def test_any_other_byte_is_covered(self):
        frame = packet(False)
        for at in range(14 + 28 + 12, len(frame)):
            wrong = bytearray(frame)
            wrong[at] ^= 1
            with self.assertRaises(roce.BadPacket):
                roce.decode(bytes(wrong))

    def test_wrong_lengths_and_checksums(self):
        for ipv6, at in ((False, 14 + 10), (False, 14 + 20 + 5),
                         (True, 14 + 40 + 5), (False, 14 + 20 + 7)):
            frame = packet(ipv6)
            frame[at] ^= 1
            with self.assertRaises(roce.BadPacket):
                roce.decode(bytes(frame))

    def test_checksum_of_udp_may_be_there_and_right(self):
        for ipv6 in (False, True):
            frame = packet(ipv6, BODY + b"x" * 3)
            header = 40 if ipv6 else 20
            addresses = frame[22:54] if ipv6 else frame[26:34]
            udp = frame[14 + header:]
            pseudo = bytes(addresses) + struct.pack(">II", len(udp), 17)
            self.assertFalse(roce.decode(bytes(frame)).checksum)
            alone = bytearray(frame)
            struct.pack_into(">H", alone, 14 + header + 6,
                             roce._checksum(pseudo) ^ 0xffff)
            self.assertTrue(roce.decode(bytes(alone), True).checksum)
            with self.assertRaisesRegex(roce.BadPacket, "UDP's checksum"):
                roce.decode(bytes(alone))
            struct.pack_into(">H", frame, 14 + header + 6,
                             roce._checksum(pseudo + bytes(udp)))
            self.assertTrue(roce.decode(bytes(frame)).checksum)
            frame[14 + header + 6] ^= 1
            with self.assertRaisesRegex(roce.BadPacket, "UDP's checksum"):
                roce.decode(bytes(frame))

    def test_others_are_none_of_its_business(self):
        frame = packet(False)
        frame[14 + 20 + 3] ^= 1             # another port
        self.assertIsNone(roce.decode(bytes(frame)))
        self.assertIsNone(roce.decode(b"\xff" * 12 + b"\x08\x06" + bytes(46)))

    def test_a_changed_packet_is_sealed_again(self):
        frame = packet(False)
        frame[-8] ^= 1
        with self.assertRaises(roce.BadPacket):
            roce.decode(bytes(frame))
        sealed = roce.seal(bytes(frame))
        self.assertEqual(roce.decode(sealed).psn, 0x22)
        self.assertEqual(sealed[:-4], bytes(frame)[:-4])


class Captured(unittest.TestCase):
    HEAD = struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, 1)

    def test_frames(self):
        frames = [b"a" * 60, b"b"]
        file = self.HEAD + b"".join(
            struct.pack("<4I", 1, 2, len(frame), len(frame)) + frame
            for frame in frames)
        self.assertEqual(roce.captured(file), frames)
        self.assertEqual(roce.captured(self.HEAD), [])
        with self.assertRaisesRegex(ValueError, "cut off"):
            roce.captured(file[:-1])

    def test_another_file(self):
        with self.assertRaisesRegex(ValueError, "magic"):
            roce.captured(bytes(24))
        with self.assertRaisesRegex(ValueError, "cut off"):
            roce.captured(self.HEAD + struct.pack("<4I", 1, 2, 3, 4) + b"abc")


if __name__ == "__main__":
    unittest.main()
