# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""sends short requests in lists: those that arrive together get one ACK."""

from qemu.peers import counter, perftest

REQUIRES = {"tools": ("ib_write_bw",), "seconds": 60}
MESSAGES = 3200
LIST = 16


def run(lab):
    sent, rcvd = counter(lab.a, "sent_pkts"), counter(lab.a, "rcvd_pkts")
    perftest(lab, "ib_write_bw", f"-s 64 -n {MESSAGES} -l {LIST}", limit=50)
    sent = counter(lab.a, "sent_pkts") - sent
    rcvd = counter(lab.a, "rcvd_pkts") - rcvd
    assert sent >= MESSAGES, f"{sent} packets counted for {MESSAGES} messages"
    assert rcvd <= sent * 3 // 4, f"{rcvd} packets answered {sent}"
