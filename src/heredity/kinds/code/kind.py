"""The kinds of programming problems: candidates of `code` are solvers, those of `solution` are programs.

Solvers converse with a language model. The judge judges the program in both.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heredity.engine.actor import SYSTEM, Programs, Solving
from heredity.engine.actor import Problem as Asked
from heredity.engine.conversation import Conversation
from heredity.engine.kind import CONVERSING, Candidates, Kind, Needs, Opening, TaskTools
from heredity.engine.question_runner import QuestionRecord, SolvingRunner
from heredity.engine.questions import Verification
from heredity.engine.rollout import attributed
from heredity.engine.runner import Job, Runner
from heredity.engine.streams import as_completed
from heredity.engine.trajectory import Column, Failure, Trajectory
from heredity.kinds.code.judge import Judgement, Verdict
from heredity.kinds.code.languages import LANGUAGES
from heredity.kinds.code.problem import problem
from heredity.kinds.code.replies import Replies, code_judge, words
from heredity.kinds.code.taskset import KIND as NAME
from heredity.kinds.code.taskset import presentation_of
from heredity.kinds.code.toolchains import machine_checks
from heredity.models import Model
from heredity.resources import Candidate, SourceTree
from heredity.resources.candidate import AGENT
from heredity.results.status import FailureSource, Status
from heredity.sandbox.limits import Limits
from heredity.tasks import Task, TasksetInfo


class CodeRunner(SolvingRunner):
    """Runs solvers on programming problems: tasksets of the kind `"code"`.

    Args:
        model: the model that solvers converse with; also the critic between rounds.
        programs: the sandbox for candidates that have programs; closed by the caller.
        settings: settings of each rollout; the feedback `"public"` is the result on the examples.
        concurrent: maximum concurrent rollouts.
        workers: maximum concurrent runs of submitted programs; one per core by default.
        provided: returns tools in addition to those of a candidate.

    Raises:
        ConfigError: if the settings are out of range.
    """

    def __init__(
        self,
        model: Model,
        *,
        programs: Programs | None = None,
        settings: Solving | None = None,
        concurrent: int = 8,
        workers: int | None = None,
        provided: TaskTools | None = None,
    ) -> None:
        super().__init__(
            model, programs=programs, settings=settings, concurrent=concurrent, public=self._examples, provided=provided
        )
        self._stack, self._workers, self._replies = AsyncExitStack(), workers, None

    async def close(self) -> None:
        """End its processes."""
        await self._stack.aclose()

    def problem(self, task: Task) -> Asked:
        """Return the public part of a task."""
        shown = presentation_of(task.spec)
        return Asked(shown.text, instructions=shown.instructions)

    async def checked(self, job: Job, text: str) -> Verification:
        """Judge the program in a reply."""
        replies = await self._opened()
        judgement = await replies.judged(job.task.spec, text)
        passed = judgement.verdict is Verdict.PASSED
        score = float(passed) if job.task.spec.get("score") == "verdict" else judgement.score
        reason = words(judgement) or f"{judgement.verdict.value}: passed all of {judgement.cases} cases"
        ranked = await replies.ranked(job.task.spec, text) if passed and job.task.spec.get("ranks") else None
        rank = {"rank": ranked.to_json()} if ranked else {}
        return Verification(score, passed, "", reason, details={**_details(judgement), **rank})

    def verdict_text(self, verification: Verification) -> str:
        """Return the feedback `"verdict"`."""
        return verification.reason

    def record(self, job: Job, conversation: Conversation) -> CodeRecord:
        """Return the record of a new rollout."""
        return CodeRecord(job, conversation)

    async def _examples(self, task: Task, text: str) -> str | None:
        return await (await self._opened()).feedback(task.spec, text, "public")

    async def _opened(self) -> Replies:
        if self._replies is None:
            self._replies = Replies(await self._stack.enter_async_context(code_judge(self._workers)))
        return self._replies


class CodeRecord(QuestionRecord):
    """The state of one rollout on a programming problem."""

    keys = (
        *("question", "verdict", "correct", "reason", "public", "rounds", "round_verdicts", "judgement", "notes"),
        *("cpu_s", "peak_bytes", "rank"),
    )

    def trajectory(self, info: Mapping[str, Any], outcome: str, **how: Any) -> Trajectory:
        """Return the record, with the verdict of each round; a candidate without an answer has no program."""
        verdicts = [
            self.verdicts[text].details["verdict"] for text in self.conversation.rounds if text in self.verdicts
        ]
        own = how.get("failure_source", FailureSource.CANDIDATE) == FailureSource.CANDIDATE
        if "verdict" not in info and own:
            info = {"verdict": Verdict.NO_PROGRAM.value, **info}
            verdicts.append(Verdict.NO_PROGRAM.value)
        return super().trajectory({**info, "round_verdicts": verdicts}, outcome, **how)


def _details(judgement: Judgement) -> dict[str, Any]:
    return {
        "verdict": judgement.verdict.value,
        "public": words(judgement.public),
        "cpu_s": judgement.cpu_s,
        "peak_bytes": judgement.peak_bytes,
        "judgement": judgement.to_json(),
    }


_STARTER = "Solve the programming problem. Think first, then give the whole program.\n"


def _open(opening: Opening) -> Runner:
    assert opening.model is not None, "required"
    return CodeRunner(
        opening.model,
        programs=opening.programs,
        settings=opening.settings,
        concurrent=opening.concurrent,
        workers=opening.workers.count,
        provided=opening.provided,
    )


def _starter(info: TasksetInfo) -> Candidate:
    return Candidate({SYSTEM: SourceTree({"prompt.md": _STARTER})})


def _public_data(task: Task) -> Mapping[str, Any]:
    asked = presentation_of(task.spec)
    return {
        "problem": task.spec["problem"],
        "language": task.spec["language"],
        "question": asked.text,
        "instructions": asked.instructions,
    }


KIND = Kind(
    "code",
    _open,
    Needs(
        model="required",
        purpose="programs are written",
        offline="local/smollm2-135m",
        programs=True,
        confined=True,
        commands=True,
        tools=True,
        calls=(1, 3),
        reads=CONVERSING,
    ),
    Candidates(starter=_starter),
    shown=_public_data,
    checks=machine_checks,
)


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


def _open_solutions(opening: Opening) -> Runner:
    return SolutionRunner(opening.workers.count)


def _solution_starter(info: TasksetInfo) -> Candidate:
    written = LANGUAGES[str(info.spec["language"])]
    starter = written.starter(problem(str(info.spec["problem"])).signature)
    return Candidate.program(SourceTree({written.file: starter}))


def _read(folder: Path) -> Candidate:
    return Candidate.program(SourceTree.from_folder(folder))


def _refusal(candidate: Candidate) -> Failure | None:
    if AGENT in candidate.parts:
        return None
    return Failure(Status.MISSING_POLICY, "there is no program; submit a folder with the file of the solution")


SOLUTION = Kind(
    NAME,
    _open_solutions,
    Needs(confined=True, reads=()),
    Candidates(starter=_solution_starter, read=_read, refusal=_refusal),
    usage=lambda trajectory: None,
)
