# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The order in which the variants of one boot take turns."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Turn:
    """One turn of a variant: all its runs, after one load."""

    variant: str        # "A" | "B" | "siw" | "sockets"
    rep: int            # from 0


def turns(reps: int, ref_reps: int, refs: tuple[str, ...]) -> list[Turn]:
    """A B B A A B ..., with the reference variants spread between them.

    reps: of A and B each. refs: of "siw", "sockets", ref_reps turns each.
    A and B change places from pair to pair, so that whatever drifts over the
    boot burdens both alike.
    """
    order: list[Turn] = []
    done = 0
    for rep in range(reps):
        pair = ("A", "B") if rep % 2 == 0 else ("B", "A")
        order += [Turn(side, rep) for side in pair]
        while done < ref_reps and done * reps < ref_reps * (rep + 1):
            order += [Turn(name, done) for name in refs]
            done += 1
    for rep in range(done, ref_reps):
        order += [Turn(name, rep) for name in refs]
    return order
