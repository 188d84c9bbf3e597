# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""loses or delays replies of READs: little more is asked for again than those."""

from qemu.faultwire import Counts
from qemu.peers import path_mtu, perftest

REQUIRES = {"faults": True, "tools": ("ib_read_bw",), "seconds": 120}
READS = 300
SIZE = 64 << 10

# What a lost packet may cost in replies. It may have been a request: then all of
# the READ is sent, and it is none of those that are needed.
PER_LOSS = 4

# Of the packets that are overtaken; with those that are just a little late.
PER_LATE = 0.75


def sent(lab, **rates) -> tuple[int, Counts]:
    """Replies from b to a beyond those needed, and what befell them."""
    with lab.wire.faults(**rates):
        perftest(lab, "ib_read_bw", f"-s {SIZE} -n {READS} -u 14")
        counts = lab.wire.back.counts
    return counts.seen - READS * SIZE // path_mtu(lab), counts


def run(lab):
    more, counts = sent(lab, loss=0.01)
    assert counts.lost > 10, f"too few packets were lost: {counts}"
    assert more <= PER_LOSS * counts.lost, \
        f"{more} replies were sent again, {counts.lost} were lost"

    more, counts = sent(lab, reorder=0.05)
    assert counts.late > 50, f"too few packets were late: {counts}"
    assert more <= PER_LATE * counts.late, \
        f"{more} replies were sent again, {counts.late} were late, none lost"
