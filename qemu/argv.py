# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The command line of a QEMU guest, built from a description; runs nothing."""

from dataclasses import dataclass, field
from pathlib import Path

# A guest that hangs or warns is a result: it panics, and QEMU exits.
KERNEL_ARGS = (
    "console=ttyS0", "root=/dev/vda", "rootfstype=erofs", "ro", "init=/init",
    "panic=-1", "panic_on_warn=1", "oops=panic", "softlockup_panic=1",
    "watchdog_thresh=20", "sysctl.kernel.hung_task_panic=1",
    "sysctl.kernel.hung_task_timeout_secs=60", "tsc=reliable",
    "mitigations=off", "random.trust_cpu=on", "unknown_nmi_panic",
)

# Without what only newer QEMUs emulate: memcpy and the CRC would be other
# functions there.
CPU = {"kvm": "host", "tcg": "max,fsrm=off,vpclmulqdq=off"}


@dataclass
class Vm:
    """What a guest is made of.

    accel:    "kvm" or "tcg";
    netdev:   QEMU's -netdev argument (its id is n0), None: no NIC;
    host_mtu: what the NIC tells the guest, which is also the most it takes;
    agent_fd: inherited descriptor of the agent's socket;
    monitor_fd: and of the monitor's;
    icount:   virtual time by executed instructions, never sleeping;
    plugin:   QEMU's -plugin argument;
    args:     further kernel parameters.
    """

    name: str
    kernel: Path
    root: Path
    payload: Path
    console: Path
    agent_fd: int = -1
    monitor_fd: int = -1
    accel: str = "tcg"
    smp: int = 1
    memory: str = "1536M"
    mac: str = ""
    netdev: str | None = None
    nic_options: str = ""
    host_mtu: int = 4200
    icount: bool = False
    plugin: str | None = None
    args: list[str] = field(default_factory=list)


def _disk(name: str, path: Path) -> list[str]:
    return ["-drive", f"if=none,id={name},format=raw,readonly=on,file={path}",
            "-device", f"virtio-blk-pci,drive={name}"]


def _nic(vm: Vm) -> list[str]:
    if vm.netdev is None:
        return []
    options = f",{vm.nic_options}" if vm.nic_options else ""
    return ["-netdev", vm.netdev, "-device",
            f"virtio-net-pci,netdev=n0,mac={vm.mac},host_mtu={vm.host_mtu},"
            f"mrg_rxbuf=on{options}"]


def _accel(vm: Vm) -> list[str]:
    if vm.icount:
        return ["-accel", "tcg", "-icount", "shift=0,sleep=off"]
    if vm.accel == "tcg":
        return ["-accel", "tcg,thread=multi"]
    return ["-accel", vm.accel]


def argv(vm: Vm, qemu: list[str]) -> list[str]:
    """The command for a guest; `qemu` is the program and what precedes it."""
    append = [*KERNEL_ARGS, f"host={vm.name}", *vm.args]
    return [
        *qemu, "-name", vm.name, "-machine", "q35", *_accel(vm),
        "-cpu", CPU[vm.accel], "-smp", str(vm.smp), "-m", vm.memory,
        "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
        "-kernel", str(vm.kernel), "-append", " ".join(append),
        "-serial", f"file:{vm.console}",
        *_disk("root", vm.root), *_disk("payload", vm.payload), *_nic(vm),
        "-chardev", f"socket,id=agent,fd={vm.agent_fd}",
        "-device", "virtio-serial-pci,max_ports=2",
        "-device", "virtserialport,chardev=agent,name=agent",
        "-chardev", f"socket,id=monitor,fd={vm.monitor_fd}",
        "-mon", "chardev=monitor,mode=control",
        *(["-plugin", vm.plugin] if vm.plugin else []),
    ]
