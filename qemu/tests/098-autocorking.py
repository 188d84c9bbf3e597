# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""posts one by one in quick succession: what is posted leaves together."""

from qemu.peers import largest_unit, perftest, traced

REQUIRES = {"tools": ("ib_write_bw",), "seconds": 60}


def run(lab):
    with traced(lab.a, "rxe_unit") as units:
        perftest(lab, "ib_write_bw", "-s 64 -n 4000", limit=50)
        most = largest_unit(lab.a)
    if units:
        assert most >= 4, f"no more than {most} packets left together"
