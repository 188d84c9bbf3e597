# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""answers long READs over a slow link: what does not fit waits in the QP, not
in the host's queues."""

import re

from qemu.limits import scaled
from qemu.peers import perftest, queueing

REQUIRES = {"tools": ("ib_read_bw",), "seconds": 120}
SIZE = 4 << 20          # bytes of a READ, far above the bound
BOUND = 512 << 10       # bytes of one QP that the host's queues may hold
RATE = 40               # Mbit/s, less than the guests can send
SLOW = "tbf rate {rate:.0f}mbit burst 32k limit 64mb"
BACKLOG = re.compile(r"backlog (\d+)([KM]?)b")
UNIT = {"": 1, "K": 1 << 10, "M": 1 << 20}


def run(lab):
    with queueing(lab.b, SLOW.format(rate=RATE / scaled(1))):
        watch = lab.b.start(f"while tc -s qdisc show dev {lab.b.netdev} root; "
                            "do sleep 0.05; done")
        try:
            perftest(lab, "ib_read_bw", f"-s {SIZE} -n 5", limit=90)
        finally:
            seen = watch.stop().out
    most = max(int(number) * UNIT[unit]
               for number, unit in BACKLOG.findall(seen))
    assert most, "the slow link never had a backlog: nothing was tested"
    assert most <= BOUND, (f"{most} bytes of replies in the queueing "
                           f"discipline, expected at most {BOUND}")
