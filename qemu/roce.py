# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""RoCEv2 packets as they are on the wire, decoded without the driver's help.

Source: IBTA volume 1, section 7.8.1 and annex A17 (RoCEv2).
"""

import struct
import zlib
from dataclasses import dataclass

ETHERNET = 14           # bytes of its header
IPV6, UDP, BTH, ICRC = 40, 8, 12, 4
PORT = 4791
LRH = b"\xff" * 8       # what takes the place of InfiniBand's own header


class BadPacket(ValueError):
    """A packet that no RoCEv2 device may send; the text says why."""


@dataclass(frozen=True)
class Packet:
    """A RoCEv2 packet.

    flow: addresses and source port; ip_id: None for IPv6; psn: 24 bits;
    payload: bytes from the BTH's end to the ICRC.
    """

    flow: bytes
    ip_id: int | None
    opcode: int
    qpn: int
    psn: int
    payload: int


def icrc(ip: bytes, header: int) -> int:
    """The invariant CRC of a packet.

    ip: from the IP header to the ICRC, exclusive; header: the former's bytes.
    """
    masked = bytearray(ip)
    if header == IPV6:
        masked[0] |= 0x0f
        for at in (1, 2, 3, 7):             # traffic class, flow, hop limit
            masked[at] = 0xff
    else:
        for at in (1, 8, 10, 11):           # type of service, TTL, checksum
            masked[at] = 0xff
    masked[header + 6] = masked[header + 7] = 0xff      # UDP checksum
    masked[header + UDP + 4] = 0xff                     # FECN, BECN, reserved
    return zlib.crc32(LRH + masked)


def _ipv4_checksum(header: bytes) -> int:
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total ^ 0xffff


def seal(frame: bytes) -> bytes:
    """A frame of a RoCEv2 packet over IPv4 with the ICRC that it should have.

    Nothing may follow the packet.
    """
    ip = frame[ETHERNET:-ICRC]
    return (frame[:ETHERNET] + ip +
            struct.pack("<I", icrc(ip, (ip[0] & 15) * 4)))


def decode(frame: bytes) -> Packet | None:
    """The RoCEv2 packet in an Ethernet frame, or None if it has none.

    BadPacket if lengths, checksums or ICRC are wrong.
    """
    kind = frame[12:14]
    if kind == b"\x08\x00":
        header = (frame[14] & 15) * 4
        [length, ip_id] = struct.unpack_from(">HH", frame, ETHERNET + 2)
        protocol, addresses = frame[23], frame[26:34]
    elif kind == b"\x86\xdd":
        header, ip_id = IPV6, None
        length = IPV6 + int.from_bytes(frame[18:20], "big")
        protocol, addresses = frame[20], frame[22:54]
    else:
        return None
    ip = frame[ETHERNET:ETHERNET + length]
    if protocol != 17:
        return None
    source, port, udp_length, checksum = struct.unpack_from(">4H", ip, header)
    if port != PORT:
        return None

    if len(ip) != length or udp_length != length - header:
        raise BadPacket(f"IP says {length} bytes, UDP {udp_length}, "
                        f"the frame has {len(frame) - ETHERNET}")
    if ip_id is not None and _ipv4_checksum(ip[:header]):
        raise BadPacket("IPv4's checksum is wrong")
    if checksum:
        raise BadPacket("UDP's checksum is not 0")
    if length < header + UDP + BTH + ICRC:
        raise BadPacket(f"{length} bytes have no room for BTH and ICRC")
    [sent] = struct.unpack("<I", ip[-ICRC:])
    if sent != icrc(ip[:-ICRC], header):
        raise BadPacket(f"ICRC 0x{sent:08x}, expected "
                        f"0x{icrc(ip[:-ICRC], header):08x}")
    bth = ip[header + UDP:]
    return Packet(addresses + source.to_bytes(2, "big"), ip_id, bth[0],
                  int.from_bytes(bth[5:8], "big"),
                  int.from_bytes(bth[9:12], "big"),
                  len(bth) - BTH - ICRC)
