# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""unloads and loads the driver after use, with and without its device."""

from qemu.peers import verbs_check

REQUIRES = {"seconds": 120, "two_guests": True}


def run(lab):
    for turn in range(6):
        verbs_check(lab, "-t rc -o send,read -s 64,5000 -n 4")
        for host in (lab.a, lab.b):
            # With lockdep the sockets of a device hold its module, whose text
            # has the names of their locks (sk_owner_set() in the kernel).
            held = host.run("test -e /proc/lockdep").code == 0
            if held or turn % 2:
                host.sh(f"rdma link del {host.dev}")
            host.sh("rmmod rdma_rxe && modprobe rdma_rxe")
            host.link("rxe")
