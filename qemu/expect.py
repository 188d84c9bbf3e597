# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The records of side A in expect/.

A behaviour test NNN-name has a file of that name with one record line. A
suite with many cases has one file with "case: record" lines.
"""

from pathlib import Path

from qemu.verdict import Outcome, Verdict, parse_record

EXPECT = Path(__file__).resolve().parent / "expect"


def read_all(directory: Path = EXPECT) -> dict[str, str]:
    """The records of all behaviour tests, by name.

    Raises ValueError when a file is no record.
    """
    records = {}
    for path in sorted(directory.glob("[0-9]*-*")):
        records[path.name] = path.read_text().strip()
        parse_record(records[path.name])
    return records


def write(outcome: Outcome, directory: Path = EXPECT) -> None:
    """Record a behaviour test's outcome on side A."""
    (directory / outcome.name).write_text(outcome.record() + "\n")


def read_suite(suite: str, directory: Path = EXPECT) -> dict[str, str]:
    """The records of a suite, by case; empty when there are none.

    Raises ValueError when a line is no record.
    """
    path = directory / suite
    if not path.exists():
        return {}
    records = {}
    for line in path.read_text().splitlines():
        case, _, record = line.partition(": ")
        parse_record(record)
        records[case] = record
    return records


def write_suite(suite: str, outcomes: list[Outcome],
                directory: Path = EXPECT) -> None:
    """Record a suite's outcomes on side A; their names are the cases."""
    lines = [f"{o.name}: {o.record()}" for o in
             sorted(outcomes, key=lambda o: o.name)]
    (directory / suite).write_text("\n".join(lines) + "\n")


def missing_cases(records: dict[str, str],
                  outcomes: list[Outcome]) -> list[Outcome]:
    """A failed outcome for each recorded case that did not run at all."""
    ran = {outcome.name for outcome in outcomes}
    return [Outcome(case, Verdict.FAIL, "it did not run")
            for case in sorted(records) if case not in ran]
