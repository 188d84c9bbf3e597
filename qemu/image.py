# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A guest's root disk: the machine's packages and our PID 1, read-only.

The image is an entry of the cache, keyed by the packages' versions and by
everything of ours that goes into it. Nothing in it depends on the kernel:
modules and test programs are on the second disk (payload.py).
"""

import gzip
import os
import re
import shutil
import subprocess
from pathlib import Path

from qemu import packages
from qemu.errors import SetupError
from qemu.packages import GUEST, Package
from qemu.payload import payload  # the other disk, for who wants both
from scripts import cache
from scripts.progress import Step

__all__ = ["guest_image", "payload"]

INIT_SOURCES = ("init.c", "agent.c", "job.c")
INIT_HEADERS = ("agent.h", "job.h")
CFLAGS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror")

# Of a package's files, those that a guest never reads.
_UNUSED = re.compile(
    r"^/usr/share/(doc|man|info|locale|lintian|bug|bash-completion|zsh|"
    r"apport|menu|pixmaps|icons|applications|i18n|perl|perl5|gdb|initramfs-"
    r"tools|gcc|python-wheels|doc-base|metainfo|awk|fish|vim)(/|$)"
    r"|^(/usr)?/lib/(systemd|udev|init|modprobe\.d|tmpfiles\.d|sysctl\.d)(/|$)"
    r"|^/usr/lib/[^/]*/(perl|perl-base|perl5|gconv|security|audit)(/|$)"
    r"|^/usr/lib/(valgrind|locale/C\.utf8/LC_(COLLATE|MONETARY))(/|$)"
    r"|^/usr/lib/python3\.\d+/(test|idlelib|lib2to3|ensurepip|tkinter|"
    r"turtledemo|pydoc_data|distutils)(/|$)"
    r"|^/etc/(init\.d|cron|default|rc\d|pam\.d|security|logrotate\.d|init|"
    r"apparmor|bash_completion|profile\.d|kernel|ssl|skel|dpkg|apt|udev)"
    r"|^/var(/|$)|/__pycache__(/|$)"
    # libibverbs opens every driver it finds, for every program that starts.
    r"|^/etc/libibverbs\.d/(?!rxe|siw)"
    r"|^/usr/lib/[^/]*/libibverbs/lib(?!rxe|siw)")

# rdma-core ships its test suite as documentation, in part compressed.
_TESTS = Path("/usr/share/doc/rdma-core/tests")

_MERGED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_DIRS = ("dev", "etc", "mnt", "payload", "proc", "root", "run", "sys", "tmp",
         "var", "usr/lib/busybox", "usr/local/bin", "etc/target", "etc/netns")
_TEXTS = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/bash\n"
                  "nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n",
    "etc/group": "root:x:0:\ntty:x:5:\nnogroup:x:65534:\n",
    "etc/hosts": "127.0.0.1 localhost\n::1 localhost\n"
                 "10.77.0.1 a\n10.77.0.2 b\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n"
                         "services: files\nprotocols: files\n",
    "etc/profile": "PS1='\\h:\\w\\$ '\n",
    "etc/fstab": "",
}


def build_init(into: Path) -> None:
    """Compile PID 1, statically: it depends on nothing in the image."""
    sources = [str(GUEST / name) for name in INIT_SOURCES]
    compile_c(["-static", "-D_GNU_SOURCE", "-o", str(into), *sources])


def compile_c(args: list[str]) -> None:
    """Run gcc with our flags; SetupError carries its messages."""
    done = subprocess.run(["gcc", *CFLAGS, *args], capture_output=True,
                          text=True)
    if done.returncode:
        raise SetupError(f"gcc {' '.join(args)} failed:\n{done.stderr}")


def make_erofs(tree: Path, into: Path) -> None:
    """Make a read-only, uncompressed file system image of a directory."""
    done = subprocess.run(
        ["mkfs.erofs", "--quiet", "--all-root", "-T0", "-x-1",
         "-Enoinline_data", "-U00000000-0000-0000-0000-000000000000", str(into), str(tree)],
        capture_output=True, text=True)
    if done.returncode:
        raise SetupError(f"mkfs.erofs failed:\n{done.stdout}{done.stderr}")


def _place(tree: Path, path: Path) -> Path:
    """Where a path of the machine goes in the tree (/usr is merged)."""
    parts = path.parts[1:]
    if parts[0] in _MERGED:
        parts = ("usr", *parts)
    return tree.joinpath(*parts)


def _copy(tree: Path, path: Path) -> None:
    into = _place(tree, path)
    # A package may own /lib/x and /usr/lib/x, which are the same here.
    if into.exists() or into.is_symlink():
        return
    into.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink():
        into.symlink_to(os.readlink(path))
    elif path.is_dir():
        into.mkdir()
    elif os.access(path, os.R_OK):
        shutil.copy2(path, into)


def _copy_packages(tree: Path, wanted: list[Package]) -> None:
    for path in packages.files(wanted):
        if not _UNUSED.search(str(path)) and os.path.lexists(path):
            _copy(tree, path)


def _copy_alternatives(tree: Path) -> None:
    """Commands that are links through /etc/alternatives, as in the machine."""
    for directory in ("usr/bin", "usr/sbin"):
        for path in Path("/", directory).iterdir():
            if not path.is_symlink():
                continue
            target = Path(os.readlink(path))
            if target.parent != Path("/etc/alternatives"):
                continue
            if _place(tree, path.resolve()).exists():
                _copy(tree, path)
                _copy(tree, target)


def _copy_rdma_tests(tree: Path) -> None:
    if not _TESTS.is_dir():
        return
    into = tree / "usr/lib/rdma-core/tests"
    into.mkdir(parents=True)
    for path in _TESTS.iterdir():
        if path.suffix == ".gz":
            (into / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
        elif path.is_file():
            shutil.copy2(path, into / path.name)


def _add_busybox(tree: Path) -> None:
    """Links for busybox's commands, last in PATH: for what is not there.

    Not for those that run another command: busybox takes its own `ip`.
    """
    names = subprocess.run(["busybox", "--list"], check=True, text=True,
                           capture_output=True).stdout.split()
    for name in set(names) - {"ash", "sh", "time"}:
        (tree / "usr/lib/busybox" / name).symlink_to("/bin/busybox")


def _skeleton(tree: Path) -> None:
    (tree / "usr").mkdir(parents=True)
    for name in _MERGED:
        if Path("/", name).is_dir():
            (tree / "usr" / name).mkdir()
            (tree / name).symlink_to(f"usr/{name}")
    for name in _DIRS:
        (tree / name).mkdir(parents=True, exist_ok=True)
    for name, text in _TEXTS.items():
        (tree / name).write_text(text)
    (tree / "etc/mtab").symlink_to("/proc/self/mounts")
    # The side under test is chosen by pointing this at the payload.
    (tree / "usr/lib/modules").symlink_to("/run/modules")


def _compile_python(tree: Path) -> None:
    """Byte-compile now: under emulation, on a read-only disk, it is slow."""
    for name in sorted((tree / "usr/lib").glob("python3*")) + [
            tree / "usr/lib/rdma-core"]:
        subprocess.run(
            ["/usr/bin/python3", "-m", "compileall", "-q", "-s", str(tree),
             "-p", "/", "--invalidation-mode", "unchecked-hash", str(name)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _library_cache(tree: Path) -> None:
    """An ld.so.cache of the image: a program finds its libraries at once."""
    for name in ("etc/ld.so.conf", "etc/ld.so.conf.d"):
        path = Path("/", name)
        if path.is_dir():
            shutil.copytree(path, tree / name, dirs_exist_ok=True)
        elif path.exists():
            shutil.copy2(path, tree / name)
    # ldconfig -r needs chroot(2); without it programs search directories.
    if os.geteuid() == 0:
        subprocess.run(["/sbin/ldconfig", "-X", "-r", str(tree)], check=True)


def build_tree(tree: Path, wanted: list[Package]) -> None:
    """Lay out the whole root file system in a directory."""
    _skeleton(tree)
    _copy_packages(tree, wanted)
    _copy_alternatives(tree)
    _copy_rdma_tests(tree)
    _add_busybox(tree)
    for script in sorted(GUEST.glob("*.sh")):
        into = tree / "usr/local/bin" / script.stem
        shutil.copy2(script, into)
        into.chmod(0o755)
    build_init(tree / "init")
    _compile_python(tree)
    _library_cache(tree)


def _key(wanted: list[Package]) -> str:
    versions = "\n".join(f"{p.name} {p.arch} {p.version}" for p in wanted)
    sources = sorted([*GUEST.glob("*.sh"), Path(__file__),
                      *(GUEST / name for name in INIT_SOURCES + INIT_HEADERS)])
    return cache.key(versions, str(os.geteuid() == 0),
                     *(text for path in sources
                       for text in (path.name, path.read_bytes())))


def guest_image() -> Path:
    """The root disk's image, from the cache. Raises SetupError."""
    wanted = packages.guest_packages()

    def make(into: Path) -> None:
        with Step(f"guest image of {len(wanted)} packages", key="image"):
            build_tree(into / "tree", wanted)
            make_erofs(into / "tree", into / "root.erofs")
            shutil.rmtree(into / "tree")

    return cache.get("image", _key(wanted), make,
                     "guest image") / "root.erofs"
