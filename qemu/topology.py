# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The wire between two guests.

    +--------- network namespace of this run ----------+
    |  guest a -- ta --+-- br0 (MTU 9000) --+-- tb -- guest b  |
    +--------------------------------------------------+

Bridge needs root. Without it SocketLink joins the two guests' NICs by a
socket: no offloads, nothing to capture, and slower.

The namespace has no name: it lives as long as its processes, so there is
nothing to collide with and nothing to clean up.
"""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from qemu import procs
from qemu.errors import SetupError

MTU = 9000              # of bridge and taps: more than any guest uses
READY_LIMIT = 10.0      # seconds for the namespace to be there


class Bridge:
    """A network namespace with a bridge and a tap for each guest."""

    kind = "bridge"

    def __init__(self):
        self._holder = procs.start(["unshare", "--net", "--",
                                    "sleep", "infinity"])
        try:
            self._wait_ready()
            self._build()
        except BaseException:
            self.close()
            raise

    def _wait_ready(self) -> None:
        own = os.readlink("/proc/self/ns/net")
        end = time.monotonic() + READY_LIMIT
        while time.monotonic() < end:
            if self._holder.poll() is not None:
                raise SetupError("cannot make a network namespace (unshare "
                                 "--net failed); is this a restricted "
                                 "container?")
            try:
                if os.readlink(f"/proc/{self._holder.pid}/ns/net") != own:
                    return
            except OSError:
                pass    # it just ended: the next turn tells
            time.sleep(0.01)
        raise SetupError("unshare --net made no namespace in "
                         f"{READY_LIMIT:.0f} s")

    def _build(self) -> None:
        # The bridge learns nothing about multicast: it floods it.
        script = f"""set -e
ip link set lo up
ip link add br0 mtu {MTU} type bridge mcast_snooping 0
ip link set br0 up
for tap in ta tb; do
    ip tuntap add $tap mode tap
    ip link set $tap mtu {MTU} master br0 up
done"""
        done = self.run(["sh", "-c", script])
        if done.returncode:
            raise SetupError("cannot build the bridge between the guests:\n"
                             f"{done.stderr.strip()}")

    def prefix(self) -> list[str]:
        """What makes a command run in the namespace."""
        return ["nsenter", f"--net=/proc/{self._holder.pid}/ns/net", "--"]

    def run(self, argv: list[str],
            timeout: float = 60) -> subprocess.CompletedProcess:
        """Run a host command in the namespace, such as tc or tcpdump."""
        return subprocess.run([*self.prefix(), *argv], text=True,
                              capture_output=True, timeout=timeout)

    def start(self, argv: list[str], **popen) -> subprocess.Popen:
        """Start one that ends with this process; procs.end() ends it."""
        return procs.start([*self.prefix(), *argv], **popen)

    def netdev(self, host: str) -> str:
        """QEMU's -netdev argument of host "a" or "b"."""
        return (f"tap,id=n0,ifname={self.tap(host)},script=no,"
                "downscript=no,vhost=off")

    def tap(self, host: str) -> str:
        """The interface in the namespace that leads to a host."""
        return f"t{host}"

    def pass_fds(self, host: str) -> tuple[int, ...]:
        """Descriptors that the guest's process inherits for its NIC."""
        return ()

    def close(self) -> None:
        """End the namespace; the guests must have ended."""
        procs.end(self._holder)


class SocketLink:
    """The two guests' NICs joined by a pair of sockets; needs no rights."""

    kind = "socket"

    def __init__(self):
        one, other = socket.socketpair()
        self._ends = {"a": one, "b": other}

    def prefix(self) -> list[str]:
        """There is no namespace: nothing."""
        return []

    def netdev(self, host: str) -> str:
        """QEMU's -netdev argument of host "a" or "b"."""
        return f"socket,id=n0,fd={self._ends[host].fileno()}"

    def pass_fds(self, host: str) -> tuple[int, ...]:
        """Descriptors that the guest's process inherits for its NIC."""
        return (self._ends[host].fileno(),)

    def close(self) -> None:
        """Close our copies of the ends."""
        for end in self._ends.values():
            end.close()


def may_bridge() -> bool:
    """Whether this process can build a Bridge."""
    return os.geteuid() == 0 and Path("/dev/net/tun").exists()


def wire() -> Bridge | SocketLink:
    """The best wire that this process may build; says if it is a socket."""
    if may_bridge():
        return Bridge()
    print("note: not root, or no /dev/net/tun: a socket joins the two guests "
          "instead of a bridge, without offloads", file=sys.stderr)
    return SocketLink()
