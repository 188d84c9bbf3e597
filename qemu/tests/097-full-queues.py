# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""sends more than a queueing discipline takes: it is sent again, or smaller."""

from qemu.peers import counter, queueing, verbs_check

REQUIRES = {"seconds": 240, "two_guests": True}
CHECK = "-t rc -r 14 -D 16 -l 8 -n 16 -s 65536"


def check(lab, qdisc: str, options: str) -> None:
    """Messages through a queue, the same at both ends."""
    with queueing(lab.a, qdisc), queueing(lab.b, qdisc):
        verbs_check(lab, f"{CHECK} {options}")


def run(lab):
    # The first drops what is new, the second what is old and says so.
    for qdisc in ("pfifo limit 8", "pfifo_head_drop limit 8"):
        check(lab, qdisc, "-o write,send,read")
    # No unit of many packets fits, each packet does. A queue that had room for
    # the longest one would be passed by.
    lost = counter(lab.a, "send_err"), counter(lab.b, "send_err")
    check(lab, f"bfifo limit {lab.facts['mtu']}", "-m 1024 -o write,read")
    now = counter(lab.a, "send_err"), counter(lab.b, "send_err")
    assert now[0] > lost[0] and now[1] > lost[1], f"nothing was dropped: {now}"
