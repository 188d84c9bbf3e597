# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""One perftest measurement: the command, its run, its table.

perftest 4.5 of Debian 12 has --out_json, but what that writes is no JSON
(bare keys, trailing commas), so its table is parsed, strictly: the heading
must be the known one, with one row, of this size and this many iterations,
and the path MTU that of the link.
"""

import re
from dataclasses import dataclass, field

from bench.exchange import CellError, Ports, Probe, exchange
from bench.matrix import DEPTH, Run
from qemu.lab import Lab

# Seconds of wall clock for one client. Emulation on a busy machine is slow,
# and virtual time slower still; a run that takes this long hangs.
TIMEOUT = {"two-vm": 90, "native": 45, "insn": 150}

# Messages below MODERATED bytes ask for a completion each MODERATION messages.
MODERATED = 8192
MODERATION = 16

# What rxe keeps free of a link's MTU for its headers (RXE_MAX_HDR_LENGTH).
HEADERS = 80
PATH_MTUS = (256, 512, 1024, 2048, 4096)

# What perftest says when its look at the clock was disturbed so much that it
# does not know the CPU's frequency; with -F its figures are then 0. That says
# nothing about the driver, so the run is repeated.
UNCALIBRATED = "Correlation coefficient"
CALIBRATIONS = 4

# With -R, perftest's two ends race when they close the connection; the server
# can lose after both have printed their results.
CLOSE_RACE = "Failed to close connection between server and client"

_LAT = ("#bytes", "#iterations", "t_min[usec]", "t_max[usec]",
        "t_typical[usec]", "t_avg[usec]", "t_stdev[usec]",
        "99% percentile[usec]", "99.9% percentile[usec]")
_BW = ("#bytes", "#iterations", "BW peak[MB/sec]", "BW average[MB/sec]",
       "MsgRate[Mpps]")


@dataclass(frozen=True)
class Numbers:
    """What a run measured; fields that its test does not yield are None."""

    lat: float | None = None        # us, typical (median), half a round trip
    p99: float | None = None        # us
    bw: float | None = None         # MiB/s, which perftest calls MB/sec
    rate: float | None = None       # messages per second

    def of(self, kind: str) -> float:
        value = getattr(self, kind)
        if value is None:
            raise ValueError(f"this run does not measure {kind}")
        return value


@dataclass
class Link:
    """A loaded lab as perftest sees it. Host a is the client, b the server."""

    lab: Lab
    side: str                       # "A" | "B" | "siw"
    ports: Ports
    gids: dict[int, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, lab: Lab, side: str, ports: Ports) -> "Link":
        """Look up the GIDs of both hosts' addresses, by family."""
        if side == "siw":
            return cls(lab, side, ports)
        return cls(lab, side, ports,
                   {4: (lab.a.gid(lab.a.ip4), lab.b.gid(lab.b.ip4)),
                    6: (lab.a.gid(lab.a.ip6), lab.b.gid(lab.b.ip6))})


def command(run: Run, dev: str, gid: int, port: int, iterations: int,
            server: str = "", siw: bool = False) -> str:
    """The perftest command of one end; the client's names the server.

    -F: perftest must not stop at the guest's CPU frequency.
    -N: no peak bandwidth, which costs a clock read per message.
    -Q: a completion for every 16th message below 8 KiB. perftest's own
    choice there, every 100th of a queue of 128, lets a run lock into one of
    two rhythms that differ by 15 % in instructions. With events always:
    perftest takes 16 completions per event and hangs when there were more.
    -R: siw is iWARP and connects through the connection manager only.
    """
    words = [f"ib_{run.verb}_{run.test}", "-F", "-d", dev, "-p", str(port),
             "-n", str(iterations)]
    words += ["-R"] if siw else ["-x", str(gid)]
    if run.verb != "atomic":
        words += ["-s", str(run.size)]
    if run.test == "bw":
        words += ["-N", "-q", str(run.qps)]
        if run.depth != DEPTH:
            words += ["-t", str(run.depth)]
        if run.post_list > 1:
            words += ["-l", str(run.post_list)]
        elif (run.events or run.size < MODERATED) \
                and run.depth >= MODERATION:
            words += ["-Q", str(MODERATION)]
    if run.events:
        words.append("-e")
    return " ".join(words + ([server] if server else []))


def _row(out: str, columns: tuple[str, ...]) -> list[float]:
    """The numbers of the only row below the heading; CellError if unsure."""
    lines = out.splitlines()
    heads = [i for i, line in enumerate(lines)
             if line.lstrip().startswith("#bytes")]
    if len(heads) != 1:
        raise CellError(f"{len(heads)} tables instead of one in:\n{out}")
    heading = re.split(r"\s+(?=[#tBM9])", lines[heads[0]].strip())
    heading = [" ".join(column.split()) for column in heading]
    if tuple(heading) != columns:
        raise CellError(f"an unknown heading: {lines[heads[0]].strip()}")
    rows = []
    for line in lines[heads[0] + 1:]:
        if line.startswith("---"):
            break
        if line.strip():
            rows.append(line)
    if len(rows) != 1:
        raise CellError(f"{len(rows)} rows instead of one in:\n{out}")
    try:
        numbers = [float(word) for word in rows[0].split()]
    except ValueError:
        raise CellError(f"not a row of numbers: {rows[0]}") from None
    if len(numbers) != len(columns):
        raise CellError(f"{len(numbers)} numbers for {len(columns)} columns: "
                        f"{rows[0]}")
    return numbers


def path_mtu(mtu: int) -> int:
    """The path MTU that rxe offers on a link of this MTU, both in bytes."""
    return max(size for size in PATH_MTUS if size <= mtu - HEADERS)


def _check_path_mtu(out: str, run: Run) -> None:
    found = re.findall(r"^ Mtu +: (\d+)\[B\]$", out, re.M)
    if found != [str(path_mtu(run.mtu))]:
        raise CellError(f"path MTU {found} on a link of {run.mtu} in:\n{out}")


def parse(out: str, run: Run, iterations: int, siw: bool = False) -> Numbers:
    """The numbers in a client's output.

    siw: which has no path MTU. Raises CellError unless it is what this run
    must have printed.
    """
    if not siw:
        _check_path_mtu(out, run)
    row = _row(out, _LAT if run.test == "lat" else _BW)
    count = iterations * run.qps
    if (row[0], row[1]) != (run.size, count):
        raise CellError(f"asked for {count} messages of {run.size} bytes, "
                        f"measured {row[1]:.0f} of {row[0]:.0f}")
    if run.test == "lat":
        numbers = Numbers(lat=row[4], p99=row[7])
        figures = [numbers.lat, numbers.p99]
    else:
        numbers = Numbers(bw=row[3], rate=row[4] * 1e6)
        figures = [numbers.bw if run.size >= 4096 else numbers.rate]
    if not all(figure > 0 for figure in figures):
        raise CellError(f"a figure that is not above 0 in:\n{out}")
    return numbers


def measure(link: Link, run: Run, iterations: int,
            probe: Probe = Probe()) -> Numbers:
    """Run perftest once.

    iterations: per QP. probe: takes what it measures. Raises CellError when
    perftest fails, GuestError when a guest is lost.
    """
    lab, port = link.lab, link.ports.take()
    siw = link.side == "siw"
    gid_a, gid_b = link.gids.get(run.family, (0, 0))
    serve = command(run, lab.b.dev, gid_b, port, iterations, siw=siw)
    ask = command(run, lab.a.dev, gid_a, port, iterations, lab.b.ip4, siw)
    serve, ask = probe.wrap(serve, ask)
    for _ in range(CALIBRATIONS):
        went = exchange(lab.b, serve, lab.a, ask, port, TIMEOUT[run.mode],
                        may_end=CLOSE_RACE if siw else "")
        if UNCALIBRATED not in went.asked.err:
            return parse(probe.unwrap(went), run, iterations, siw)
    raise CellError(f"perftest could not calibrate its clock {CALIBRATIONS} "
                    f"times in a row; is the machine busy? {went.asked.err}")
