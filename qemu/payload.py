# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A guest's second disk: one kernel's modules, our programs, selftests.

    A/lib/modules/<release>  all modules, with the driver of side A
    B/lib/modules/<release>  the same with side B
    bin/                     guest/*.c that are no part of PID 1
    selftests/rdma/          the kernel's own tests of the driver, and the
                             series'; selftests/kselftest/, which they source
"""

import hashlib
import shutil
import subprocess
from pathlib import Path

from qemu.errors import SetupError
from scripts import base, cache, series
from scripts.kernel import Kernel, rxe_module
from scripts.paths import RXE

GUEST = Path(__file__).resolve().parent / "guest"
PID1 = {"init.c", "agent.c", "job.c"}
SIDES = ("A", "B")
KSELFTEST = "tools/testing/selftests/kselftest"
VERBS = Path("/usr/include/infiniband/verbs.h")
LIBRARIES = ("-libverbs", "-lrdmacm", "-lpthread")


def _programs() -> list[Path]:
    return sorted(p for p in GUEST.glob("*.c") if p.name not in PID1)


def _features() -> list[str]:
    """Macros for what verbs.h declares in newer versions only."""
    flush = "ibv_wr_flush" in VERBS.read_text() if VERBS.exists() else False
    return ["-DHAVE_IBV_WR_FLUSH"] if flush else []


def _sources() -> list[Path]:
    """What the programs are compiled from: they share headers."""
    return sorted([*_programs(), *GUEST.glob("*.h")])


def _digest(path: Path) -> str:
    """Hash of a file, or of all files below a directory with their names."""
    digest = hashlib.sha256()
    found = sorted(path.rglob("*")) if path.is_dir() else [path]
    for file in found:
        if file.is_file():
            digest.update(str(file.relative_to(path.parent)).encode() + b"\0")
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _add_side(tree: Path, side: str, kernel: Kernel, module: Path) -> None:
    """A complete module tree of one side, with depmod's files."""
    root = tree / side
    modules = root / "lib/modules" / kernel.release
    shutil.copytree(kernel.modules_root / "lib/modules" / kernel.release,
                    modules, symlinks=True)
    into = modules / "kernel" / RXE / "rdma_rxe.ko"
    into.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(module, into)
    done = subprocess.run(["/sbin/depmod", "-b", str(root), kernel.release],
                          capture_output=True, text=True)
    if done.returncode:
        raise SetupError(f"depmod for side {side} failed:\n{done.stderr}")


def _add_programs(tree: Path) -> None:
    from qemu.image import compile_c
    (tree / "bin").mkdir()
    for source in _programs():
        compile_c([*_features(), "-o", str(tree / "bin" / source.stem),
                   str(source), *LIBRARIES])


def _selftests() -> dict[str, Path]:
    """Directories below selftests/: with the series', and what they source."""
    source = base.base()
    return {"rdma": series.side(source, "B") / series.SELFTESTS,
            "kselftest": source.dir / KSELFTEST}


def _add_selftests(tree: Path) -> None:
    for name, source in _selftests().items():
        shutil.copytree(source, tree / "selftests" / name)


def _add_extra(tree: Path, extra: dict[str, Path]) -> None:
    for name, path in extra.items():
        into = tree / name
        into.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, into, symlinks=True)
        else:
            shutil.copy2(path, into)


def payload(kernel: Kernel, extra: dict[str, Path] | None = None) -> Path:
    """The payload's image for a kernel, from the cache.

    extra: more files or directories, by their path on the disk; a module
    for both sides goes to A/lib/... and B/lib/... before depmod runs.
    Raises SetupError, and what building the modules raises.
    """
    from qemu.image import make_erofs
    extra = extra or {}
    modules = {side: rxe_module(kernel, side) for side in SIDES}
    key = cache.key(
        kernel.dir.name, *(_digest(modules[side]) for side in SIDES),
        _digest(Path(__file__)), *_features(),
        *(_digest(p) for p in [*_sources(), *_selftests().values()]),
        *(text for name in sorted(extra) for text in (name,
                                                      _digest(extra[name]))))

    def make(into: Path) -> None:
        tree = into / "tree"
        tree.mkdir()
        _add_extra(tree, extra)
        for side in SIDES:
            _add_side(tree, side, kernel, modules[side])
        _add_programs(tree)
        _add_selftests(tree)
        make_erofs(tree, into / "payload.erofs")
        shutil.rmtree(tree)

    return cache.get("payload", key, make,
                     f"payload of kernel {kernel.variant}") / "payload.erofs"
