# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""loses or delays packets among many: little more is sent again than those."""

from qemu.faultwire import Counts
from qemu.peers import path_mtu, perftest

REQUIRES = {"faults": True, "tools": ("ib_write_bw",), "seconds": 120}
MESSAGES = 300
SIZE = 64 << 10

# What a lost packet may cost in packets: itself, one more if its timer was
# early, and now and then what followed it, when the ACK of a retry is lost.
PER_LOSS = 4

# Of the packets that are overtaken; with those that are just a little late.
PER_LATE = 0.75


def sent(lab, **rates) -> tuple[int, Counts]:
    """Packets from a to b beyond those needed, and what befell them."""
    with lab.wire.faults(**rates):
        perftest(lab, "ib_write_bw", f"-s {SIZE} -n {MESSAGES} -u 14")
        counts = lab.wire.forward.counts
    return counts.seen - MESSAGES * SIZE // path_mtu(lab), counts


def run(lab):
    more, counts = sent(lab, loss=0.01)
    assert counts.lost > 10, f"too few packets were lost: {counts}"
    assert more <= PER_LOSS * counts.lost, \
        f"{more} packets were sent again, {counts.lost} were lost"

    more, counts = sent(lab, reorder=0.05)
    assert counts.late > 50, f"too few packets were late: {counts}"
    assert more <= PER_LATE * counts.late, \
        f"{more} packets were sent again, {counts.late} were late, none lost"
