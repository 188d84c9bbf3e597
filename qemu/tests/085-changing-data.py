# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""changes data while they are sent: those messages suffer, nothing else does."""

from qemu.peers import path_mtu, verbs_check

REQUIRES = {"seconds": 120}
MESSAGES = 64
SIZE = 64 << 10


def sent(host) -> int:
    """Packets that the device has sent."""
    return int(host.sh(f"cat /sys/class/infiniband/{host.dev}/ports/1/"
                       "hw_counters/sent_pkts"))


def run(lab):
    before = sent(lab.a)
    # Each message twice; of the first time the other end may get anything.
    verbs_check(lab, f"-z -t rc -o write -s {SIZE} -n {MESSAGES} -D 8 -r 14")
    needed = MESSAGES * SIZE // path_mtu(lab)
    again = sent(lab.a) - before - 2 * needed
    assert again <= needed, \
        f"{again} packets were sent again, {needed} had data that changed"
    verbs_check(lab, "-z -t rc -o write -s 1,2048,4095,4096,4097,10000 -n 32")
