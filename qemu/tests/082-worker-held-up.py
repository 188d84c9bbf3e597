# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""sends a stream at its usual rate while no worker gets a CPU.

A real-time process takes the only CPU that workqueues may use; the poster polls
its CQ on the other one, and sends there what no worker comes for.
"""

import contextlib

from qemu.peers import perftest

REQUIRES = {"tools": ("ib_write_bw", "taskset", "chrt"), "vcpus": 2,
            "seconds": 150, "two_guests": True}
WORKQUEUES = "/sys/devices/virtual/workqueue/cpumask"
POSTER, WORKERS = "1", "2"      # masks of CPUs
HELD_UP = 0.4       # of the usual rate, at least; mainline's is a tenth


@contextlib.contextmanager
def workers_held_up(host):
    """No worker of an unbound workqueue runs on the host, but for the 5 % of
    the time that a real-time process has to leave to others."""
    usual = host.sh(f"cat {WORKQUEUES}").strip()
    job = host.start(f"exec taskset {WORKERS} chrt -f 50 "
                     "sh -c 'while :; do :; done'")
    try:
        host.sh(f"echo {WORKERS} > {WORKQUEUES}")
        yield
    finally:
        job.stop()
        host.sh(f"echo {usual} > {WORKQUEUES}")


def messages_per_second(lab):
    """Of 4 KiB WRITEs from host a, whose poster has a CPU of its own."""
    out = perftest(lab, "ib_write_bw", "-s 4096 -n 2000",
                   under=f"taskset {POSTER}")
    row = next(line.split() for line in out.splitlines()
               if line.split()[:2] == ["4096", "2000"])
    return float(row[4]) * 1e6


def run(lab):
    usual = messages_per_second(lab)
    with workers_held_up(lab.a):
        alone = messages_per_second(lab)
    assert alone >= HELD_UP * usual, \
        f"{alone:.0f} messages per second without a worker, {usual:.0f} with"
