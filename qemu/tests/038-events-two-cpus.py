# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""runs ib_send_lat with completion events where two CPUs race.

What must not happen is in 034-events-latency.py: an answer that overtakes the
ACK, here because the consumer answers on one CPU while the other has not sent
it yet.
"""

from qemu.peers import perftest

REQUIRES = {"tools": ("ib_send_lat",), "vcpus": 2, "seconds": 140,
            "two_guests": True}


def run(lab):
    for _ in range(3):
        perftest(lab, "ib_send_lat", "-e -n 1000 -s 64", limit=40)
