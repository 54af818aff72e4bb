"""Commands typed at a pseudo-terminal, as a person types them."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HEREDITY = (sys.executable, "-m", "heredity")
CTRL_C = b"\x03"
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>()][0-9A-Za-z]?|\x1b\][^\x07]*\x07")


@dataclass(frozen=True)
class Typed:
    """What a command wrote to its terminal, escape sequences and all, and its exit code."""

    code: int
    raw: str

    @property
    def text(self) -> str:
        """The output without escape sequences."""
        return _ESCAPES.sub("", self.raw).replace("\r\n", "\n")


@contextlib.contextmanager
def _child(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], size: tuple[int, int]
) -> Iterator[tuple[int, int]]:
    pid, terminal = pty.fork()
    if pid == 0:
        try:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
            os.chdir(folder)
            # Whoever starts the tests in the background has Ctrl-C ignored, and what a shell starts in a terminal has not.
            for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            os.execvpe(command[0], list(command), dict(environment))
        finally:
            os._exit(127)
    try:
        yield pid, terminal
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.close(terminal)


def typed(
    command: Sequence[str],
    folder: Path,
    *,
    columns: int = 80,
    rows: int = 30,
    press: bytes = b"",
    once: str = "",
    after_s: float = 0.0,
    environment: Mapping[str, str] | None = None,
    most_s: float = 600.0,
) -> Typed:
    """Run a command in a pseudo-terminal until it ends.

    Args:
        command: what is run; not by a shell.
        folder: its working directory.
        columns: width of the terminal.
        rows: its height.
        press: keys that are pressed once.
        once: text that has to stand in the output before they are pressed.
        after_s: seconds to wait after that, or after the start.
        environment: replaces this process's environment; `COLUMNS` and `LINES` are never handed on.
        most_s: wall-clock seconds after which the command is killed.
    """
    variables = {**(os.environ if environment is None else environment), "TERM": "xterm-256color"}
    for name in ("COLUMNS", "LINES", "NO_COLOR", "CI"):
        variables.pop(name, None)
    written, due, end = b"", None if once else time.monotonic() + after_s, time.monotonic() + most_s
    with _child(command, folder, variables, (columns, rows)) as (pid, terminal):
        while time.monotonic() < end:
            if due is None and once.encode() in written:
                due = time.monotonic() + after_s
            if press and due is not None and time.monotonic() >= due:
                os.write(terminal, press)
                press = b""
            if not select.select([terminal], [], [], 0.02)[0]:
                continue
            try:
                data = os.read(terminal, 1 << 16)
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                data = b""
            if not data:
                _, status = os.waitpid(pid, 0)
                return Typed(os.waitstatus_to_exitcode(status), written.decode("utf-8", "replace"))
            written += data
    raise AssertionError(
        f"{' '.join(command)} did not end in {most_s:g} s:\n{written.decode('utf-8', 'replace')[-2000:]}"
    )
