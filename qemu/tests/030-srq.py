# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""receives RC and UD messages from a shared receive queue."""

from qemu.peers import around, pingpong


def run(lab):
    around(lab, "-t rc -q -o send,send_imm,write_imm -n 8 -b 524288")
    around(lab, "-t ud -q -o send -n 8", large=False)
    # Several queue pairs on one queue.
    pingpong(lab, "ibv_srq_pingpong", "-n 100 -q 4")
