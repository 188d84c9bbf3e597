# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What all failures have in common that a person is meant to read."""

import sys
from collections.abc import Callable


class LabError(Exception):
    """Says what is wrong and what to do; shown without a trace."""


def run_main(name: str, main: Callable[[], int]) -> None:
    """Exit with main()'s status; a LabError becomes a message and status 1."""
    try:
        sys.exit(main())
    except LabError as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=sys.stderr)
        sys.exit(130)
