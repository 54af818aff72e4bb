"""`CodeRunner`: solvers on programming problems. Each rollout is a conversation, the program in whose last reply is judged."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

from heredity.actors.contract import Problem as Asked
from heredity.actors.contract import Programs, Solving
from heredity.actors.conversation import Conversation
from heredity.gateway import Model
from heredity.results.status import FailureSource
from heredity.rollouts.code.replies import Replies, code_judge, words
from heredity.rollouts.code.verdicts import Judgement, Verdict
from heredity.rollouts.contract import Job
from heredity.rollouts.kind import TaskTools
from heredity.rollouts.question.runner import QuestionRecord, SolvingRunner
from heredity.rollouts.trajectory import Trajectory
from heredity.tasks import Task
from heredity.tasks.code.taskset import asked_of
from heredity.tasks.questions import Verification


class CodeRunner(SolvingRunner):
    """Rollouts on programming problems with solvers: tasksets of the kind `"code"`.

    Args:
        model: what solvers converse with; also the critic between rounds.
        programs: the sandbox for candidates that have programs; whoever made it closes it.
        settings: how each rollout goes; the feedback `"public"` is what the examples show.
        concurrent: most rollouts at the same time.
        workers: most submitted programs that run at the same time; one per core by default.
        provided: gives tools beside those of a candidate.

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
        """Return what a solver may see of a task."""
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
        """Return the record of a rollout that begins."""
        return CodeRecord(job, conversation)

    async def _examples(self, task: Task, text: str) -> str | None:
        return await (await self._opened()).feedback(task.spec, text, "public")

    async def _opened(self) -> Replies:
        if self._replies is None:
            self._replies = Replies(await self._stack.enter_async_context(code_judge(self._workers)))
        return self._replies


class CodeRecord(QuestionRecord):
    """What is known of one rollout at a programming problem."""

    keys = (
        *("question", "verdict", "correct", "reason", "public", "rounds", "round_verdicts", "judgement", "notes"),
        *("cpu_s", "peak_bytes", "rank"),
    )

    def trajectory(self, info: Mapping[str, Any], outcome: str, **how: Any) -> Trajectory:
        """Return the record, with the verdict of each round; a candidate that gives no answer gives no program."""
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
