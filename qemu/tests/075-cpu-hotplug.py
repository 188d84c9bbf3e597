# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""takes a CPU away and brings it back while queue pairs are busy on it."""

from qemu.peers import TRACE, perftest, traced

REQUIRES = {"tools": ("ib_write_bw",), "vcpus": 2, "seconds": 120,
            "own_boot": True}
CPU = "/sys/devices/system/cpu/cpu1/online"
LOOP = (f"while :; do echo 0 > {CPU}; sleep 0.2; echo 1 > {CPU}; echo back; "
        "sleep 0.2; done")
TIMES = 3


def runs_on(host, cpu: int) -> int:
    """How many runs of queue pairs the trace has from a CPU."""
    return int(host.sh(f"grep -c '\\[00{cpu}\\].* rxe_run:' {TRACE} || :"))


def run(lab):
    job = lab.a.start(LOOP)
    try:
        with traced(lab.a, "rxe_run") as known:
            perftest(lab, "ib_write_bw", "-s 4096 -q 8 -n 5000", limit=100)
            perftest(lab, "ib_send_bw", "-s 64 -q 4 -e -n 5000", limit=100)
        assert job.running(), f"the CPU could not be moved: {job.output()}"
        assert job.output().count("back") >= TIMES, \
            f"the CPU was back only {job.output().count('back')} times"
    finally:
        job.stop()
        lab.a.sh(f"echo 1 > {CPU}")
    # Both had some to do, so that there was something to move.
    if known:
        for cpu in (0, 1):
            assert runs_on(lab.a, cpu), f"no queue pair ran on CPU {cpu}"
