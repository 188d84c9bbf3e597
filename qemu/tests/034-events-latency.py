# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""runs ib_send_lat with completion events.

perftest gives its send CQ one entry and takes one completion per event, of
whichever queue it waits for. That is enough as long as a message completes
before its answer is received, as the ACK comes before the answer. Where the
ACK and the answer are work items, two workers may do them the other way
round: the send CQ still has its completion when the next one comes, which
overflows it, and the event that perftest waits for never comes.
"""

from qemu.peers import perftest

REQUIRES = {"tools": ("ib_send_lat",), "seconds": 140}


def run(lab):
    for _ in range(3):
        perftest(lab, "ib_send_lat", "-e -n 200 -s 64", limit=40)
