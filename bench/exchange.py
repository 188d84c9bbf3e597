# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""One exchange: a server on one host, its client on the other."""

import contextlib

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


class Ports:
    """Hands out a port per exchange."""

    def __init__(self) -> None:
        self._next = 0

    def take(self) -> int:
        port = FIRST_PORT + self._next % PORTS
        self._next += 1
        return port


def _await_port(server: Host, job: Job, port: int) -> None:
    """Return when a TCP socket listens on the port; CellError if none does.

    The loop runs in the guest: a round trip per look would cost more.
    """
    tries = int(LISTEN_LIMIT / POLL)
    look = (f"grep -Eqs ':{port:04X} [0-9A-F]+:0000 0A' "
            "/proc/net/tcp /proc/net/tcp6")
    found = server.run(f"i=0; until {look}; do i=$((i + 1)); "
                       f"[ $i -le {tries} ] || exit 1; sleep {POLL}; done",
                       timeout=LISTEN_LIMIT * 4)
    if found.code:
        raise CellError(f"no server on port {port} within {LISTEN_LIMIT} s: "
                        f"{job.cmd}\n{outputs(job.output(), job.errors())}")


def exchange(server: Host, serve: str, client: Host, ask: str, port: int,
             timeout: float, ends: bool = True) -> tuple[Result, Result]:
    """Run `serve` on one host and `ask` on the other: (of client, of server).

    timeout: seconds for the client. ends: the server ends with its client;
    if not it is stopped. Raises CellError when either fails or is late, and
    GuestError when a guest is lost. Nothing is left running.
    """
    job = server.start(serve)
    try:
        _await_port(server, job, port)
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
    if ends and served.code:
        raise CellError(f"server: exit status {served.code} of: {serve}\n"
                        f"{outputs(served.out, served.err)}")
    return asked, served
