# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""connects with the connection manager and pings with data over RC."""

from qemu.peers import exchange

REQUIRES = {"tools": ("rping",)}
PORT = 7174


def run(lab):
    for server, client, address in ((lab.b, lab.a, lab.b.ip4),
                                    (lab.a, lab.b, lab.a.ip4),
                                    (lab.b, lab.a, lab.b.ip6)):
        options = f"-v -V -C 50 -S 1000 -p {PORT} -a {address}"
        exchange(f"rping to {address}", server, f"rping -s {options}",
                 client, f"rping -c {options}", cm_port=PORT)
