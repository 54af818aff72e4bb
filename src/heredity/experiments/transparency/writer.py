"""Writing of statements to the user's logs while a suite runs.

A failing log delays a run by seconds at most and never ends it. What is missing follows from the records and the
receipts, so that a killed process loses nothing: resuming the suite, or `heredity log`, writes it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from heredity._core.errors import ConfigError, HeredityError, clean
from heredity.configuration.user import user_config
from heredity.experiments.transparency.logs import Log, LogError, open_log
from heredity.experiments.transparency.statements import (
    Receipt,
    Statement,
    add_receipt,
    read_receipts,
    statements_of,
)

WAIT_S = 10.0
"""Longest time that the start of a run waits for logs, in seconds."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 5.0, 300.0
"""Pause after the first failure of a log, in seconds, doubled after each further one up to the longest."""


def open_logs() -> list[Log]:
    """Return the logs that the user's settings name, those that choose lines first.

    Raises:
        ConfigError: if the settings are wrong, a repository does not exist, or two logs have one name.
        MissingExtraError: if a package is not installed.
    """
    logs = [open_log(settings) for settings in sorted(user_config().log, key=lambda one: one.kind != "git")]
    names = [log.name for log in logs]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ConfigError(f"two logs are called {min(twice)}; give one of them another file or address")
    return logs


@dataclass(frozen=True, slots=True)
class Written:
    """Result of writing a run's statements.

    Attributes:
        new: number of statements that logs took now.
        problems: log to the reason for which it lacks a statement.
    """

    new: int
    problems: dict[str, str]


@dataclass
class _Rest:
    """Pause of a log after failures."""

    until: float = 0.0
    pause: float = FIRST_PAUSE_S
    why: str = ""


@dataclass
class Writer:
    """Writer of runs' statements to logs.

    Attributes:
        logs: the logs.
    """

    logs: Sequence[Log]
    _rests: dict[str, _Rest] = field(default_factory=dict[str, _Rest])

    def write(self, folder: Path) -> Written:
        """Write what logs lack of a run; logs that failed a short time ago are not asked.

        Args:
            folder: the run's folder.

        Raises:
            RecordError: if the run's records cannot be read.
        """
        new, problems = 0, dict[str, str]()
        for statement in statements_of(folder):
            line: str | None = None
            for log in self.logs:
                held = next((r for r in read_receipts(folder) if r.log == log.name and _is_of(r.line, statement)), None)
                if held is not None:
                    line = line or held.line
                    continue
                try:
                    receipt = self._append(log, statement, line)
                    add_receipt(folder, receipt)
                except HeredityError as error:
                    problems[log.name] = str(error)
                else:
                    line, new = line or receipt.line, new + 1
        return Written(new, problems)

    def wake(self) -> None:
        """Ask all logs again, also those that failed a short time ago."""
        for rest in self._rests.values():
            rest.until = 0.0

    def _append(self, log: Log, statement: Statement, line: str | None) -> Receipt:
        rest = self._rests.setdefault(log.name, _Rest())
        if time.monotonic() < rest.until:
            raise LogError(rest.why)
        try:
            receipt = log.append(statement, line)
        except HeredityError as error:
            rest.why, rest.until = str(error), time.monotonic() + rest.pause
            rest.pause = min(2 * rest.pause, LONGEST_PAUSE_S)
            raise
        self._rests[log.name] = _Rest()
        return receipt


def _is_of(line: str, statement: Statement) -> bool:
    return Statement.parse(line)[0] == statement


class SuiteLog:
    """Logs of a running suite: a thread writes the starts and ends of its runs.

    Args:
        problem: called at the end with the log and the reason, if a log lacks anything.

    Attributes:
        late: folders of runs that a log took after their pages may have been written.

    Raises:
        ConfigError, MissingExtraError: as `open_logs`.
    """

    def __init__(self, problem: Callable[[str, str], None]) -> None:
        self._writer, self._problem = Writer(open_logs()), problem
        self._lacking: dict[Path, dict[str, str]] = {}
        self.late: set[Path] = set()
        self._pool = ThreadPoolExecutor(1, "transparency log")

    async def write(self, folder: Path) -> None:
        """Write what logs lack of a run, and of earlier ones, and wait a limited time for it."""
        if self._writer.logs:
            work = asyncio.get_running_loop().run_in_executor(self._pool, self._write, folder)
            if not (await asyncio.wait({work}, timeout=WAIT_S))[0]:
                self.late.add(folder)

    def _write(self, *folders: Path) -> None:
        for folder in dict.fromkeys((*self._lacking, *folders)):
            try:
                written = self._writer.write(folder)
            except HeredityError as error:  # the run itself reports damaged records
                written = Written(0, {"": str(error)})
            if self._lacking.pop(folder, None) and written.new:
                self.late.add(folder)
            if written.problems:
                self._lacking[folder] = written.problems

    def close(self) -> None:
        """Try once more what failed, and report what logs lack."""
        self._pool.submit(self._writer.wake)
        self._pool.submit(self._write)
        self._pool.shutdown(wait=True)
        reasons: dict[str, list[str]] = {}
        for folder, problems in self._lacking.items():
            for log, why in problems.items():
                reasons.setdefault(f"log {log}", []).append(f"{folder.name} is not logged: {why}")
        for log, lacking in reasons.items():
            more = f" (and {len(lacking) - 1} more runs)" if len(lacking) > 1 else ""
            self._problem(clean(log), f"{lacking[0]}{more}; try again with: heredity log FOLDER")
