# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A lab without guests: answers perftest, qperf and iperf3 commands."""

import contextlib
import json
import re
from collections.abc import Callable, Iterator

from qemu.errors import CommandFailed, GuestPanic
from qemu.machine import Result

LAT_HEAD = (" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical"
            "[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]"
            "   99.9% percentile[usec] ")
BW_HEAD = (" #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]"
           "   MsgRate[Mpps]")
LINE = "-" * 87

# (side, command) -> figure: us for latency, messages per second else. May
# raise what a guest raises, or return None for a failing command.
Model = Callable[[str, str], float | None]


def steady(side: str, cmd: str) -> float:
    """A model in which all sides are alike."""
    return 900.0 if "_lat" in cmd else 4000.0


class FakeJob:
    """A server: it ends by itself, or when it is stopped."""

    def __init__(self, cmd: str, out: str):
        self.cmd = cmd
        self._out = out

    def wait(self, timeout: float = 60, check: bool = False) -> Result:
        return Result(0, self._out, "", 0.1)

    def stop(self, number: int = 15, timeout: float = 10) -> Result:
        return Result(-number, self._out, "", 0.1)

    def output(self) -> str:
        return self._out

    def errors(self) -> str:
        return ""


class FakeHost:
    """One end. commands: all that were started or run, in order."""

    def __init__(self, lab: "FakeLab", name: str):
        self.lab = lab
        self.name = name
        self.ip4 = f"10.77.0.{1 if name == 'a' else 2}"
        self.ip6 = f"fd77::{1 if name == 'a' else 2}"
        self.dev = "rxe0"
        self.netdev = "eth0"
        self.commands: list[str] = []

    def gid(self, address: str) -> int:
        return 6 if ":" in address else 1

    def sh(self, cmd: str, timeout: float = 60) -> str:
        self.commands.append(cmd)
        return ""

    def start(self, cmd: str) -> FakeJob:
        self.commands.append(cmd)
        ticks = self.lab.ticks
        return FakeJob(cmd, f"{stat(ticks)}\nserver\n{stat(ticks + 20)}\n")

    def run(self, cmd: str, timeout: float = 60) -> Result:
        self.commands.append(cmd)
        if "/proc/net/tcp" in cmd:
            return Result(0, stat(self.lab.ticks), "", 0.0)
        figure = self.lab.model(self.lab.side, cmd)
        if figure is None:
            return Result(1, "", "Couldn't connect", 0.1)
        return Result(0, self._answer(cmd, figure), "", 0.1)

    def _answer(self, cmd: str, figure: float) -> str:
        if "iperf3" in cmd:
            return json.dumps({"end": {"sum_received": {
                "bits_per_second": figure * 2**23}}})
        if "qperf" in cmd:
            test = cmd.split()[-1]
            return (f"{test}:\n    latency  =  {figure * 1000} ns\n"
                    if test.endswith("_lat") else
                    f"{test}:\n    send_bw  =  9e9 bytes/sec\n"
                    f"    recv_bw  =  {figure} bytes/sec\n")
        return self._perftest(cmd, figure)

    def _perftest(self, cmd: str, figure: float) -> str:
        def option(name: str, default: int) -> int:
            found = re.search(rf" -{name} (\d+)", cmd)
            return int(found[1]) if found else default
        count = option("n", 0) * option("q", 1)
        size = option("s", 8)
        self.lab.spend(cmd, count)
        before, after = self.lab.ticks, self.lab.ticks + 30 + count // 20
        if "_lat" in cmd:
            table = (f"{LAT_HEAD}\n {size} {count} {figure / 2:.2f} "
                     f"{figure * 9:.2f} {figure:.2f} {figure * 1.1:.2f} 1.00 "
                     f"{figure * 3:.2f} {figure * 5:.2f}\n")
        else:
            table = (f"{BW_HEAD}\n {size} {count} 0.00 "
                     f"{figure * size / 2**20:.2f} {figure / 1e6:.6f}\n")
        mtu = 4096 if self.lab.mtu == 4200 else 1024
        head = f" Mtu             : {mtu}[B]"
        out = f"{head}\n{LINE}\n{table}{LINE}\n"
        if "/proc/stat" in cmd:
            out = f"{stat(before)}\n{out}{stat(after)}\n"
        return out


def stat(ticks: int) -> str:
    """A first line of /proc/stat: half of the ticks are the kernel's."""
    return f"cpu  {ticks // 2} 0 {ticks - ticks // 2} 999 0 0 0 0 0 0"


class FakeLab:
    """Two hosts; loads: the sides that were loaded, in order."""

    def __init__(self, model: Model = steady, splat: str = "",
                 bad_side: str = "", leaks: bool = False):
        self.model = model
        self.a = FakeHost(self, "a")
        self.b = FakeHost(self, "b")
        self.mtu = 4200
        self.side = ""
        self.loads: list[str] = []
        self.mtus: list[int] = []
        self.ticks = 100
        self.facts = {"accel": "tcg", "kernel": "7.3.4", "vcpus": 1,
                      "mtu": 4200}
        self._splat = splat
        self._bad_side = bad_side
        self._leaks = leaks
        self._kernel = 0
        self._marks = 0

    def spend(self, cmd: str, messages: int) -> None:
        """Count a start-up and so many messages, if the command has marks."""
        self._marks += cmd.split().count("mark;")
        self._kernel = 5_000_000 + 20_000 * messages

    def between_marks(self) -> tuple[int, int, int]:
        return self._marks, 7, self._kernel

    def load(self, side: str) -> None:
        if side == self._bad_side:
            raise CommandFailed("a", f"modprobe {side}", 1, "", "bad symbol")
        self.side = side
        self.loads.append(side)

    def unload(self) -> None:
        if self._leaks:
            raise CommandFailed("a", "rmmod rdma_rxe", 1, "", "in use")

    def set_mtu(self, mtu: int) -> None:
        self.mtu = mtu
        self.mtus.append(mtu)

    def splats(self) -> list[str]:
        found, self._splat = self._splat, ""
        return [found] if found else []


class Boots:
    """An opener: boots labs by a factory and counts them."""

    def __init__(self, factory: Callable[[], FakeLab]):
        self._factory = factory
        self.labs: list[FakeLab] = []
        self.closed = 0

    @contextlib.contextmanager
    def __call__(self) -> Iterator[FakeLab]:
        lab = self._factory()
        self.labs.append(lab)
        try:
            yield lab
        finally:
            self.closed += 1


def panic(side: str) -> GuestPanic:
    return GuestPanic(f"{side}: Kernel panic - not syncing", "RIP: rxe_x")
