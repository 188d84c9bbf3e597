# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""delivers UD multicast to a group that a member joined."""

from qemu.peers import path_mtu, serving, verbs_check

REQUIRES = {"tools": ("mckey",)}
GROUP = "239.7.7.7"


def run(lab):
    mtu = path_mtu(lab)
    verbs_check(lab, f"-t ud -M {GROUP} -o send,send_imm -s 1,64,{mtu}")
    verbs_check(lab, f"-t ud -M ff0e::7:7 -o send -s 1,64,{mtu}", family=6)
    # mckey's sender destroys its queue pair right after posting: only some of
    # its messages need to have left.
    member = f"stdbuf -oL mckey -b {lab.b.ip4} -m {GROUP} -c 1 -C 1 -S 64"
    with serving(lab.b, member, ready="joined dgid") as job:
        lab.a.sh(f"mckey -b {lab.a.ip4} -m {GROUP} -c 1 -C 200 -S 64 -s")
        done = job.wait(10)
    assert not done.code and "return status 0" in done.out, (
        f"the member exited {done.code}:\n{done.out}{done.err}")
