# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""keeps 64 queue pairs busy on one CPU, which answers a ping all the same."""

import re

from qemu.limits import scaled, slow
from qemu.peers import perftest, serving

REQUIRES = {"tools": ("ib_write_bw", "ping"), "seconds": 200,
            "two_guests": True}
SECONDS = 60
LONGEST = 100       # ms for an answer

# What is sent waits in the tap (1000 packets) and the NIC (256), and the ping
# behind it. The debug kernel takes up to 5 ms for a packet of 4 KiB instead of
# 60 us: one per queue pair there, and a retry timer (1 s) that knows of that.
LOAD = "-s 4096 -q 64"
SLOW_LOAD = "-s 4096 -q 64 -t 1 -u 18"


def run(lab):
    load = SLOW_LOAD if slow() else LOAD
    ping = f"ping -q -i 0.2 -w {SECONDS - 10} {lab.b.ip4}"
    with serving(lab.a, ping) as job:
        perftest(lab, "ib_write_bw", f"{load} -D {SECONDS}",
                 limit=SECONDS + 60)
        out = job.wait(scaled(10)).out
    longest = re.search(r"rtt min/avg/max/mdev = [\d.]+/[\d.]+/([\d.]+)/", out)
    assert longest, f"no answers to the ping:\n{out}"
    assert float(longest[1]) < scaled(LONGEST), \
        f"a ping took {longest[1]} ms; {LONGEST} are allowed"
