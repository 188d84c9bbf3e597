# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""RoCEv2 packets as Wireshark's dissector reads them: a second opinion.

roce.py checks every byte of a packet, but one who reads the standard wrongly
may write a driver and a decoder that agree; tshark(1) is somebody else's.
"""

import subprocess
from collections.abc import Iterable
from typing import NamedTuple

from qemu import roce
from scripts.errors import LabError

FIELDS = ("infiniband.bth.opcode", "infiniband.bth.destqp",
          "infiniband.bth.psn", "_ws.malformed")
LIMIT = 120             # seconds; some thousand packets take a few


class Header(NamedTuple):
    """What the dissector says of a packet."""

    opcode: int
    qpn: int
    psn: int


class Undissected(LabError):
    """tshark failed, or does not take a packet for RoCEv2."""


def _header(row: str, number: int) -> Header:
    words = row.split("\t")
    if len(words) != len(FIELDS) or not all(words[:-1]):
        raise Undissected(f"packet {number} is no RoCEv2 for tshark: {row!r}")
    # The payload is anybody's, and looks like another protocol now and then.
    if "Packet: IB]" in words[-1]:
        raise Undissected(f"packet {number} is malformed for tshark: {row!r}")
    return Header(*(int(word, 0) for word in words[:-1]))


def headers(frames: Iterable[bytes]) -> list[Header]:
    """The headers of RoCEv2 packets, given as Ethernet frames, in their order.

    Raises Undissected when tshark does not run, and at the first frame that
    is anything but a whole RoCEv2 packet.
    """
    command = ["tshark", "-n", "-r", "-", "-T", "fields"]
    for field in FIELDS:
        command += ["-e", field]
    try:
        done = subprocess.run(command, input=roce.saved(frames),
                              capture_output=True, timeout=LIMIT)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Undissected(f"tshark does not run ({error}); "
                          "run `make deps`") from error
    if done.returncode:
        raise Undissected("tshark: "
                          f"{done.stderr.decode(errors='replace').strip()}")
    return [_header(row, number) for number, row
            in enumerate(done.stdout.decode().splitlines(), 1)]
