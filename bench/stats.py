# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Statistics of one cell: summaries, gains of B over A, the verdict.

A gain above 1 always means that B is better, whatever the unit: B/A where
more is better, A/B where less is.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

# Below this a gain is a loss, above its inverse a win. Instruction mode
# repeats to about 1 %, so 3 % is safely outside its noise; wall clock needs
# the spread as well, which judge() always looks at.
SLOWER = 0.97
FASTER = 1 / SLOWER

# Wall clock drifts (other work on the machine, its clock), so a sample of A
# is only compared with samples of B of the same repetition or the one before
# or after it.
NEIGHBOURS = 1


@dataclass(frozen=True)
class Summary:
    """Samples of one variant, in the order they were taken."""

    samples: tuple[float, ...]
    median: float
    min: float
    max: float

    def as_json(self) -> dict:
        return {"samples": list(self.samples), "median": self.median,
                "min": self.min, "max": self.max}


@dataclass(frozen=True)
class Gain:
    """How much better B is than A, with the extremes of the pairs."""

    median: float
    min: float
    max: float

    def covers_one(self) -> bool:
        return self.min <= 1 <= self.max


def median(values: Sequence[float]) -> float:
    """The middle value; of an even number, the mean of the two middle ones."""
    if not values:
        raise ValueError("median of no values")
    ordered = sorted(values)
    half = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[half]
    return (ordered[half - 1] + ordered[half]) / 2


def summarise(values: Sequence[float]) -> Summary:
    """Summary of at least one finite number."""
    if not values:
        raise ValueError("a summary needs at least one sample")
    for value in values:
        if not math.isfinite(value):
            raise ValueError(f"sample {value} is not a finite number")
    return Summary(tuple(values), median(values), min(values), max(values))


def pair_gains(a: Sequence[float], b: Sequence[float],
               better: str) -> list[float]:
    """Gains of every pair of neighbouring repetitions.

    a, b:   samples in the order of their repetitions; a repetition that one
            of them lacks is left out by the caller, so the lengths agree.
    better: "higher" or "lower".
    """
    if better not in ("higher", "lower"):
        raise ValueError(f'better is "higher" or "lower", not {better!r}')
    if len(a) != len(b):
        raise ValueError(f"unpaired samples: {len(a)} of A, {len(b)} of B")
    gains = []
    for i, one in enumerate(a):
        for j in range(max(0, i - NEIGHBOURS),
                       min(len(b), i + NEIGHBOURS + 1)):
            if one <= 0 or b[j] <= 0:
                raise ValueError(f"a ratio of {one} and {b[j]} says nothing")
            gains.append(b[j] / one if better == "higher" else one / b[j])
    return gains


def gain_of(a: Sequence[float], b: Sequence[float], better: str) -> Gain:
    """The gain of B over A: median, min and max over neighbouring pairs."""
    gains = pair_gains(a, b, better)
    if not gains:
        raise ValueError("no pair of samples to compare")
    return Gain(median(gains), min(gains), max(gains))


def judge(gain: Gain) -> str:
    """"faster", "slower", or "no difference".

    A difference must be larger than 3 % and no pair may contradict it.
    """
    if gain.covers_one():
        return "no difference"
    if gain.median < SLOWER:
        return "slower"
    if gain.median > FASTER:
        return "faster"
    return "no difference"
