# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""drops packets in the sender's own queueing discipline: loss, no error."""

from qemu.peers import perftest

REQUIRES = {"tools": ("ib_write_bw",)}


def run(lab):
    dev = lab.a.netdev
    lab.a.sh(f"tc qdisc replace dev {dev} root pfifo limit 8")
    try:
        perftest(lab, "ib_write_bw", "-s 65536 -n 200")
        drops = lab.a.sh(f"tc -s qdisc show dev {dev}")
        assert "dropped 0," not in drops, f"nothing was dropped:\n{drops}"
    finally:
        lab.a.sh(f"tc qdisc del dev {dev} root")
