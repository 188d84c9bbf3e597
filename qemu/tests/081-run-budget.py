# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""watches each run of a queue pair by its tracepoint: none exceeds its budget."""

import collections
import re

from qemu.peers import TRACE, perftest, traced

REQUIRES = {"tools": ("ib_write_bw", "ib_read_bw"), "seconds": 120}
RUN = re.compile(r"rxe_run: .* side=(\w+) why=(\S+) passes=(\d+) budget=(\d+)")


def run(lab):
    with traced(lab.a, "rxe_run") as known:
        assert known, "the driver has no tracepoint rxe_run"
        perftest(lab, "ib_write_bw", "-s 65536 -q 16 -n 20", limit=60)
        perftest(lab, "ib_read_bw", "-s 1048576 -n 5", limit=60)
        perftest(lab, "ib_write_bw", "-s 64 -n 1000", limit=60)

    seen = collections.Counter()
    for side, why, passes, budget in RUN.findall(lab.a.sh(f"cat {TRACE}")):
        assert 0 < int(passes) <= int(budget), \
            f"a run of the {side} side made {passes} of {budget} passes ({why})"
        seen.update(why.split("|"))
    for why in ("post", "rx"):
        assert seen[why], f"no run for {why!r} was seen: {dict(seen)}"
