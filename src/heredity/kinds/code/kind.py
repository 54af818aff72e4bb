"""The kind of programming problems: solvers converse with a language model, and the judge judges their programs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

from heredity.engine.actor import SYSTEM, Programs, Solving
from heredity.engine.actor import Problem as Asked
from heredity.engine.conversation import Conversation
from heredity.engine.kind import CONVERSING, Candidates, Kind, Needs, Opening, TaskTools
from heredity.engine.question_runner import QuestionRecord, SolvingRunner
from heredity.engine.questions import Verification
from heredity.engine.runner import Job, Runner
from heredity.engine.trajectory import Trajectory
from heredity.kinds.code.replies import Replies, code_judge, words
from heredity.kinds.code.taskset import asked_of
from heredity.kinds.code.toolchains import machine_checks
from heredity.kinds.code.verdicts import Judgement, Verdict
from heredity.models import Model
from heredity.resources import Candidate, SourceTree
from heredity.results.status import FailureSource
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
        shown = asked_of(task.spec)
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
    asked = asked_of(task.spec)
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
