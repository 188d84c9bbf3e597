# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""keeps eight queue pairs busy at once, both ways, on guests with two CPUs."""

import threading

from qemu.peers import verbs_check

REQUIRES = {"vcpus": 2, "seconds": 150}
OPTIONS = ("-t rc -o send,write,read -n 40",
           "-t rc -o cmp_swap,fetch_add -n 300",
           "-t rc -e -o send,write_imm -D 1 -n 100",
           "-t uc -o send,write -n 40")


def run(lab):
    failures: list[BaseException] = []

    def body(options: str, swap: bool, offset: int) -> None:
        try:
            verbs_check(lab, f"{options} -s 64,5000,40000 -b 1048576",
                        swap=swap, offset=offset, limit=90)
        except BaseException as error:       # raised again below
            failures.append(error)

    threads = [threading.Thread(target=body, args=(options, swap,
                                                   2 * at + swap))
               for at, options in enumerate(OPTIONS)
               for swap in (False, True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
