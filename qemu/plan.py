# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What a run of the tests is about: side, kernel and selection."""

import fnmatch
import functools
from dataclasses import dataclass
from pathlib import Path

from qemu import lab
from qemu.faultwire import FaultWire
from qemu.payload import payload
from qemu.testfile import Requires
from scripts.kernel import Kernel, kernel


@dataclass(frozen=True)
class Plan:
    """side: "A" or "B"; debug: on the kernel that checks itself;
    native: in User-mode Linux, two namespaces instead of two guests;
    only: patterns of case names, none: all.
    """

    side: str = "B"
    debug: bool = False
    native: bool = False
    only: tuple[str, ...] = ()

    def wants(self, name: str) -> bool:
        """Whether a case is selected: a pattern matches its name."""
        return not self.only or any(
            fnmatch.fnmatch(name, pattern) for pattern in self.only)

    @property
    def kernel(self) -> Kernel:
        """The guests' kernel, built on first use."""
        return _kernel("uml" if self.native else
                       "debug" if self.debug else "perf")

    @property
    def payload(self) -> Path:
        """The guests' second disk, the same for all suites."""
        return _payload(self.kernel)

    def boot(self, requires: Requires = Requires()):
        """A lab for requirements, as a context manager."""
        if self.native:
            return lab.native(self.kernel, payload=self.payload)
        return lab.pair(self.kernel, smp=requires.vcpus, payload=self.payload,
                        wire=FaultWire() if requires.faults else None,
                        memory="3G" if self.debug else "1536M")


@functools.cache
def _kernel(variant: str) -> Kernel:
    return kernel(variant)


@functools.cache
def _payload(which: Kernel) -> Path:
    return payload(which)
