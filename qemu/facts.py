# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What a result depends on: collected from the host and from the guest."""

import os
import re
from typing import TYPE_CHECKING

from qemu.accel import Qemu
from scripts.kernel import Kernel

if TYPE_CHECKING:
    from qemu.lab import Host

_CLOCK = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
_GUEST = """
echo "qdisc=$(tc qdisc show dev {dev} | head -n 1 | cut -d ' ' -f 2)"
echo "uso=$(ethtool -k {dev} | sed -n 's/^tx-udp-segmentation: //p')"
echo "clocksource=$(cat {clock})"
"""


def _of_kernel(kernel: Kernel, mtu: int) -> dict:
    text = kernel.config.read_text()
    hz = re.search(r"^CONFIG_HZ=(\d+)$", text, re.M)
    fast = "\nCONFIG_CRC32_ARCH=y\n" in text
    return {"kernel": kernel.release, "variant": kernel.variant,
            "config": kernel.config_hash, "hz": int(hz[1]) if hz else None,
            "crc": "optimised" if fast else "table",
            "mtu": mtu, "host_kernel": os.uname().release}


def of_qemu(kernel: Kernel, which: Qemu, kind: str, vcpus: int,
            mtu: int) -> dict:
    """Facts of a QEMU guest."""
    return _of_kernel(kernel, mtu) | {"accel": kind, "qemu": which.version,
                                      "vcpus": vcpus}


def of_uml(kernel: Kernel, cpus: int, mtu: int) -> dict:
    """Facts of a User-mode Linux guest."""
    return _of_kernel(kernel, mtu) | {"accel": "uml", "qemu": None,
                                      "vcpus": cpus}


def of_guest(host: "Host") -> dict:
    """Facts that only the running guest knows.

    uso: whether its NIC takes UDP packets for segmentation: True, False.
    """
    out = host.sh(_GUEST.format(dev=host.netdev, clock=_CLOCK))
    found = dict(line.split("=", 1) for line in out.splitlines())
    return {**found, "qdisc": found.get("qdisc") or "none",
            "uso": found.get("uso", "").startswith("on"),
            "boot_seconds": round(host.machine.boot_seconds, 1)}
