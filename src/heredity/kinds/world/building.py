"""The kind of builds: a candidate is a folder of files that should form a world."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heredity._core.errors import HostError
from heredity.engine.kind import Candidates, Kind, Needs, Opening
from heredity.engine.rollout import RolloutError, attributed
from heredity.engine.runner import Job, Runner
from heredity.engine.streams import as_completed
from heredity.engine.trajectory import Column, Failure, Trajectory
from heredity.kinds.world.gates.build import ALL, SHOWN
from heredity.kinds.world.gates.contract import CERTIFICATE
from heredity.kinds.world.themes import KIND as NAME
from heredity.resources import Candidate, SourceTree
from heredity.results.status import FailureSource, Status
from heredity.sandbox.limits import Limits
from heredity.tasks import TasksetInfo

LEVELS = "levels.json"
"""Key in `Trajectory.media` for the result of a build on a hidden task, next to the certificate."""
_LINE = 256 << 20
_CLOCK, _START_S = 10, 60.0
"""A build is abandoned, without a verdict, after this many times its CPU seconds of wall-clock time plus a start."""
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


class BuildProcess:
    """A process that builds one world after another."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None

    async def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the result of a build.

        Raises:
            RolloutError: if the process died during the build.
            HostError: if no process can be started.
        """
        process = self._process or await self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            await process.stdin.drain()
            line = await process.stdout.readline()
        except (ConnectionError, ValueError) as error:
            raise RolloutError(
                f"the build's answer is unreadable ({error})",
                status=Status.OOM,
                failure_source=FailureSource.CANDIDATE,
            ) from error
        if not line.endswith(b"\n"):
            raise RolloutError(
                "the build process died; make levels, lists and searches smaller",
                status=Status.OOM,
                failure_source=FailureSource.CANDIDATE,
            )
        return json.loads(line)

    async def _start(self) -> asyncio.subprocess.Process:
        try:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "heredity.kinds.world.build_worker"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env={**os.environ, **_ENVIRONMENT},
                start_new_session=True,
                limit=_LINE,
            )
        except OSError as error:
            raise HostError(f"cannot start a build process: {error}") from error
        return self._process

    async def end(self) -> None:
        """End the process."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()
        self._process = None


@dataclass(slots=True)
class _Record:
    """A build in progress."""

    job: Job
    started: float = field(default_factory=time.monotonic)

    def failed(self, status: str, failure_source: FailureSource, message: str, trace: str = "") -> Trajectory:
        """Return the record of a build that was cut short."""
        failure = Failure(status, message, trace)
        return self._trajectory(status, failure_source, 0.0, [], failure=failure, stdout=message)

    def built(self, answer: dict[str, Any]) -> Trajectory:
        """Return the record of a build."""
        reports: list[dict[str, Any]] = answer["reports"]
        hidden = self.job.task.split != "train"
        passed = sum(report["passed"] for report in reports)
        share = passed / len(gates_of(self.job))
        score = float(share == 1.0) if hidden else share
        kept = {CERTIFICATE: json.dumps(answer["certificate"], indent=1), LEVELS: answer["levels"]} if hidden else {}
        media = {name: text.encode() for name, text in kept.items()}
        findings = findings_text(reports, len(gates_of(self.job)))
        return self._trajectory(Status.OK, FailureSource.NONE, score, reports, stdout=findings, media=media)

    def _trajectory(
        self, status: str, source: FailureSource, score: float, reports: Sequence[dict[str, Any]], **fields: Any
    ) -> Trajectory:
        count = len(reports)
        columns: dict[str, Column] = {
            "obs": [*(f"gate {report['gate']}" for report in reports), "the end"],
            "action": [report["gate"] for report in reports],
            "reward": [float(report["passed"]) for report in reports],
            "terminated": [index == count - 1 for index in range(count)],
            "truncated": [False] * count,
            "info/findings": [report["findings"] for report in reports],
            # Figures may reveal the players; an author sees only the findings.
            "info/figures": [report["figures"] if self.job.task.split != "train" else {} for report in reports],
        }
        ids = self.job.task.id, self.job.candidate.digest
        seconds = time.monotonic() - self.started
        return Trajectory(*ids, status, source, score, count, True, columns, seconds=seconds, **fields)


class BuildRunner:
    """Builds worlds and runs gates on them: the public gates on train tasks, all gates on hidden tasks.

    Args:
        workers: number of concurrent builds.
    """

    def __init__(self, workers: int) -> None:
        self._places = asyncio.Semaphore(workers)
        self._idle: list[BuildProcess] = []

    def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncGenerator[tuple[int, Trajectory]]:
        """Run builds; each may take `limits.episode_s` of CPU time (see `Runner.run`).

        The wall-clock limit is many times that. A build that exceeds it waited for the machine, which is not the
        world's fault.
        """

        async def attempt(position: int, job: Job) -> tuple[int, Trajectory]:
            async with self._places:
                record = _Record(job)
                return position, await attributed(record, self._built(record, limits.episode_s))

        return as_completed(attempt(position, job) for position, job in enumerate(jobs))

    async def close(self) -> None:
        """End the processes."""
        while self._idle:
            await self._idle.pop().end()

    async def _built(self, record: _Record, seconds: float) -> Trajectory:
        process, most = self._idle.pop() if self._idle else BuildProcess(), _START_S + _CLOCK * seconds
        try:
            async with asyncio.timeout(most):
                answer = await process.ask(_request(record.job, seconds))
        except TimeoutError as error:
            await process.end()
            raise HostError(f"a build got too little CPU time within {most:g} s") from error
        except BaseException:
            await process.end()
            raise
        self._idle.append(process)
        if "host" in answer:
            raise HostError(answer["host"])
        if "late" in answer:
            raise RolloutError(
                f"no end within {seconds:g} seconds of the processor; make levels, lists and searches smaller",
                status=Status.ROLLOUT_TIMEOUT,
                failure_source=FailureSource.CANDIDATE,
            )
        if unjudged := [report for report in answer["reports"] if "unjudged" in report]:
            raise HostError(f"the gate {unjudged[0]['gate']} {unjudged[0]['unjudged']}")
        return record.built(answer)


def gates_of(job: Job) -> Sequence[str]:
    """Return the gates that a build goes through."""
    return SHOWN if job.task.split == "train" else ALL


def _request(job: Job, seconds: float) -> dict[str, Any]:
    files = {path: base64.b64encode(data).decode() for path, data in job.candidate.agent.items()}
    return {**job.task.spec, "files": files, "gates": list(gates_of(job)), "seconds": seconds}


def findings_text(reports: Sequence[dict[str, Any]], gates: int) -> str:
    """Format the gates' results for the author."""
    lines: list[str] = []
    for report in reports:
        lines.append(f"{report['gate']}: {'passed' if report['passed'] else 'REJECTED'}")
        for finding in report["findings"]:
            times = f" ({finding['count']} times)" if finding["count"] > 1 else ""
            lines.append(f"- {finding['kind']}{times}: {finding['message']}")
            if finding["trace"]:
                lines.append(
                    f"  seen in level {finding['trace']['level']} after {json.dumps(finding['trace']['actions'])[:600]}"
                )
    passed = sum(report["passed"] for report in reports)
    unmet = f"; {gates - len(reports)} more follow when it builds" if len(reports) < gates else ""
    return "\n".join([*lines, f"{passed} of {gates} gates passed{unmet}", ""])


THEME = "theme.md"
"""The file that holds the theme."""


def _open(opening: Opening) -> Runner:
    return BuildRunner(opening.workers.count or os.cpu_count() or 1)


def _starter(info: TasksetInfo) -> Candidate:
    return Candidate.program(SourceTree({THEME: f"{info.public['theme']}\n"}))


def _read(folder: Path) -> Candidate:
    return Candidate.program(SourceTree.from_folder(folder))


KIND = Kind(
    NAME,
    _open,
    Needs(reads=("limits.episode_s",)),
    Candidates(starter=_starter, read=_read),
    usage=lambda trajectory: None,
)
