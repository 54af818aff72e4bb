"""Start, stop and resume suites in separate processes, as the command line would."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import ConfigError
from heredity.pages.live.rows import size_of

_OVERRIDE = re.compile(r"[A-Za-z_][\w.\"-]{0,200}=.{0,2000}", re.DOTALL)
_LAST_CHARS = 4000


@dataclass(slots=True)
class Started:
    """Process that a page started: its purpose, and the file of its output."""

    title: str
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def running(self) -> bool:
        """True while it runs."""
        return self.process.poll() is None

    def last_output(self) -> str:
        """Return the end of its output."""
        with suppress(OSError), self.log.open("rb") as file:
            file.seek(max(0, size_of(self.log) - _LAST_CHARS))
            return file.read(_LAST_CHARS).decode("utf-8", "replace")
        return ""


@dataclass(slots=True)
class Actions:
    """Actions of pages: they start, stop and resume suites.

    Attributes:
        folder: parent folder of suites.
        started: processes started by pages, latest last.
    """

    folder: Path
    started: list[Started] = field(default_factory=list[Started])
    _logs: EngineFolder | None = None

    def start(self, suite: str, overrides: str) -> Started:
        """Start a suite.

        Args:
            suite: an installed suite's name, or the path of a TOML file.
            overrides: `key=value`, one per line.

        Raises:
            ConfigError: if a line is not an override, or `suite` is empty.
        """
        lines = [line.strip() for line in overrides.splitlines() if line.strip()]
        for line in lines:
            if not _OVERRIDE.fullmatch(line):
                raise ConfigError(f"{line!r:.80} is not a setting; write KEY=VALUE, such as budget.episodes=64")
        if not suite.strip() or suite.startswith("-"):
            raise ConfigError("choose a suite, or give the path of a TOML file")
        return self._run(f"start {suite}", ["run", "--folder", str(self.folder), "--", suite, *lines])

    def resume(self, suite: Path) -> Started:
        """Resume a suite.

        Raises:
            ConfigError: if it has no configuration, or a process works on it.
        """
        if not size_of(suite / "suite.toml"):
            raise ConfigError(f"{suite.name} has no suite.toml; choose a suite")
        if (process := holder(suite)) is not None:
            raise ConfigError(f"process {process} is running {suite.name}; stop it, or wait for it to end")
        return self._run(f"resume {suite.name}", ["resume", "--", str(suite)])

    def stop(self, suite: Path) -> int:
        """Send SIGTERM to the process that works on a suite, and return its number; nothing of the run is lost.

        Raises:
            ConfigError: if the process does not exist or belongs to another user.
        """
        process = holder(suite)
        if process is None:
            raise ConfigError(f"no process of this machine works on {suite.name}")
        try:
            os.kill(process, signal.SIGTERM)
        except OSError as error:
            raise ConfigError(
                f"process {process}, which works on {suite.name}, cannot be stopped: {error.strerror}"
            ) from error
        return process

    def close(self) -> None:
        """Remove the logs; started processes keep running."""
        if self._logs is not None:
            self._logs.remove()
            self._logs = None

    def _run(self, title: str, arguments: Sequence[str]) -> Started:
        self._logs = self._logs or EngineFolder()
        path = self._logs.path / f"{len(self.started) + 1}.log"
        with path.open("xb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "heredity", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.started.append(Started(title, process, path))
        return self.started[-1]


def holder(folder: Path) -> int | None:
    """Return the process that holds the lock of a suite or a run according to the kernel, or None."""
    path = folder / "lock"
    try:
        number = path.stat(follow_symlinks=False).st_ino
        process = int(path.read_bytes()[:32])
        locks = Path("/proc/locks").read_text()
    except (OSError, ValueError):
        return None
    for line in locks.splitlines():
        words = line.split()
        # 1: FLOCK  ADVISORY  WRITE 4711 08:02:1234 0 EOF
        if "FLOCK" in words and len(words) >= 8 and words[-4] == str(process) and words[-3].endswith(f":{number}"):
            return process
    return None
