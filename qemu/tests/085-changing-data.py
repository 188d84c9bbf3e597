# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""changes data while they are sent: those messages suffer, nothing else does."""

from qemu.peers import counter, path_mtu, verbs_check

REQUIRES = {"seconds": 120}
MESSAGES = 64
SIZE = 64 << 10


def run(lab):
    before = counter(lab.a, "sent_pkts")
    # Each message twice; of the first time the other end may get anything.
    verbs_check(lab, f"-z -t rc -o write -s {SIZE} -n {MESSAGES} -D 8 -r 14")
    needed = MESSAGES * SIZE // path_mtu(lab)
    again = counter(lab.a, "sent_pkts") - before - 2 * needed
    assert again <= needed, \
        f"{again} packets were sent again, {needed} had data that changed"
    verbs_check(lab, "-z -t rc -o write -s 1,2048,4095,4096,4097,10000 -n 32")
