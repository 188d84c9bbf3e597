# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Two RDMA hosts, a and b, with a wire between them.

    with pair(kernel) as lab:           two QEMU guests on a bridge
    with single(kernel) as lab:         one guest, two namespaces, counted
    with native(kernel) as lab:         the same in User-mode Linux
        lab.load("A")
        server = lab.b.start("ib_send_bw -d rxe0")
        ...
"""

import contextlib
import ipaddress
import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from qemu import accel, argv, facts, procs, topology
from qemu.errors import CommandFailed, SetupError, WireLost, outputs
from qemu.faultwire import FaultWire
from qemu.image import guest_image
from qemu.insn import InsnCounter
from qemu.machine import Job, Machine, Result
from qemu.payload import payload as make_payload
from qemu.uml import UmlMachine
from qemu.vm import VmMachine
from scripts.kernel import Kernel

VM_NET = ("10.77.0.", "fd77::")
NS_NET = ("10.78.0.", "fd78::")
NUMBER = {"a": 1, "b": 2}
MTU = 4200              # a 4096-byte path MTU fits
LOAD_LIMIT = 60.0       # seconds to load a module or to create a device
DRIVER = {"A": "rxe", "B": "rxe", "siw": "siw"}


class Host:
    """One RDMA end point: a guest, or a network namespace of one.

    machine: where it is; name: "a" or "b"; ip4, ip6: its addresses;
    netdev: its network interface; dev: its RDMA device, once loaded.
    """

    def __init__(self, machine: Machine, name: str, net: tuple[str, str],
                 netdev: str, namespace: str = ""):
        self.machine = machine
        self.name = name
        self.ip4 = f"{net[0]}{NUMBER[name]}"
        self.ip6 = f"{net[1]}{NUMBER[name]}"
        self.netdev = netdev
        self.namespace = namespace
        self.alone = netdev == "eth0"
        self.dev = self.dev_name("rxe")

    def dev_name(self, driver: str) -> str:
        """What a device of this driver is called here: rxe0, or rxa."""
        return f"{driver}0" if self.alone else f"{driver[:2]}{self.name}"

    def _inside(self, cmd: str) -> str:
        if not self.namespace:
            return cmd
        return (f"exec ip netns exec {self.namespace} "
                f"sh -c {shlex.quote(cmd)}")

    def start(self, cmd: str, **options) -> Job:
        """Machine.start() inside this host."""
        return self.machine.start(self._inside(cmd), **options)

    def run(self, cmd: str, timeout: float = 60,
            check: bool = False) -> Result:
        """Machine.run() inside this host."""
        return self.start(cmd).wait(timeout, check)

    def sh(self, cmd: str, timeout: float = 60) -> str:
        """Standard output of a command; raises CommandFailed unless it
        exits with status 0."""
        result = self.run(cmd, timeout)
        if result.code:
            raise CommandFailed(f"host {self.name}", cmd, result.code,
                                result.out, result.err)
        return result.out

    def gid(self, address: str) -> int:
        """The index of the RoCE v2 GID of one of our IP addresses."""
        return int(self.sh(f"side gid {self.dev} {gid_text(address)}"))

    def set_up(self, mtu: int) -> None:
        """Give the interface its MTU and addresses; no wait for DAD."""
        self.sh(f"""set -e
echo 0 > /proc/sys/net/ipv6/conf/{self.netdev}/accept_dad
ip link set lo up
ip link set {self.netdev} mtu {mtu} up
ip addr add {self.ip4}/24 dev {self.netdev}
ip addr add {self.ip6}/64 dev {self.netdev} nodad""")

    def link(self, driver: str) -> None:
        """Create the device and wait until it has all its GIDs."""
        self.dev = self.dev_name(driver)
        gids = ([gid_text(self.ip4), gid_text(self.ip6)]
                if driver == "rxe" else [])
        self.sh(f"side link {self.dev} {driver} {self.netdev} "
                f"{' '.join(gids)}", LOAD_LIMIT)


def gid_text(address: str) -> str:
    """An address as sysfs writes it as a GID."""
    ip = ipaddress.ip_address(address)
    if ip.version == 4:
        ip = ipaddress.IPv6Address(f"::ffff:{address}")
    return ip.exploded


class Lab:
    """Two hosts. facts: what a result depends on, for reports."""

    def __init__(self, a: Host, b: Host, known: dict,
                 wire: topology.Bridge | topology.SocketLink | FaultWire
                 | None = None,
                 counter: InsnCounter | None = None):
        self.a = a
        self.b = b
        self.wire = wire
        self.mtu = known["mtu"]
        self._counter = counter
        self.facts = {**known, **facts.of_guest(a)}

    @property
    def machines(self) -> list[Machine]:
        """The guests: two, or the one that both hosts are in."""
        return list(dict.fromkeys((self.a.machine, self.b.machine)))

    def load(self, side_a: str, side_b: str | None = None) -> None:
        """Put a driver on each host, "A", "B" or "siw", instead of any other.

        Where both hosts are in one guest there is one driver for both.
        Returns when both have a device with all its GIDs.
        """
        sides = {"a": side_a, "b": side_b or side_a}
        if len(self.machines) == 1 and sides["a"] != sides["b"]:
            raise SetupError("two hosts in one guest share one driver: "
                             f"cannot load {side_a} and {side_b}")
        self.unload()
        for machine in self.machines:
            host = self.a if machine is self.a.machine else self.b
            machine.run(f"side load {sides[host.name]}", LOAD_LIMIT, True)
        for host in (self.a, self.b):
            host.link(DRIVER[sides[host.name]])

    def unload(self) -> None:
        """Delete the devices and remove the drivers; CommandFailed if not."""
        for host in (self.a, self.b):
            host.sh("side unlink", LOAD_LIMIT)
        for machine in self.machines:
            machine.run("side unload", LOAD_LIMIT, True)

    def set_mtu(self, mtu: int) -> None:
        """Change both interfaces' MTU; at most what the lab was made for."""
        for host in (self.a, self.b):
            host.sh(f"ip link set {host.netdev} mtu {mtu}")
        self.mtu = mtu
        self.facts["mtu"] = mtu

    def check_wire(self) -> None:
        """Raise WireLost unless a reaches b, and GuestError if one is lost."""
        # A neighbour entry that just failed needs more than one try.
        result = self.a.run("for i in 1 2 3 4 5; do ping -q -c 1 -W 1 "
                            f"{self.b.ip4} && exit; done; exit 1")
        self.b.run("true")
        if result.code:
            raise WireLost(f"host a does not reach host b at {self.b.ip4}:\n"
                           f"{outputs(result.out, result.err)}")

    def splats(self) -> list[str]:
        """New kernel splats of all guests."""
        return [s for machine in self.machines for s in machine.splats()]

    def instructions(self) -> tuple[int, int]:
        """Instructions executed so far by the guest: (user, kernel)."""
        if self._counter is None:
            raise SetupError("only single() counts instructions")
        return self._counter.read()

    def between_marks(self) -> tuple[int, int, int]:
        """(marks so far, user, kernel): the instructions between the last
        two times that the guest ran the program `mark`."""
        if self._counter is None:
            raise SetupError("only single() counts instructions")
        return self._counter.between()


def _cores(smp: int) -> dict[str, str]:
    """Host cores of each guest, when there are enough to give each its own."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2 * smp:
        return {}
    return {"a": ",".join(map(str, cores[:smp])),
            "b": ",".join(map(str, cores[smp:2 * smp]))}


@contextlib.contextmanager
def _guests() -> Iterator[tuple[contextlib.ExitStack, Path]]:
    """(stack, directory) of a run: at the end the machines are closed."""
    with contextlib.ExitStack() as stack:
        run_dir = procs.run_dir()
        stack.callback(procs.remove, run_dir)
        yield stack, run_dir


def _close(machines: list[Machine]) -> None:
    for machine in machines:
        machine.power_off()
    for machine in machines:
        machine.close()


@contextlib.contextmanager
def pair(kernel: Kernel, mtu: int = MTU, smp: int = 1,
         memory: str = "1536M", payload: Path | None = None,
         args: tuple[str, ...] = (), nic_options: str = "",
         wire: FaultWire | None = None) -> Iterator[Lab]:
    """Two QEMU guests on a bridge, each on a host core of its own.

    mtu: of the guests' interfaces; set_mtu() may lower it and raise it again
    to the larger of this and 4200. smp: vCPUs of each. payload: another
    second disk. args: kernel parameters. nic_options: of virtio-net-pci.
    wire: another one than the best there is; closed at the end.
    """
    which, kind = accel.qemu(), accel.accelerator()
    disk = payload or make_payload(kernel)
    cores = _cores(smp)
    with _guests() as (stack, run_dir):
        wire = wire or topology.wire()
        stack.callback(wire.close)
        machines: list[Machine] = []
        stack.callback(_close, machines)
        for name in ("a", "b"):
            vm = argv.Vm(name, kernel.image, guest_image(), disk,
                         run_dir / f"console-{name}.log", accel=kind, smp=smp,
                         memory=memory,
                         mac=f"52:54:00:77:00:0{NUMBER[name]}",
                         netdev=wire.netdev(name), nic_options=nic_options,
                         host_mtu=max(mtu, MTU), args=list(args))
            pin = ["taskset", "-c", cores[name]] if cores else []
            machines.append(VmMachine(vm, which, [*wire.prefix(), *pin],
                                      wire.pass_fds(name)))
        hosts = [Host(machine, machine.name, VM_NET, "eth0")
                 for machine in machines]
        for host in hosts:
            host.machine.wait_boot()
            host.set_up(mtu)
        yield Lab(*hosts, facts.of_qemu(kernel, which, kind, smp, mtu)
                  | {"mode": "two-vm", "wire": wire.kind,
                     "host_cores": cores or "shared"}, wire)


def _namespaces(machine: Machine, mtu: int) -> tuple[Host, Host]:
    """Host a in the guest's first namespace, b in another, veth between."""
    # The RDMA core stays in its shared mode: a software device is created in
    # the first namespace, wherever its netdev is, and seen in all.
    machine.run("""set -e
ip netns add b
ip link add va type veth peer name vb netns b""", check=True)
    hosts = (Host(machine, "a", NS_NET, "va"),
             Host(machine, "b", NS_NET, "vb", "b"))
    for host in hosts:
        host.set_up(mtu)
    return hosts


@contextlib.contextmanager
def single(kernel: Kernel, mtu: int = MTU, memory: str = "1536M",
           payload: Path | None = None,
           args: tuple[str, ...] = ()) -> Iterator[Lab]:
    """One guest with one vCPU in virtual time, whose instructions count.

    One instruction is one nanosecond; idling takes no wall-clock time. The
    distribution's QEMU under TCG, whatever else there is.
    """
    which = accel.system_qemu()
    with _guests() as (stack, run_dir):
        counter = InsnCounter(run_dir)
        stack.callback(counter.close)
        vm = argv.Vm("single", kernel.image, guest_image(),
                     payload or make_payload(kernel),
                     run_dir / "console-single.log", memory=memory,
                     icount=True, plugin=counter.argument, args=list(args))
        machine = VmMachine(vm, which)
        stack.callback(machine.close)
        machine.wait_boot()
        hosts = _namespaces(machine, mtu)
        yield Lab(*hosts, facts.of_qemu(kernel, which, "tcg", 1, mtu)
                  | {"mode": "insn", "wire": "veth"}, counter=counter)


@contextlib.contextmanager
def native(kernel: Kernel, mtu: int = MTU, memory: str = "1G", cpus: int = 2,
           payload: Path | None = None,
           args: tuple[str, ...] = ()) -> Iterator[Lab]:
    """User-mode Linux: native speed, real parallelism, no KVM needed."""
    with _guests() as (stack, run_dir):
        machine = UmlMachine("native", kernel.image, guest_image(),
                             payload or make_payload(kernel), run_dir,
                             cpus=cpus, memory=memory, args=args)
        stack.callback(machine.close)
        machine.wait_boot()
        hosts = _namespaces(machine, mtu)
        yield Lab(*hosts, facts.of_uml(kernel, cpus, mtu)
                  | {"mode": "native", "wire": "veth"})
