# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Runs behaviour tests in a lab: few boots, and a new one after a wreck.

After each test both guests must be as before it: no splat on a console, no
RDMA object left over, the driver still unloadable. What a test leaves behind
fails that test and costs the others nothing but a boot.
"""

import contextlib
import re
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from qemu import leaks
from qemu.errors import GuestError
from qemu.limits import scaled
from qemu.testfile import Requires, TestFile, by_boot
from qemu.verdict import Lacking, Outcome, Skip, Verdict
from scripts.errors import LabError

LEAK_LIMIT = 10.0       # seconds until what a dead process held must be gone
CLOSE_LIMIT = 60.0      # seconds until a late test notices its closed lab


Boot = Callable[[Requires], AbstractContextManager]


class LeftOver(LabError):
    """A test left something behind in a guest."""


class TestLate(LabError):
    """A test as a whole took too long; its lab had to be closed."""


def _lacking(lab, requires: Requires) -> str:
    """What the guest lacks for a test, "" when it has everything."""
    for tool in requires.tools:
        if lab.a.run(f"command -v {tool}").code:
            return f"the guest has no {tool}"
    return ""


def check_splats(lab) -> None:
    """Raise LeftOver if a guest's kernel complained since the last call."""
    for host in (lab.a, lab.b):
        splats = host.machine.splats()
        if splats:
            raise LeftOver(f"kernel splat on host {host.name}: "
                           + "\n".join(splats))


def check_resources(lab, baseline: dict[str, str]) -> None:
    """Raise LeftOver for RDMA objects beyond the baseline."""
    for host in (lab.a, lab.b):
        end = time.monotonic() + scaled(LEAK_LIMIT)
        while (now := resources(host)) != baseline[host.name]:
            if time.monotonic() > end:
                raise LeftOver(f"RDMA objects left on host {host.name}: "
                               f"{now}, before the test: "
                               f"{baseline[host.name]}")
            time.sleep(0.1)


def resources(host) -> str:
    """The RDMA objects of a host's devices, as `rdma resource` counts them."""
    lines = host.sh("rdma resource show").splitlines()
    # A device created anew has another number, and another place.
    return "\n".join(sorted(re.sub(r"^\d+: ", "", line.strip())
                            for line in lines))


def finish(lab) -> None:
    """The end of a boot: no leak, no splat, and the driver can be removed."""
    for host in (lab.a, lab.b):
        host.sh("side unlink")
    leaks.check(lab)
    lab.unload()
    check_splats(lab)


class Runner:
    """Runs tests for one side.

    boot: gives a lab for requirements, as a context manager; injected, so
    that the runner is tested without guests.
    side: "A" or "B", what "B" in a test's `sides` stands for.
    """

    def __init__(self, boot: Boot, side: str):
        self._boot = boot
        self._side = side
        self._lab = None
        self._context: AbstractContextManager | None = None
        self._loaded: tuple[str, str] | None = None
        self._baseline: dict[str, str] = {}
        self._hopeless = ""             # why the guests do not come up

    def run_all(self, tests: list[TestFile]) -> Iterator[Outcome]:
        """Run tests, those that share a boot together; yields each outcome."""
        for group in by_boot(tests):
            self._hopeless = ""
            for at, test in enumerate(group):
                yield self._timed(test, at + 1 == len(group))
            self._close()

    def _timed(self, test: TestFile, last: bool) -> Outcome:
        began = time.monotonic()
        verdict, reason, lacking = self._verdict(test, last)
        return Outcome(test.name, verdict, reason,
                       time.monotonic() - began, lacking)

    def _verdict(self, test: TestFile,
                 last: bool) -> tuple[Verdict, str, bool]:
        """One test; the lab is closed whenever it may be harmed."""
        try:
            lacking = self._prepare(test.requires)
            if lacking:
                return Verdict.SKIP, lacking, True
            self._run(test)
            if test.requires.own_boot:
                return Verdict.PASS, "", False
            check_splats(self._lab)
            check_resources(self._lab, self._baseline)
            if last:
                self._unload()
        except Skip as reason:
            return Verdict.SKIP, str(reason), isinstance(reason, Lacking)
        except GuestError as error:
            self._close()
            return Verdict.CRASH, str(error), False
        except (AssertionError, LabError) as error:
            return Verdict.FAIL, self._after_failure(error), False
        except Exception:               # the test file itself is at fault
            self._close()
            return Verdict.FAIL, "the test broke: " + _last_line(), False
        return Verdict.PASS, "", False

    def _prepare(self, requires: Requires) -> str:
        """A lab with the right modules; returns what the guest lacks."""
        if self._lab is None:
            self._open(requires)
        lacking = _lacking(self._lab, requires)
        if self._lab.mtu != requires.mtu:
            self._lab.set_mtu(requires.mtu)
            self._loaded = None
        sides = tuple(self._side if side == "B" else side
                      for side in requires.sides)
        if not lacking and sides != self._loaded:
            self._loaded = None
            self._lab.load(*sides)
            self._loaded = sides
            self._baseline = {host.name: resources(host)
                              for host in (self._lab.a, self._lab.b)}
        return lacking

    def _open(self, requires: Requires) -> None:
        """Boot a lab; where that fails once, the group's tests have none."""
        if self._hopeless:
            raise LabError(f"no lab: {self._hopeless}")
        context = self._boot(requires)
        try:
            self._lab = context.__enter__()
        except LabError as error:
            self._hopeless = str(error).partition("\n")[0]
            raise
        self._context = context
        self._loaded = None

    def _run(self, test: TestFile) -> None:
        """Run the test in a thread; what it raises is raised here.

        A test that is late loses its lab, which ends whatever it waits for.
        """
        errors: list[BaseException] = []

        def body() -> None:
            try:
                test.run(self._lab)
            except BaseException as error:   # handed over to this thread
                errors.append(error)

        limit = scaled(test.requires.seconds)
        thread = threading.Thread(target=body, daemon=True, name=test.name)
        thread.start()
        thread.join(limit)
        if thread.is_alive():
            where = self._state()
            self._close()
            thread.join(CLOSE_LIMIT)
            raise TestLate(f"not finished within {limit:.0f} s\n{where}")
        if errors:
            raise errors[0]

    def _after_failure(self, error: Exception) -> str:
        """Keep the lab if it is well, else close it; returns the reason."""
        reason = str(error)
        try:
            if self._lab is not None:
                self._lab.check_wire()
                self._unload()
        except LabError as worse:
            reason += f"\nthe guests were restarted afterwards: {worse}"
            self._close()
        return reason

    def _state(self) -> str:
        """The consoles' tails of a lab that is about to be closed."""
        return "\n".join(f"console of host {host.name}:\n"
                         f"{host.machine.tail(15)}"
                         for host in (self._lab.a, self._lab.b))

    def _unload(self) -> None:
        """The driver must go, without a word, after whatever it was used for."""
        self._loaded = None
        finish(self._lab)

    def _close(self) -> None:
        """Close the lab, if there is one. Nothing in it matters any more."""
        if self._context is None:
            return
        context, self._context, self._lab = self._context, None, None
        with contextlib.suppress(LabError):
            context.__exit__(None, None, None)


def _last_line() -> str:
    """The exception being handled, its kind and text in the first line."""
    text = traceback.format_exc()
    return text.strip().splitlines()[-1] + "\n" + text
