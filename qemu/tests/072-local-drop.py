# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""drops packets in the sender's own queueing discipline: loss, no error."""

from qemu.peers import perftest, queueing, verbs_check

REQUIRES = {"tools": ("ib_write_bw",), "seconds": 120}

# A burst of one 64 KiB message is more than this queue takes.
SHAPER = "tbf rate 400mbit burst 9kb limit 26kb"


def run(lab):
    with queueing(lab.a, SHAPER):
        verbs_check(lab, "-t rc -r 14 -D 16 -l 8 -n 32 -s 65536 "
                         "-o write,send")
        perftest(lab, "ib_write_bw", "-s 65536 -n 20 -t 8")
        said = lab.a.sh(f"tc -s qdisc show dev {lab.a.netdev}")
        assert "(dropped 0," not in said, f"nothing was dropped:\n{said}"
