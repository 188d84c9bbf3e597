# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Nothing outlives the process that started it, however that ends."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from qemu import procs

# Starts a process and a directory, tells both, and waits to be ended.
CHILD = """
import signal, sys, time
from qemu import procs
# Whoever runs the tests may ignore some of them, as nohup does.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
path = procs.run_dir()
proc = procs.start(["sleep", "1000"])
print(proc.pid, path, flush=True)
if sys.argv[1] == "return":
    sys.exit()
time.sleep(1000)
"""
ROOT = Path(procs.__file__).resolve().parent.parent


def wait_until(condition, limit: float = 5.0) -> bool:
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def gone(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] in "ZX"


class Endings(unittest.TestCase):
    def run_child(self, how: str, number: int | None) -> tuple[int, Path]:
        child = subprocess.Popen([sys.executable, "-c", CHILD, how], cwd=ROOT,
                                 stdout=subprocess.PIPE, text=True,
                                 stderr=subprocess.DEVNULL)
        with child:
            pid, _, path = child.stdout.readline().strip().partition(" ")
            if number:
                child.send_signal(number)
        return int(pid), Path(path)

    def test_nothing_is_left(self):
        for how, number in (("return", None), ("wait", signal.SIGINT),
                            ("wait", signal.SIGTERM), ("wait", signal.SIGHUP)):
            with self.subTest(how=how, signal=number):
                pid, path = self.run_child(how, number)
                self.assertTrue(wait_until(lambda: gone(pid)))
                self.assertFalse(path.exists())

    def test_after_sigkill_the_next_run_cleans_up(self):
        pid, path = self.run_child("wait", signal.SIGKILL)
        self.assertTrue(wait_until(lambda: gone(pid)))
        self.assertTrue(path.exists())
        self.run_child("return", None)
        self.assertFalse(path.exists())

    def test_a_living_run_keeps_its_directory(self):
        path = Path(tempfile.mkdtemp(prefix=f"{procs.PREFIX}{os.getpid()}-"))
        self.addCleanup(path.rmdir)
        self.run_child("return", None)
        self.assertTrue(path.exists())


class Ending(unittest.TestCase):
    def test_end_kills_the_whole_group_and_can_be_repeated(self):
        proc = procs.start(["sh", "-c", "sleep 1000 & echo $!; wait"],
                           stdout=subprocess.PIPE, text=True)
        with proc.stdout:
            other = int(proc.stdout.readline())
        procs.end(proc)
        procs.end(proc)
        self.assertTrue(wait_until(lambda: gone(other)))
        self.assertEqual(proc.returncode, -signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
