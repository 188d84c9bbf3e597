# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What the numbers depend on: the `env` of a report.

No absolute path: a report travels, and a path of this machine says nothing
to its reader.
"""

import hashlib
import re
import subprocess
from pathlib import Path

from scripts import series
from scripts.errors import LabError
from scripts.paths import ROOT, cache_dir

PACKAGES = {"rdma_core": "rdma-core", "perftest": "perftest",
            "qperf": "qperf", "iperf3": "iperf3"}

_PATH = re.compile(r"(?:^|[\s=:'\"(,])(/[\w.+-]+(?:/[\w.+-]+)+)")


class PathInFacts(LabError):
    """A fact holds an absolute path."""


def package_versions() -> dict[str, str]:
    """Installed versions; the guest's image is made from these packages."""
    found = {}
    for key, name in PACKAGES.items():
        done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name],
                              capture_output=True, text=True)
        found[key] = done.stdout if done.returncode == 0 else "not installed"
    return found


def series_facts() -> dict:
    """{"patches": how many, "tree": a hash over them in order}."""
    seen = hashlib.sha256()
    every = series.patches()
    for patch in every:
        data = patch.read_bytes()
        seen.update(f"{series.name(patch)} {len(data)}\n".encode() + data)
    return {"patches": len(every), "tree": seen.hexdigest()[:20]}


def env(facts: dict[str, dict], matrix: str) -> dict:
    """The report's env from the facts of each mode that ran.

    What modes differ in is under "modes"; the first of them also gives the
    values at the top, where the two-VM mode comes first.
    """
    first = next((known for known in facts.values() if known), {})
    top = {
        "matrix": matrix,
        "kernel": first.get("kernel"),
        "config_hash": first.get("config"),
        "accel": first.get("accel"),
        "vcpus": first.get("vcpus"),
        "qdisc": first.get("qdisc"),
        "qemu": first.get("qemu"),
        "uso": first.get("uso"),
        "hz": first.get("hz"),
        "mtu": first.get("mtu"),
        "host_kernel": first.get("host_kernel"),
        "host_cpus": len(_cpus()),
        "cpu_model": _cpu_model(),
        **package_versions(),
        "series": series_facts(),
        "modes": facts,
    }
    refuse_paths(top)
    return top


def _cpus() -> list[str]:
    text = Path("/proc/cpuinfo").read_text()
    return re.findall(r"^processor\s*:", text, re.M)


def _cpu_model() -> str:
    found = re.search(r"^model name\s*:\s*(.+)$",
                      Path("/proc/cpuinfo").read_text(), re.M)
    return found[1] if found else "unknown"


def refuse_paths(value: object, where: str = "env") -> None:
    """Raise PathInFacts when a text in a nested value is or has a path."""
    if isinstance(value, dict):
        for key, item in value.items():
            refuse_paths(item, f"{where}.{key}")
    elif isinstance(value, (list, tuple)):
        for item in value:
            refuse_paths(item, where)
    elif isinstance(value, str) and _PATH.search(value):
        raise PathInFacts(f"{where} holds a path of this machine: {value}")


def without_paths(text: str) -> str:
    """An error's text without the places of this machine's files."""
    for path, name in ((str(cache_dir()), "CACHE"), (str(ROOT), "."),
                       (str(Path.home()), "~")):
        if len(path) > 1:
            text = text.replace(path, name)
    return text
