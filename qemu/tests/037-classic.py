# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""posts with ibv_post_send, scattered over several elements."""

from qemu.peers import around, verbs_check


def run(lab):
    around(lab, "-t rc -c -o send,send_imm,write,write_imm,read -n 8 "
                "-b 524288")
    verbs_check(lab, "-t rc -c -g 5 -o send,write,read -n 8 "
                     "-s 1,2,5,97,4095,4096,4097,16385,65536")
    verbs_check(lab, "-t ud -c -g 3 -o send -n 8 -s 1,2,5,97,1024")
