# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""One exchange: a server on one host, its client on the other."""

import contextlib
from dataclasses import dataclass

from qemu.errors import CommandFailed, JobTimeout, outputs
from qemu.lab import Host
from qemu.machine import Job, Result
from scripts.errors import LabError

LISTEN_LIMIT = 15       # seconds for a server to open its port
END_LIMIT = 15          # seconds for a server to end after its client
POLL = 0.05             # seconds between two looks at the port

# Ports of servers, one after the other: a server that did not end must not
# answer the next client.
FIRST_PORT = 18515
PORTS = 2000


class CellError(LabError):
    """A measurement failed; the text says how. The guests are well."""


@dataclass(frozen=True)
class Exchange:
    """How an exchange went.

    asked, served: of the client and of the server; ready: the first line of
    the server's guest's /proc/stat when it listened, before the client.
    """

    asked: Result
    served: Result
    ready: str


class Probe:
    """What is measured around an exchange; this one measures nothing."""

    def wrap(self, serve: str, ask: str) -> tuple[str, str]:
        """The two commands with what the probe needs before and after."""
        return serve, ask

    def unwrap(self, went: Exchange) -> str:
        """Keep what was measured; returns what the client itself printed."""
        return went.asked.out


class Ports:
    """Hands out a port per exchange."""

    def __init__(self) -> None:
        self._next = 0

    def take(self) -> int:
        port = FIRST_PORT + self._next % PORTS
        self._next += 1
        return port


def _await_port(server: Host, job: Job, port: int) -> str:
    """Return when a TCP socket listens on the port; CellError if none does.

    The loop runs in the guest: a round trip per look would cost more. It
    costs CPU time itself, so what that is measured from is taken after it:
    the first line of /proc/stat is returned.
    """
    tries = int(LISTEN_LIMIT / POLL)
    look = (f"grep -Eqs ':{port:04X} [0-9A-F]+:0000 0A' "
            "/proc/net/tcp /proc/net/tcp6")
    found = server.run(f"i=0; until {look}; do i=$((i + 1)); "
                       f"[ $i -le {tries} ] || exit 1; sleep {POLL}; done; "
                       'read -r s < /proc/stat; echo "$s"',
                       timeout=LISTEN_LIMIT * 4)
    if found.code:
        raise CellError(f"no server on port {port} within {LISTEN_LIMIT} s: "
                        f"{job.cmd}\n{outputs(job.output(), job.errors())}")
    return found.out.strip()


def exchange(server: Host, serve: str, client: Host, ask: str, port: int,
             timeout: float, ends: bool = True,
             may_end: str = "") -> Exchange:
    """Run `serve` on one host and `ask` on the other.

    timeout: seconds for the client. ends: the server ends with its client;
    if not it is stopped. may_end: a server that says this on standard error
    may fail, once the client has succeeded. Raises CellError when either fails or is late, and
    GuestError when a guest is lost. Nothing is left running.
    """
    job = server.start(serve)
    try:
        ready = _await_port(server, job, port)
        asked = client.run(ask, timeout)
        if asked.code:
            raise CellError(f"exit status {asked.code} of: {ask}\n"
                            f"{outputs(asked.out, asked.err)}\nserver:\n"
                            f"{outputs(job.output(), job.errors())}")
        served = job.wait(END_LIMIT) if ends else job.stop()
    except (JobTimeout, CommandFailed) as error:
        raise CellError(str(error)) from error
    finally:
        with contextlib.suppress(LabError):
            job.stop()
    forgiven = may_end and may_end in served.err
    if ends and served.code and not forgiven:
        raise CellError(f"server: exit status {served.code} of: {serve}\n"
                        f"{outputs(served.out, served.err)}")
    return Exchange(asked, served, ready)
