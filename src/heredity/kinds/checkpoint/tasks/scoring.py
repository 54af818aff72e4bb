"""`ScoringRunner`: questions whose answers a task's own `eval.py` scores, in the sandbox. Tasksets of the kind `"scored"`.

The info's spec has `scorer`, path to text, with an `eval.py` that defines `evaluate(question, model_answer,
reference_answer, **extra)` and returns 0 (wrong) to 1 (right). A task is a question whose metadata are the
`question`, the `answer` and the `extra` arguments of `evaluate`.

An `eval.py` may call functions of an answer, in a separate sandbox: `heredity_guest.ask("call", {"code": …,
"function": …, "arguments": "([1, 2], 'x')"})` returns `{"value": …}` or `{"error": …}`, where arguments and value are
written as Python literals. So an answer that is a program never sees the expected results.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from heredity._core.errors import CandidateError, ConfigError
from heredity.engine.actor import ToolResult
from heredity.engine.player import KeepingPrograms, KeptProgram
from heredity.engine.question_runner import conversation_of
from heredity.engine.questions import Question
from heredity.engine.questions.extract import final_text
from heredity.engine.runner import Job, Runner
from heredity.engine.streams import as_completed
from heredity.engine.trajectory import Column, Failure, Trajectory
from heredity.resources import SourceTree
from heredity.results.status import FailureSource, Status
from heredity.sandbox.limits import Limits

SCORED = "scored"
"""The kind of these tasksets."""

_SECONDS = 20.0
"""Limits of `eval.py` per answer, excluding the functions of the answer."""

_SCORER_CODE = """\
from eval import evaluate


def score(question, answer, reference, extra):
    return evaluate(question, answer, reference, **extra)
"""

_CALLER_CODE = """\
from ast import literal_eval
from importlib import import_module


class Caller:
    def __init__(self):
        self.module = import_module("answer")

    def call(self, function, arguments):
        return repr(getattr(self.module, function)(*literal_eval(arguments)))
"""


def scored_question(
    text: str, answer: Any, *, question: Any = None, extra: Mapping[str, Any] | None = None, instructions: str = ""
) -> Question:
    """Return a question that an `eval.py` scores.

    Args:
        text: the prompt for the model.
        answer: the reference answer for `evaluate`: a JSON value.
        question: the question for `evaluate`; by default the text.
        extra: further arguments of `evaluate`.
        instructions: the required form of the answer.
    """
    given = {"question": text if question is None else question, "answer": answer, "extra": dict(extra or {})}
    shown = answer if isinstance(answer, str) else str(answer)
    return Question(text, shown, {"kind": "exact"}, instructions=instructions, metadata=given)


class ScoringRunner:
    """Runs questions and has `eval.py` score the answers, each in a fresh process.

    Args:
        solving: attempts the questions; its own verdict is replaced.
        programs: the sandbox; closed by the caller.
        calls_s: total wall seconds for the functions of one answer.
    """

    def __init__(self, solving: Runner, programs: KeepingPrograms, *, calls_s: float = 10.0) -> None:
        self._solving, self._programs, self._calls_s = solving, programs, calls_s

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncGenerator[tuple[int, Trajectory]]:
        """Attempt all jobs, then yield (position, trajectory) as each one is scored.

        An answer that makes `eval.py` fail is wrong, unless it fails on the reference answer as well: then the task
        is at fault.

        Raises:
            ConfigError: if a taskset's spec has no `eval.py`.
        """
        trajectories = [attempt async for attempt in self._solving.run(jobs, limits)]

        async def score(position: int, trajectory: Trajectory) -> tuple[int, Trajectory]:
            return position, await self._scored(jobs[position], trajectory)

        async with aclosing(as_completed(score(*attempt) for attempt in trajectories)) as scored:
            async for attempt in scored:
                yield attempt

    async def close(self) -> None:
        """Close the runner that solves."""
        await self._solving.close()

    async def _scored(self, job: Job, trajectory: Trajectory) -> Trajectory:
        if trajectory.status != Status.OK:
            return trajectory
        replies = [message.content for message in conversation_of(trajectory) if message.role == "assistant"]
        points, problem = await self._evaluate(job, final_text(replies[-1]))
        if points is None:
            checked, _ = await self._evaluate(job, job.task.spec["answer"])
            if checked is None:
                return _unscored(trajectory, f"eval.py of {job.taskset.name} takes no answer: {problem}")
        return _rescored(trajectory, points or 0.0, problem)

    async def _evaluate(self, job: Job, answer: str) -> tuple[float | None, str]:
        """Return the score of an answer, None if it has none, and the problem."""
        files: Mapping[str, str] = job.taskset.spec.get("scorer", {})
        if "eval.py" not in files:
            raise ConfigError(f"{job.taskset.name} is {SCORED!r}, and its spec has no eval.py under 'scorer'")
        tree = SourceTree({**files, "heredity_scorer.py": _SCORER_CODE})
        given = job.task.spec["metadata"]
        arguments = {
            "question": given["question"],
            "reference": given["answer"],
            "extra": given["extra"],
            "answer": answer,
        }
        async with AsyncExitStack() as stack:
            calls = _Calls(self._programs, stack, self._calls_s)
            result = await self._programs.call(
                tree, "heredity_scorer:score", arguments, seconds=_SECONDS, services={"call": calls}
            )
        return _points(result)


@dataclass(slots=True)
class _Calls:
    """The service `call`: functions of one answer, whose process is kept between calls of the same code."""

    programs: KeepingPrograms
    stack: AsyncExitStack
    left: float
    opened: dict[str, KeptProgram] = field(default_factory=dict[str, KeptProgram])

    async def __call__(self, asked: Any) -> dict[str, Any]:
        try:
            code, function, arguments = (str(asked[key]) for key in ("code", "function", "arguments"))
        except (TypeError, KeyError) as error:
            raise CandidateError("call takes an object with code, function and arguments") from error
        if code not in self.opened:
            tree = SourceTree({"answer.py": code, "heredity_caller.py": _CALLER_CODE})
            program = self.programs.open(tree, "heredity_caller:Caller", {})
            self.opened[code] = await self.stack.enter_async_context(program)
        if self.left <= 0:
            return {"error": "the functions of the answer took too long"}
        result = await self.opened[code].call("call", {"function": function, "arguments": arguments}, seconds=self.left)
        self.left -= result.seconds
        return {"error": _problem(result)} if result.error else {"value": result.value}


def _points(result: ToolResult) -> tuple[float | None, str]:
    if result.error:
        return None, _problem(result)
    value = result.value
    if isinstance(value, bool | int | float) and 0 <= value <= 1:
        return float(value), ""
    return None, f"evaluate returned {str(value)[:80]!r}; expected a number from 0 to 1"


def _problem(result: ToolResult) -> str:
    return f"{result.error}: {result.message}"[:300]


def _rescored(trajectory: Trajectory, points: float, problem: str) -> Trajectory:
    message = f"score {points:g}" + (f": {problem}" if problem else "")
    verdict = {"info/correct": points >= 1.0, "info/reason": message, "info/rounds": [points], "info/extracted": ""}
    before, last = trajectory.columns, trajectory.length - 1
    reward = np.zeros(trajectory.length)
    reward[-1:] = points
    columns: dict[str, Column] = {
        **before,
        **{key: [None] * last + [value] for key, value in verdict.items()},
        "obs": [*list(before["obs"])[:-1], message],
        "reward": reward,
    }
    return replace(trajectory, total_reward=points, columns=columns)


def _unscored(trajectory: Trajectory, problem: str) -> Trajectory:
    failure = Failure(Status.ENVIRONMENT_ERROR, problem)
    source = FailureSource.ENVIRONMENT
    return replace(trajectory, status=failure.category, failure_source=source, total_reward=0.0, failure=failure)
