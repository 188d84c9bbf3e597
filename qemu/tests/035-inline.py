# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""carries payload inside the work request."""

from qemu.peers import both_families, verbs_check

SIZES = "1,7,8,64,255,256"


def run(lab):
    both_families(lab, f"-t rc -i -o send,send_imm,write,write_imm -s {SIZES}")
    verbs_check(lab, f"-t rc -i -c -o send,write -s {SIZES}")
    verbs_check(lab, f"-t uc -i -o send,write -s {SIZES}")
    verbs_check(lab, f"-t ud -i -o send -s {SIZES}")
