# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""rdma_rxe.ko out of a copy of its directory, against a built kernel.

Both sides are built by the same procedure: the touched files (series.applied)
are copied, and `make M=` runs in the copy of the driver's directory.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from scripts import cache, kmake, series
from scripts.base import base, file_sums
from scripts.paths import RXE
from scripts.progress import Step

if TYPE_CHECKING:
    from scripts.kernel import Kernel

# Kconfig symbols of the series that default to off. The shared .config does
# not know them: kbuild gets them as make variables, C code as macros.
KUNIT = "CONFIG_RDMA_RXE_KUNIT_TEST"

# kbuild reads Kbuild rather than Makefile: a place to put the uAPI header of
# the tree being built before the kernel's own.
KBUILD = """\
LINUXINCLUDE := -I{uapi} $(LINUXINCLUDE)
include $(src)/Makefile
"""


def flags(source: Path, kunit: bool) -> list[str]:
    """The make variables of every module build, and those of KUnit suites."""
    # Else headers' __FILE__ would carry where the cache happens to be.
    compiler = f"-fmacro-prefix-map={source}/="
    if kunit:
        return [f"{KUNIT}=y", f"KCFLAGS={compiler} -D{KUNIT}=1"]
    return [f"KCFLAGS={compiler}"]


def compile_in(kbuild: Path, tree: Path, into: Path, name: str,
               args: list[str], step: Step | None = None) -> str:
    """Build a tree's module to into/rdma_rxe.ko; returns make's output.

    kbuild: the O= directory to build against; args: make's, ARCH= first;
    name: of the log. Raises BuildError.
    """
    source = into / RXE
    shutil.copytree(tree / RXE, source)
    header = into / series.UAPI
    header.parent.mkdir(parents=True)
    shutil.copy2(tree / series.UAPI, header)
    (source / "Kbuild").write_text(
        KBUILD.format(uapi=header.parent.parent.absolute()))
    output = kmake.run(["-C", str(kbuild), f"M={source}", *args, "modules"],
                       name, step)
    (source / "rdma_rxe.ko").rename(into / "rdma_rxe.ko")
    for path in ("drivers", "include"):
        shutil.rmtree(into / path)
    return output


def tree_key(tree: Path) -> str:
    """A hash of the files that the module is built from."""
    sums = file_sums(tree / RXE)
    sums[series.UAPI] = file_sums((tree / series.UAPI).parent)[
        Path(series.UAPI).name]
    return cache.key(*(f"{name} {value}" for name, value in
                       sorted(sums.items())))


def build(kernel: Kernel, tree: Path, what: str,
          kunit: bool = False) -> Path:
    """Build rdma_rxe.ko from a tree of touched files; cached by content.

    what: names it to people, such as "side B". Raises BuildError.
    """
    extra = flags(base().dir, kunit)

    def make(into: Path) -> None:
        name = f"rdma_rxe {what} for kernel {kernel.variant}"
        with Step(f"build {name}", key="module", unit="files") as step:
            compile_in(kernel.kbuild, tree, into, f"module-{kernel.variant}",
                       [f"ARCH={kernel.arch}", *extra], step)

    entry = cache.get("module",
                      cache.key(kernel.key, tree_key(tree), KBUILD,
                                *flags(Path("SOURCE"), kunit)),
                      make, f"rdma_rxe {what}")
    return entry / "rdma_rxe.ko"


def rxe_module(kernel: Kernel, side: str, kunit: bool = False) -> Path:
    """rdma_rxe.ko of side "A" (the base's) or "B" (the series') for a kernel.

    kunit: with the series' KUnit suites in it; the kernel needs CONFIG_KUNIT.
    Raises SeriesError when a patch does not apply, BuildError when it does
    not build.
    """
    what = f"side {side}" + (" with KUnit suites" if kunit else "")
    return build(kernel, series.side(base(), side), what, kunit)
