# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Asks kmemleak, where the kernel has it, for memory that nobody refers to."""

from qemu.limits import scaled
from scripts.errors import LabError

FILE = "/sys/kernel/debug/kmemleak"
SCAN_LIMIT = 120.0      # seconds for a command with scans in it
MIN_AGE = 6             # seconds; kmemleak suspects nothing younger than five


class Leaked(LabError):
    """Memory leaked in a guest; the text holds kmemleak's reports."""


def _has(host) -> bool:
    return not host.run(f"test -e {FILE}").code


def forget(lab) -> None:
    """Drop what has been found so far: the boot's own, not a test's."""
    for host in (lab.a, lab.b):
        if _has(host):
            host.sh(f"echo scan > {FILE}; echo clear > {FILE}",
                    scaled(SCAN_LIMIT))


def check(lab) -> None:
    """Raise Leaked when something is found. Call it while the driver is
    still loaded: its functions have no names afterwards.
    """
    for host in (lab.a, lab.b):
        if not _has(host):
            continue
        # A block is reported when two scans in a row find it, and it is old
        # enough: that is what the sleep waits for.
        found = host.sh(f"sleep {MIN_AGE}; echo scan > {FILE}; "
                        f"echo scan > {FILE}; cat {FILE}", scaled(SCAN_LIMIT))
        if found.strip():
            raise Leaked(f"memory leaked on host {host.name} since it "
                         f"booted:\n{found}")
