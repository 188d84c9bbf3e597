# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Kernels of configs/variants and the two modules for them, from the cache.

    /usr/bin/python3 -m scripts.kernel perf uml
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from scripts import cache, config, kmake
from scripts.base import Base, base
from scripts.config import Variant
from scripts.errors import run_main
from scripts.module import rxe_module  # part of this module's interface
from scripts.progress import Step

__all__ = ["Kernel", "kernel", "rxe_module"]


@dataclass(frozen=True)
class Kernel:
    """A built kernel in the cache. Never write below its paths.

    image: what boots: bzImage, or the program `linux` for ARCH=um;
    kbuild: the O= directory that external modules are built against;
    modules_root: holds lib/modules/<release> with every in-tree module but
    rdma_rxe, stripped, without depmod's files;
    config_hash: names the merged .config, for results.
    """

    variant: str
    arch: str
    dir: Path
    image: Path
    kbuild: Path
    modules_root: Path
    release: str
    config_hash: str

    @property
    def key(self) -> str:
        """What names this kernel in the keys of what is built for it."""
        return self.dir.name

    @property
    def system_map(self) -> Path:
        """Its symbols and their addresses."""
        return self.kbuild / "System.map"

    @property
    def config(self) -> Path:
        """Its merged configuration."""
        return self.kbuild / ".config"


def _image(what: Variant) -> tuple[str, str]:
    """(make target, path of the image in the O= directory)."""
    if what.arch == "um":
        return "linux", "linux"
    return "bzImage", f"arch/{what.arch.removesuffix('_64')}/boot/bzImage"


def _prune(kbuild: Path) -> None:
    """Remove what no module build reads: most of the directory."""
    for path in kbuild.rglob("*"):
        inside = path.relative_to(kbuild).parts[0]
        if inside in ("scripts", "tools") or not path.is_file():
            continue
        if (path.suffix in (".o", ".a", ".ko", ".mod", ".cmd", ".order")
                or path.name in ("vmlinux.unstripped", ".tmp_vmlinux1",
                                 ".tmp_vmlinux2")
                or path.name.endswith(".mod.c")):
            path.unlink()


def _install_modules(make: list[str], what: Variant, into: Path) -> None:
    """Install the modules below into/modules; none of them is rdma_rxe."""
    root = into / "modules"
    # true(1) stands in for depmod: rdma_rxe is missing, so who adds one of
    # the two sides runs the real one.
    kmake.run([*make, f"INSTALL_MOD_PATH={root}", "INSTALL_MOD_STRIP=1",
               "DEPMOD=true", "modules_install"], f"modules-{what.name}")
    for name in ("build", "source"):
        for link in root.glob(f"lib/modules/*/{name}"):
            link.unlink()
    for module in root.rglob("rdma_rxe.ko"):
        module.unlink()


def _build(source: Base, what: Variant, text: str, into: Path) -> None:
    """Build a variant into the entry `into`, at its final path."""
    kbuild = into / "build"
    kbuild.mkdir()
    (kbuild / ".config").write_text(text)
    make = ["-C", str(source.dir), f"O={kbuild}", f"ARCH={what.arch}"]
    kmake.run([*make, "-s", "olddefconfig"], f"kernel-{what.name}")
    if (kbuild / ".config").read_text() != text:
        raise kmake.BuildError(f"kernel {what.name}: make changed the merged "
                               ".config; compare it with olddefconfig's")
    target, _ = _image(what)
    with Step(f"build kernel {what.name}", key=f"kernel-{what.name}",
              total=what.files, unit="files") as step:
        kmake.run([*make, target, "modules"], f"kernel-{what.name}", step)
    _install_modules(make, what, into)
    release = (kbuild / "include/config/kernel.release").read_text().strip()
    (into / "release").write_text(release)
    _prune(kbuild)


def kernel(name: str) -> Kernel:
    """The kernel of a variant, built when the cache does not have it.

    Raises ConfigError, BuildError, BaseError or DebianError, each of which
    says what to do.
    """
    what = config.variant(name)
    source = base()
    text = config.merged(source, what)

    # The O= directory names itself and the source by absolute path (its
    # Makefile, objtool's .cmd files) and every later module build goes
    # through that Makefile, so it is built where it stays.
    entry = cache.get_in_place(
        "kernel", f"{name}-{kmake.key(source.key, text)}",
        lambda into: _build(source, what, text, into), f"kernel {name}")
    kbuild = entry / "build"
    return Kernel(name, what.arch, entry, kbuild / _image(what)[1], kbuild,
                  entry / "modules", (entry / "release").read_text(),
                  cache.key(text))


def main() -> int:
    """Build the kernels named as arguments, and both modules of each."""
    for name in sys.argv[1:] or ["perf"]:
        built = kernel(name)
        print(f"{name}: Linux {built.release}, {built.image}")
        for side in ("A", "B"):
            print(f"{name}: side {side}, {rxe_module(built, side)}")
    return 0


if __name__ == "__main__":
    run_main("kernel", main)
