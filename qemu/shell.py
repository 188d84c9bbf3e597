# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Two guests with a prompt in each, for people.

    /usr/bin/python3 -m qemu.shell [--side A|B|siw] [--kernel perf] [--mtu N]
    /usr/bin/python3 -m qemu.shell --attach b      from another terminal

Without a terminal, lines such as "a: rdma link" on standard input are run one
after the other; the exit status is that of the last one that failed, or 0.
"""

import argparse
import contextlib
import sys
import tempfile
from pathlib import Path

from qemu import procs, terminal
from qemu.errors import LabError
from qemu.lab import Lab, pair
from scripts.errors import run_main
from scripts.kernel import kernel

_HELP = """
Hosts a ({a4}, {a6}) and b ({b4}, {b6}).
RDMA device {dev}, driver of side {side}.
Ctrl-] then a or b: go to that host; Ctrl-] then q, or exit: end both.
Another terminal: /usr/bin/python3 -m qemu.shell --attach b
Another driver, in a guest: side unlink; side unload; side load A;
                            side link rxe0 rxe eth0
Try: on b  ib_send_lat -d rxe0      on a  ib_send_lat -d rxe0 {b4}
"""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="qemu.shell",
                                     description="two guests with a prompt")
    parser.add_argument("--side", default="B", choices=("A", "B", "siw"))
    parser.add_argument("--kernel", default="perf", metavar="VARIANT")
    parser.add_argument("--mtu", type=int, default=4200)
    parser.add_argument("--smp", type=int, default=1, help="vCPUs of each")
    parser.add_argument("--attach", choices=("a", "b"),
                        help="another shell in guests that are already up")
    return parser.parse_args()


def _doors(directory: Path) -> dict[str, Path]:
    return {name: directory / f"shell-{name}" for name in ("a", "b")}


def _attach(name: str) -> int:
    """Join the newest pair of guests that is up."""
    found = sorted(Path(tempfile.gettempdir()).glob(
        f"{procs.PREFIX}*/shell-{name}"), key=lambda p: p.stat().st_mtime)
    if not found:
        raise LabError("no guests are up; start them first: make shell")
    terminal.attach(_doors(found[-1].parent), name)
    return 0


def _run_lines(lab: Lab) -> int:
    """Run "host: command" lines; returns the last failure's status."""
    status = 0
    for line in sys.stdin:
        name, _, cmd = line.strip().partition(":")
        if name not in ("a", "b"):
            raise LabError(f"a line is \"a: command\" or \"b: command\", "
                           f"not {line.strip()!r}")
        result = getattr(lab, name).run(cmd.strip(), timeout=3600)
        sys.stdout.write(result.out)
        sys.stderr.write(result.err)
        sys.stdout.flush()
        status = result.code or status
    return abs(status)


def _talk(lab: Lab, side: str) -> int:
    """Let the person at the terminal use both hosts."""
    directory = procs.run_dir()
    with contextlib.ExitStack() as stack:
        stack.callback(procs.remove, directory)
        for name, path in _doors(directory).items():
            door = terminal.Door(getattr(lab, name), path)
            stack.callback(door.close)
        print(_HELP.format(a4=lab.a.ip4, a6=lab.a.ip6, b4=lab.b.ip4,
                           b6=lab.b.ip6, dev=lab.a.dev, side=side), flush=True)
        terminal.attach(_doors(directory), "a")
    return 0


def main() -> int:
    """Boot, serve, end."""
    args = _arguments()
    if args.attach:
        return _attach(args.attach)
    with pair(kernel(args.kernel), mtu=args.mtu, smp=args.smp) as lab:
        facts = lab.facts
        print(f"Linux {facts['kernel']}, {facts['accel']}, QEMU "
              f"{facts['qemu']}, USO {'on' if facts['uso'] else 'off'}, "
              f"{facts['wire']}, MTU {lab.mtu}", file=sys.stderr, flush=True)
        lab.load(args.side)
        return _talk(lab, args.side) if sys.stdin.isatty() else _run_lines(lab)


if __name__ == "__main__":
    run_main("shell", main)
