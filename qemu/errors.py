# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What can go wrong with a guest and with a command in it."""

from scripts.errors import LabError


class SetupError(LabError):
    """The host cannot provide something; the text says what to do."""


class GuestError(LabError):
    """The guest is lost: no command will run in it any more.

    tail: the last lines of its console.
    """

    def __init__(self, text: str, tail: str = ""):
        super().__init__(text + (f"\nlast lines of its console:\n{tail}"
                                 if tail else ""))
        self.tail = tail


class GuestPanic(GuestError):
    """The kernel panicked: a bug, a warning, a lockup or the end of PID 1."""


class GuestHang(GuestError):
    """The guest runs but answers nobody, or never came up."""


class GuestGone(GuestError):
    """The guest's process ended, or its agent, without a panic."""


class WireLost(LabError):
    """The two hosts, both well, do not reach each other."""


class JobTimeout(LabError):
    """A command took too long and was killed; the guest is well.

    out, err: what it had written until then.
    """

    def __init__(self, text: str, out: str, err: str):
        super().__init__(f"{text}\n{outputs(out, err)}")
        self.out = out
        self.err = err


class CommandFailed(LabError):
    """A command exited with another status than 0.

    code: that status, or minus the signal; out, err: its outputs.
    """

    def __init__(self, where: str, cmd: str, code: int, out: str, err: str):
        super().__init__(f"{where}: exit status {code} of: {cmd}\n"
                         f"{outputs(out, err)}")
        self.code = code
        self.out = out
        self.err = err


def outputs(out: str, err: str, limit: int = 4000) -> str:
    """The ends of a command's two outputs, labelled, for messages."""
    parts = [f"--- {name}\n{text.rstrip()[-limit:]}"
             for name, text in (("stdout", out), ("stderr", err))
             if text.strip()]
    return "\n".join(parts) or "(it wrote nothing)"
