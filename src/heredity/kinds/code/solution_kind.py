"""The kind of single programs that solve a programming problem: the candidate is a program, and the judge judges it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from heredity.engine.kind import Candidates, Kind, Needs, Opening
from heredity.engine.rollout import attributed
from heredity.engine.runner import Job, Runner
from heredity.engine.streams import as_completed
from heredity.engine.trajectory import Column, Failure, Trajectory
from heredity.kinds.code.languages import LANGUAGES
from heredity.kinds.code.problem import problem
from heredity.kinds.code.replies import Replies, code_judge, words
from heredity.kinds.code.solution import KIND as NAME
from heredity.kinds.code.verdicts import Judgement
from heredity.resources import Candidate, SourceTree
from heredity.resources.candidate import AGENT
from heredity.results.status import FailureSource, Status
from heredity.sandbox.limits import Limits
from heredity.tasks import TasksetInfo


@dataclass(slots=True)
class _Record:
    """The state of a judgement while it lasts."""

    job: Job

    def failed(self, status: str, failure_source: FailureSource, message: str, trace: str = "") -> Trajectory:
        """Return the record of a judgement that an error ended early."""
        return self._trajectory(status, failure_source, 0.0, {}, Failure(status, message, trace, 0))

    def judged(self, judgement: Judgement) -> Trajectory:
        """Return the record of a judgement."""
        feedback = words(judgement) or f"{judgement.verdict.value}: passed all of {judgement.cases} cases"
        columns: dict[str, Column] = {
            "info/verdict": [judgement.verdict.value],
            "info/metrics": [{name: getattr(judgement, name) for name in ("score", "passed", "cases", "cpu_s")}],
            "info/texts": [{"judge": feedback}],
            "info/judgement": [judgement.to_json()],
        }
        return self._trajectory(Status.OK, FailureSource.NONE, judgement.score, columns)

    def _trajectory(
        self,
        status: str,
        source: FailureSource,
        score: float,
        more: dict[str, Column],
        failure: Failure | None = None,
    ) -> Trajectory:
        columns: dict[str, Column] = {
            "obs": ["the problem", "its verdict"],
            "action": ["judged"],
            "reward": [score],
            "terminated": [failure is None],
            "truncated": [False],
            **more,
        }
        ids = self.job.task.id, self.job.candidate.digest
        return Trajectory(*ids, status, source, score, 1, failure is None, columns, failure=failure)


class SolutionRunner:
    """Judges candidates that consist of a single program.

    Args:
        workers: maximum concurrent programs; one per core by default.
    """

    def __init__(self, workers: int | None) -> None:
        self._workers, self._stack, self._replies = workers, AsyncExitStack(), None

    def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncGenerator[tuple[int, Trajectory]]:
        """Judge programs (see `Runner.run`) under the problem's limits; `limits` is ignored."""

        async def attempt(position: int, job: Job) -> tuple[int, Trajectory]:
            record = _Record(job)
            return position, await attributed(record, self._judged(record))

        return as_completed(attempt(position, job) for position, job in enumerate(jobs))

    async def close(self) -> None:
        """End its processes."""
        self._replies = None
        await self._stack.aclose()

    async def _judged(self, record: _Record) -> Trajectory:
        if self._replies is None:
            self._replies = Replies(await self._stack.enter_async_context(code_judge(self._workers)))
        spec = record.job.task.spec
        source = record.job.candidate.agent.get(LANGUAGES[str(spec["language"])].file, b"")
        return record.judged(await self._replies.judged_program(spec, source.decode(errors="replace")))


def _open(opening: Opening) -> Runner:
    return SolutionRunner(opening.workers.count)


def _starter(info: TasksetInfo) -> Candidate:
    written = LANGUAGES[str(info.spec["language"])]
    starter = written.starter(problem(str(info.spec["problem"])).signature)
    return Candidate.program(SourceTree({written.file: starter}))


def _read(folder: Path) -> Candidate:
    return Candidate.program(SourceTree.from_folder(folder))


def _refusal(candidate: Candidate) -> Failure | None:
    if AGENT in candidate.parts:
        return None
    return Failure(Status.MISSING_POLICY, "there is no program; submit a folder with the file of the solution")


KIND = Kind(
    NAME,
    _open,
    Needs(confined=True, reads=()),
    Candidates(starter=_starter, read=_read, refusal=_refusal),
    usage=lambda trajectory: None,
)
