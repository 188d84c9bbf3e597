# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What a run of the tests is about: side, kernel and selection."""

import contextlib
import fnmatch
import functools
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from qemu import lab, leaks
from qemu.errors import GuestError
from qemu.faultwire import FaultWire
from qemu.payload import payload
from qemu.testfile import Requires
from scripts.kernel import Kernel, kernel


# While identify_cpu() has the boot CPU's features cleared, five-level page
# tables seem off, and KASAN calls an interrupt's access to the direct map wild.
DEBUG = {"memory": "3G", "args": ("no5lvl",)}


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

    def _pair(self, requires: Requires):
        if self.native:
            return lab.native(self.kernel, payload=self.payload)
        return lab.pair(self.kernel, smp=requires.vcpus, payload=self.payload,
                        wire=FaultWire() if requires.faults else None,
                        **(DEBUG if self.debug else {}))

    @contextlib.contextmanager
    def boot(self, requires: Requires = Requires()) -> Iterator[lab.Lab]:
        """A lab for requirements.

        A boot that fails is told and repeated once: that is no test's fault.
        Raises the second one's GuestError.
        """
        with contextlib.ExitStack() as stack:
            try:
                booted = stack.enter_context(self._pair(requires))
            except GuestError as error:
                print(f"a boot failed and is repeated: {error}",
                      file=sys.stderr, flush=True)
                booted = stack.enter_context(self._pair(requires))
            leaks.forget(booted)
            yield booted


@functools.cache
def _kernel(variant: str) -> Kernel:
    return kernel(variant)


@functools.cache
def _payload(which: Kernel) -> Path:
    return payload(which)
