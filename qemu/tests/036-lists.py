# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""posts lists of which only the last request is signaled."""

from qemu.peers import verbs_check


def run(lab):
    for mode in ("", "-c"):
        verbs_check(lab, f"-t rc {mode} -D 64 -l 16 -n 256 -b 1048576 "
                         "-o send,write,read,cmp_swap,fetch_add "
                         "-s 1,64,4096,5000")
        verbs_check(lab, f"-t ud {mode} -D 32 -l 8 -n 128 -o send "
                         "-s 1,1024")
