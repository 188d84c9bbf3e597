# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""sends short requests in lists: those that arrive together get one ACK."""

from qemu.peers import perftest

REQUIRES = {"tools": ("ib_write_bw",), "seconds": 60}
MESSAGES = 3200
LIST = 16


def packets(host, what: str) -> int:
    """A counter of the host's device: packets that it "sent" or "rcvd"."""
    return int(host.sh(f"cat /sys/class/infiniband/{host.dev}/ports/1/"
                       f"hw_counters/{what}_pkts"))


def run(lab):
    sent, rcvd = packets(lab.a, "sent"), packets(lab.a, "rcvd")
    perftest(lab, "ib_write_bw", f"-s 64 -n {MESSAGES} -l {LIST}", limit=50)
    sent, rcvd = packets(lab.a, "sent") - sent, packets(lab.a, "rcvd") - rcvd
    assert sent >= MESSAGES, f"{sent} packets counted for {MESSAGES} messages"
    assert rcvd <= sent * 3 // 4, f"{rcvd} packets answered {sent}"
