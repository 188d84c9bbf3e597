# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""checks every byte that a packet has on the wire, whatever it left with."""

from qemu import roce, tshark
from qemu.peers import largest_unit, path_mtu, perftest, traced, verbs_check

REQUIRES = {"tools": ("ib_write_bw",), "faults": True, "seconds": 150}


def traffic(lab) -> None:
    mtu = path_mtu(lab)
    sizes = f"1,64,{mtu},{mtu + 1},{4 * mtu + 3},65536"
    for family in (4, 6):
        verbs_check(lab, f"-t rc -D 32 -l 16 -n 64 -s {sizes} -b 1048576 "
                         "-o send,send_imm,write,write_imm,read", family)
        verbs_check(lab, "-t ud -o send -D 16 -l 8 -n 64 -s 1,64,1000", family)
    perftest(lab, "ib_write_bw", "-s 64 -n 3200 -l 16")


def run(lab):
    faults, sound = [], []

    def look(frame: bytes) -> None:
        try:
            packet = roce.decode(frame)
            if packet and packet.checksum:
                raise roce.BadPacket("UDP's checksum is not 0")
            if packet:
                sound.append((frame, packet))
        except roce.BadPacket as bad:
            faults.append(f"{bad} ({frame[:80].hex()})")

    with traced(lab.a, "rxe_unit") as units, lab.wire.watched(look):
        traffic(lab)
    assert not faults, f"{len(faults)} packets are wrong, first: {faults[0]}"
    assert len(sound) > 3000, f"only {len(sound)} packets were seen"
    if units:
        most = largest_unit(lab.a)
        assert most >= 8, f"no more than {most} packets left together"

    theirs = tshark.headers(frame for frame, _ in sound)
    for (frame, our), their in zip(sound, theirs, strict=True):
        assert their == (our.opcode, our.qpn, our.psn), \
            f"{their} for tshark, {our} for us: {frame[:80].hex()}"
