# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""gets packets that no peer should send: refused, and no harm is done."""

from collections.abc import Callable

from qemu import roce
from qemu.peers import verbs_check

REQUIRES = {"faults": True, "seconds": 120}
WRITE_FIRST, WRITE_ONLY, READ_REPLY_ONLY = 6, 10, 16    # of RC
BTH = roce.ETHERNET + 20 + roce.UDP
LENGTH = BTH + roce.BTH + 12            # of the RETH, 4 bytes
SYNDROME = BTH + roce.BTH               # of the AETH, 1 byte
NAK = 0x60


def lie(opcodes: tuple[int, ...], at: int, what: bytes,
        seen: list[int]) -> Callable[[bytes], bytes]:
    """A function that puts bytes into packets and notes their PSNs."""
    def change(frame: bytes) -> bytes:
        packet = roce.decode(frame)
        if not packet or packet.opcode not in opcodes:
            return frame
        seen.append(packet.psn)
        return roce.seal(frame[:at] + what + frame[at + len(what):])
    return change


def expect(lab, status: str, check: str, *lies) -> None:
    """A message with a lie completes with an error."""
    seen: list[int] = []
    try:
        with lab.wire.changed(lie(*lies, seen)):
            verbs_check(lab, f"-t rc -m 1024 -n 1 -D 1 {check}")
    except AssertionError as error:
        assert f"status {status}" in str(error), f"{check}, {lies}: {error}"
    else:
        raise AssertionError(f"{check}, {lies}: accepted")
    assert seen, f"{check}, {lies}: no such packet was seen"


def run(lab):
    # Of one packet, and of the first of several.
    for size, lengths in ((1000, (0, 999, 1001, 0xffffffff)), (3000, (0, 1))):
        for length in lengths:
            expect(lab, "remote", f"-o write -s {size}",
                   (WRITE_FIRST, WRITE_ONLY), LENGTH, length.to_bytes(4, "big"))
    expect(lab, "bad response", "-o read -s 1000", (READ_REPLY_ONLY,),
           SYNDROME, bytes([NAK]))
    verbs_check(lab, "-t rc -o write,read -s 1000,3000")
