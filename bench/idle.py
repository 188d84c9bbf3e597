# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Keep the host's CPUs awake while the wall clock measures.

A halted CPU of a virtual host takes tens of microseconds to wake, as long as
a message takes. Whether it halts depends on where the host's scheduler puts
the next thread, so a run locks into one of two speeds by chance. A file that
is held open with a latency of 0 makes the kernel poll instead of halting
(Documentation/power/pm_qos_interface.rst); it ends with the process.
"""

import contextlib
import struct
from collections.abc import Iterator
from pathlib import Path

QOS = Path("/dev/cpu_dma_latency")


@contextlib.contextmanager
def awake(qos: Path = QOS) -> Iterator[str]:
    """Hold the CPUs awake; yields what became of it, for the report.

    "polling", or "halting" where the host has no such file or we may not
    write it.
    """
    try:
        held = qos.open("r+b", buffering=0)
    except OSError:
        yield "halting"
        return
    with held:
        held.write(struct.pack("=i", 0))
        yield "polling"
