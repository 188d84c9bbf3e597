# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The commands that guests are started with."""

import unittest
from pathlib import Path

from qemu import argv, uml


def vm(**options) -> argv.Vm:
    return argv.Vm("a", Path("/k"), Path("/root.erofs"), Path("/payload"),
                   Path("/console"), **options)


def after(words: list[str], option: str) -> str:
    return words[words.index(option) + 1]


class Qemu(unittest.TestCase):
    def test_a_guest_ends_when_its_kernel_panics(self):
        words = argv.argv(vm(), ["qemu"])
        self.assertIn("-no-reboot", words)
        kernel = after(words, "-append").split()
        for want in ("panic=-1", "panic_on_warn=1", "softlockup_panic=1",
                     "sysctl.kernel.hung_task_panic=1", "host=a"):
            self.assertIn(want, kernel)

    def test_disks_are_read_only_and_in_order(self):
        words = argv.argv(vm(), ["qemu"])
        disks = [w for w in words if w.startswith("if=none")]
        self.assertEqual(["root.erofs" in disks[0], "payload" in disks[1]],
                         [True, True])
        self.assertTrue(all("readonly=on" in disk for disk in disks))

    def test_counting_is_in_virtual_time(self):
        words = argv.argv(vm(icount=True, plugin="p.so,counts=f"), ["qemu"])
        self.assertEqual(after(words, "-icount"), "shift=0,sleep=off")
        self.assertEqual(after(words, "-plugin"), "p.so,counts=f")
        for flag in ("fsrm=off", "vpclmulqdq=off"):
            self.assertIn(flag, after(words, "-cpu"))

    def test_the_nic_has_mergeable_buffers_and_the_mtu(self):
        words = argv.argv(vm(netdev="tap,id=n0", mac="52:54:00:77:00:01",
                             host_mtu=1500), ["qemu"])
        nic = next(w for w in words if w.startswith("virtio-net-pci"))
        self.assertIn("mrg_rxbuf=on", nic)
        self.assertIn("host_mtu=1500", nic)
        self.assertNotIn("-netdev", argv.argv(vm(), ["qemu"]))


class UserMode(unittest.TestCase):
    def test_both_disks_and_the_line(self):
        words = uml.argv("n", Path("/linux"), Path("/r"), Path("/p"),
                         Path("/run"), 7)
        for want in ("ubd0rc=/r", "ubd1rc=/p", "ssl0=fd:7", "seccomp=on",
                     "ncpus=2"):
            self.assertIn(want, words)


if __name__ == "__main__":
    unittest.main()
