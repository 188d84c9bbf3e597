# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""takes a CPU away and brings it back while queue pairs are busy on it."""

from qemu.peers import perftest

REQUIRES = {"tools": ("ib_write_bw",), "vcpus": 2, "seconds": 120,
            "own_boot": True}
CPU = "/sys/devices/system/cpu/cpu1/online"
LOOP = f"while :; do echo 0 > {CPU}; sleep 0.2; echo 1 > {CPU}; sleep 0.2; done"


def run(lab):
    job = lab.a.start(LOOP)
    try:
        perftest(lab, "ib_write_bw", "-s 4096 -q 8 -n 5000", limit=100)
        perftest(lab, "ib_send_bw", "-s 64 -q 4 -e -n 5000", limit=100)
        assert job.running(), f"the CPU could not be moved: {job.output()}"
    finally:
        job.stop()
        lab.a.sh(f"echo 1 > {CPU}")
