# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Behaviour tests: the files tests/NNN-name.py.

Each is a module with a docstring whose first line completes "This test ...",
optionally a dictionary REQUIRES (the fields of Requires), and run(lab), which
raises AssertionError with what was expected and seen, or Skip(reason).
"""

import importlib.util
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).resolve().parent / "tests"
_NAME = re.compile(r"\d{3}-[a-z0-9-]+$")


class BrokenTest(Exception):
    """A test file that does not follow the format; the text says which."""


@dataclass(frozen=True)
class Requires:
    """What a test needs from its lab.

    mtu:      of the Ethernet between the hosts, in bytes;
    vcpus:    of each guest;
    sides:    modules of host a and b; "B" stands for the side under test;
    tools:    programs in the guest;
    seconds:  limit for the whole test;
    own_boot: a lab for this test alone, which may be wrecked;
    faults:   a wire that can lose, double and reorder packets (faultwire);
    two_guests: it does to one host what its peer must not see.
    """

    mtu: int = 4200
    vcpus: int = 1
    sides: tuple[str, str] = ("B", "B")
    tools: tuple[str, ...] = ()
    seconds: float = 60
    own_boot: bool = False
    faults: bool = False
    two_guests: bool = False

    @property
    def fits_one_guest(self) -> bool:
        """Whether two namespaces of one guest will do."""
        return not (self.faults or self.two_guests
                    or self.sides[0] != self.sides[1])

    def boot_key(self, name: str) -> tuple:
        """Tests with equal keys share a boot."""
        return (self.vcpus, self.faults, name if self.own_boot else "")


@dataclass(frozen=True)
class TestFile:
    """One behaviour test. name: file name without .py; text: what it does."""

    name: str
    text: str
    requires: Requires
    run: Callable


def load(path: Path) -> TestFile:
    """Load a test; raises BrokenTest when its form is not that of one."""
    if not _NAME.match(path.stem):
        raise BrokenTest(f"{path.name}: expected NNN-name.py")
    spec = importlib.util.spec_from_file_location(
        "qemu_test_" + path.stem.replace("-", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = (module.__doc__ or "").strip().partition("\n")[0]
    if not text:
        raise BrokenTest(f"{path.name}: a docstring must complete "
                         "\"This test ...\"")
    if not callable(getattr(module, "run", None)):
        raise BrokenTest(f"{path.name}: no function run(lab)")
    try:
        requires = Requires(**getattr(module, "REQUIRES", {}))
    except TypeError as error:
        raise BrokenTest(f"{path.name}: REQUIRES: {error}") from error
    return TestFile(path.stem, text, requires, module.run)


def load_all(directory: Path = TESTS) -> list[TestFile]:
    """All tests of a directory, by number; raises BrokenTest."""
    tests = [load(path) for path in sorted(directory.glob("*.py"))]
    numbers = [test.name[:3] for test in tests]
    for number in numbers:
        if numbers.count(number) > 1:
            raise BrokenTest(f"two tests have the number {number}")
    return tests


def by_boot(tests: list[TestFile]) -> list[list[TestFile]]:
    """Tests grouped so that each group needs one boot."""
    groups: dict[tuple, list[TestFile]] = {}
    for test in tests:
        groups.setdefault(test.requires.boot_key(test.name), []).append(test)
    return list(groups.values())
