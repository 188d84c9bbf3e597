# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""connects and disconnects many queue pairs with cmtime."""

from qemu.limits import scaled
from qemu.peers import serving

REQUIRES = {"tools": ("cmtime",)}
PORT = 7175
COUNT = 100


def run(lab):
    # The server serves for ever.
    with serving(lab.b, f"cmtime -p {PORT} -b {lab.b.ip4}", cm_port=PORT):
        for _ in range(2):
            out = lab.a.sh(f"cmtime -p {PORT} -s {lab.b.ip4} -c {COUNT}",
                           scaled(30))
            assert "destroy" in out, f"cmtime gave no result:\n{out}"
