# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Time limits of tests: one factor for kernels that are slow on purpose."""

# KASAN and lockdep together under emulation.
DEBUG_FACTOR = 5.0

_factor = 1.0


def set_factor(factor: float) -> None:
    """Scale every limit of this process."""
    global _factor
    _factor = factor


def scaled(seconds: float) -> float:
    """A limit in seconds, for the kernel that is tested."""
    return seconds * _factor


def slow() -> bool:
    """Whether the kernel is one that is slow on purpose: a test whose limit
    depends on how much work waits then makes less of it."""
    return _factor > 1.0
