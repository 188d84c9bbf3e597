# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""checks every byte of packets that a device on their way has cut from units."""

import base64
import contextlib
from collections.abc import Iterator

from qemu import roce
from qemu.peers import largest_unit, serving, traced, verbs_check
from qemu.verdict import Lacking

REQUIRES = {"tools": ("tcpdump", "ethtool"), "seconds": 150,
            "two_guests": True}
FILE = "/tmp/units.pcap"


@contextlib.contextmanager
def nothing_whole(host) -> Iterator[None]:
    """A host's NIC takes no units until the block ends: the one before cuts."""
    if host.run(f"ethtool -K {host.netdev} rx-gro-hw off").code:
        raise Lacking("the NIC cannot be made to take single packets")
    try:
        yield
    finally:
        host.sh(f"ethtool -K {host.netdev} rx-gro-hw on")


def decoded(frames: list[bytes]) -> list[roce.Packet]:
    """The packets of frames; AssertionError if one is wrong."""
    packets = []
    for frame in frames:
        try:
            packets.append(roce.decode(frame, offloaded=True))
        except roce.BadPacket as bad:
            raise AssertionError(f"{bad} ({frame[:80].hex()})") from bad
    return [packet for packet in packets if packet]


def run(lab):
    if not lab.facts["uso"]:
        raise Lacking("the guests' NICs do not cut UDP packets")
    capture = (f"exec tcpdump -Z root -n -i {lab.b.netdev} -U -w {FILE} "
               f"udp dst port {roce.PORT} 2>&1")
    with traced(lab.a, "rxe_unit") as units, nothing_whole(lab.b):
        with serving(lab.b, capture, ready="listening on"):
            for family in (4, 6):
                verbs_check(lab, "-t rc -D 32 -l 16 -n 32 -b 200000 "
                                 "-s 1,64,4097,65536 -o send,write", family)
        most = largest_unit(lab.a)
    packets = decoded(roce.captured(
        base64.b64decode(lab.b.sh(f"base64 {FILE}; rm {FILE}"))))
    cut = sum(packet.checksum for packet in packets)
    assert len(packets) > 200, f"only {len(packets)} packets were seen"
    if units:
        assert most >= 8, f"no more than {most} packets left together"
        assert cut > 100, f"only {cut} of {len(packets)} packets were cut"
