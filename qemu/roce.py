# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""RoCEv2 packets as they are on the wire, decoded without the driver's help.

Source: IBTA volume 1, section 7.8.1 and annex A17 (RoCEv2).
"""

import struct
import zlib
from collections.abc import Iterable
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
    payload: bytes from the BTH's end to the ICRC; checksum: whether UDP has
    one, which is right then.
    """

    flow: bytes
    ip_id: int | None
    opcode: int
    qpn: int
    psn: int
    payload: int
    checksum: bool


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


def _checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071), 0 if data have their own and are well."""
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
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


def decode(frame: bytes, offloaded: bool = False) -> Packet | None:
    """The RoCEv2 packet in an Ethernet frame, or None if it has none.

    offloaded: the checksum of UDP may be that of the pseudo-header alone, as in
    a frame that has not left the memory of virtual machines.
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
    if ip_id is not None and _checksum(ip[:header]):
        raise BadPacket("IPv4's checksum is wrong")
    pseudo = addresses + struct.pack(">II", udp_length, 17)
    to_do = offloaded and checksum ^ 0xffff == _checksum(pseudo)
    if checksum and not to_do and _checksum(pseudo + ip[header:]):
        raise BadPacket("UDP's checksum is wrong")
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
                  len(bth) - BTH - ICRC, bool(checksum))


def saved(frames: Iterable[bytes]) -> bytes:
    """Ethernet frames as a file that tcpdump and Wireshark read, all of the
    same moment (pcap-savefile(5))."""
    parts = [struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 1 << 18, 1)]
    for frame in frames:
        parts += [struct.pack("<IIII", 0, 0, len(frame), len(frame)), frame]
    return b"".join(parts)


def captured(pcap: bytes) -> list[bytes]:
    """The Ethernet frames of a file that tcpdump has written on this kind of
    machine (pcap-savefile(5)); ValueError if it is another kind of file."""
    magic, link = struct.unpack_from("<I16xI", pcap)
    if magic not in (0xa1b2c3d4, 0xa1b23c4d) or link != 1:
        raise ValueError(f"magic 0x{magic:x}, link type {link}")
    frames, at = [], 24
    while at < len(pcap):
        [have, length] = struct.unpack_from("<8xII", pcap, at)
        if have != length or at + 16 + have > len(pcap):
            raise ValueError(f"a frame is cut off at byte {at}")
        frames.append(pcap[at + 16:at + 16 + have])
        at += 16 + have
    return frames
