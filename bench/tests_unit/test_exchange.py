# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Server and client: who is waited for, and whose failure counts."""

import unittest

from bench.exchange import FIRST_PORT, PORTS, CellError, Ports, exchange
from bench.tests_unit.fake import FakeHost, FakeJob, FakeLab
from qemu.errors import JobTimeout
from qemu.machine import Result


class Job(FakeJob):
    """A server with a given end; stopped: how often it was asked to stop."""

    def __init__(self, code: int, err: str):
        super().__init__("serve", "server's output")
        self.stopped = 0
        self._end = Result(code, "", err, 0.1)

    def wait(self, timeout: float = 60, check: bool = False) -> Result:
        return self._end

    def stop(self, number: int = 15, timeout: float = 10) -> Result:
        self.stopped += 1
        return super().stop()


class Server(FakeHost):
    """A host whose server ends as told and may never listen."""

    def __init__(self, lab: FakeLab, code: int = 0, err: str = "",
                 listens: bool = True):
        super().__init__(lab, "b")
        self.job = Job(code, err)
        self.listens = listens

    def start(self, cmd: str) -> Job:
        return self.job

    def run(self, cmd: str, timeout: float = 60) -> Result:
        return Result(0 if self.listens else 1, "cpu 1 2 3 4 5 6 7\n", "", 0)


class Client(FakeHost):
    """A host whose client ends as told; asked: whether it ran at all."""

    def __init__(self, lab: FakeLab, code: int = 0, late: bool = False):
        super().__init__(lab, "a")
        self.code = code
        self.late = late
        self.asked = False

    def run(self, cmd: str, timeout: float = 60) -> Result:
        self.asked = True
        if self.late:
            raise JobTimeout("killed after 1 s: ask", "half a table", "")
        return Result(self.code, "table", "", 0.1)


class Ends(unittest.TestCase):
    def went(self, server: Server, client: Client, **options):
        try:
            return exchange(server, "serve", client, "ask", 1234, 1, **options)
        finally:
            self.assertEqual(server.job.stopped > 0, True)

    def hosts(self, server: dict, client: dict) -> tuple[Server, Client]:
        lab = FakeLab()
        return Server(lab, **server), Client(lab, **client)

    def test_both_succeed(self):
        went = self.went(*self.hosts({}, {}))
        self.assertEqual((went.asked.out, went.ready),
                         ("table", "cpu 1 2 3 4 5 6 7"))

    def test_failures(self):
        for server, client, text in (
                ({"listens": False}, {}, "no server on port 1234"),
                ({}, {"code": 3}, "exit status 3 of: ask"),
                ({}, {"late": True}, "half a table"),
                ({"code": 1, "err": "lost"}, {}, "server: exit status 1")):
            with self.subTest(text=text), \
                    self.assertRaisesRegex(CellError, text):
                self.went(*self.hosts(server, client))

    def test_no_client_without_a_server(self):
        server, client = self.hosts({"listens": False}, {})
        with self.assertRaises(CellError):
            self.went(server, client)
        self.assertFalse(client.asked)

    def test_a_known_end_of_the_server_is_forgiven(self):
        hosts = self.hosts({"code": 1, "err": "x\nrace at close\n"}, {})
        self.went(*hosts, may_end="race at close")
        with self.assertRaises(CellError):
            self.went(*hosts, may_end="another text")
        with self.assertRaises(CellError):
            self.went(*self.hosts({"code": 1, "err": "race at close"},
                                  {"code": 1}), may_end="race at close")

    def test_a_lasting_server_is_stopped(self):
        self.went(*self.hosts({"code": 1}, {}), ends=False)


class Numbers(unittest.TestCase):
    def test_ports_go_round(self):
        ports = Ports()
        found = [ports.take() for _ in range(PORTS + 1)]
        self.assertEqual(len(set(found)), PORTS)
        self.assertEqual((found[0], found[-1]), (FIRST_PORT, FIRST_PORT))


if __name__ == "__main__":
    unittest.main()
