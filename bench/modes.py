# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""How each mode gets its two hosts."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack

from qemu import lab as labs
from qemu.lab import Lab
from scripts.kernel import Kernel, kernel

KERNELS = {"two-vm": "perf", "insn": "perf", "native": "uml"}
Opener = Callable[[], AbstractContextManager[Lab]]


def kernel_of(mode: str) -> Kernel:
    """The kernel that a mode boots; built when it is not in the cache."""
    return kernel(KERNELS[mode])


def opener(mode: str) -> Opener:
    """What boots a mode's hosts when called; each call is a new boot."""
    boot = {"two-vm": labs.pair, "insn": labs.single, "native": labs.native}
    built = kernel_of(mode)
    return lambda: boot[mode](built)


class Session:
    """A boot that can be replaced by another when its guest is lost."""

    def __init__(self, boot: Opener):
        self._boot = boot
        self._stack = ExitStack()
        self.lab: Lab | None = None

    def __enter__(self) -> "Session":
        self.lab = self._stack.enter_context(self._boot())
        return self

    def reboot(self) -> Lab:
        """End the guests, whatever state they are in, and boot new ones."""
        self.lab = None
        self._stack.close()
        self.lab = self._stack.enter_context(self._boot())
        return self.lab

    def __exit__(self, *error) -> None:
        self._stack.close()
