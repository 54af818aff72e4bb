"""Data types of actors: the parts of a solver's candidate, problems, answers, and sandboxed tools.

A solver's candidate has parts named `type/name`, each a folder like a resource's (an optional `resource.json` is its
manifest):

- `prompt/system`: `prompt.md` is the system message. `{{memory}}` in it is replaced by the memories; without this
  placeholder, non-empty memories are appended.
- `prompt/question`: the user's message, with the placeholder `{{question}}`; without this part the question is sent
  as is.
- `prompt/critic`, `prompt/revise`: for rollouts of several rounds (see `Solving`).
- `prompt/answer`: the answer itself, given without calling a model: the solution under evolution within a task.
- `prompt/NAME` with any other name is not sent; programs may use it.
- `tool/NAME`: `tool.py` with a function `run(**arguments)` that returns JSON values, run in the sandbox, or `SKILL.md`
  alone: a text that the model may read.
- `memory/NAME`: `memory.jsonl`, one JSON object with `"text"` per line, or `memory.md`.
- `agent/solver`: `agent.py`, a program that drives the conversation itself, in the sandbox. Harnesses have more files
  there (docs/harnesses.md).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, Self

from heredity.models import Message, ToolSpec, Usage
from heredity.resources import SourceTree
from heredity.results.status import AnswerStatus

SYSTEM = "prompt/system"
QUESTION = "prompt/question"
CRITIC = "prompt/critic"
REVISE = "prompt/revise"
ANSWER = "prompt/answer"
SOLVER = "agent/solver"

RoundFeedback = Literal["none", "self", "public", "verdict"]
"""Feedback between the rounds of a rollout: none, the solver's own critique, public tests, or the verdict."""


@dataclass(frozen=True, slots=True)
class Problem:
    """The public part of a question task, as a solver sees it.

    Attributes:
        text: the question.
        choices: the options of a multiple-choice question, in order; empty for other questions.
        images: pictures (media type, bytes).
        instructions: the required form of the answer, such as `"End with the line: Answer: <number>"`.
    """

    text: str
    choices: tuple[str, ...] = ()
    images: tuple[tuple[str, bytes], ...] = ()
    instructions: str = ""


@dataclass(frozen=True, slots=True)
class Solving:
    """Settings of a rollout on a question.

    Attributes:
        max_turns: maximum model calls per round.
        rounds: number of answers; above 1 the solver refines its solution inside the rollout (Solution-Evo).
        feedback: feedback between rounds. With `"verdict"` the solver sees ground truth: such a run is labelled oracle.
        temperature: passed to the model; None omits it.
        max_tokens: maximum tokens per reply (None omits it).
        seconds: wall seconds for the whole rollout.
        program_seconds: wall seconds per round for a program that drives the conversation, excluding time spent waiting
            for services.
        tool_seconds: wall seconds per call of a candidate's own tool; `shell_seconds`: per command in a container.
        tool_output_chars: maximum characters of a tool's result shown to the model; the cut is marked.
    """

    max_turns: int = 50
    rounds: int = 1
    feedback: RoundFeedback = "none"
    temperature: float | None = None
    max_tokens: int | None = None
    seconds: float = 3600.0
    program_seconds: float = 600.0
    tool_seconds: float = 60.0
    shell_seconds: float = 1800.0
    tool_output_chars: int = 8000


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of one call of a sandboxed function.

    Attributes:
        value: the returned JSON values; None if the call failed.
        error: category of the failure, `""` when ok: `"tool_error"` (it raised), `"timeout"`, `"unanswered"` (it only
            waits; where CPU time is counted), `"oom"`, `"crash"`, `"output"` (the result is too large or not JSON),
            `"missing"` (the function does not exist).
        message: one line on the failure.
        traceback: the author's own frames.
        stdout: printed text, bounded; likewise `stderr`.
        seconds: wall time.
    """

    value: Any = None
    error: str = ""
    message: str = ""
    traceback: str = ""
    stdout: str = ""
    stderr: str = ""
    seconds: float = 0.0


Service = Callable[[Any], Awaitable[Any]]
"""A host function that a sandboxed program can call; takes and returns JSON values."""


@dataclass(frozen=True, slots=True)
class ProvidedTool:
    """A tool that the task's environment provides, such as the shell of a container.

    Models call it like any other tool; programs may request it (as a service of the same name).

    Attributes:
        spec: the tool's description for the model.
        run: takes arguments that fit the spec and returns a text, which may be `Illustrated`. Exceptions count as
            failures of the host.
    """

    spec: ToolSpec
    run: Callable[[Mapping[str, Any]], Awaitable[str]]


class ProvidedTools(tuple[ProvidedTool, ...]):
    """The tools that a task's environment provides for one conversation of an attempt.

    Attributes:
        again: returns the tools for another conversation of the same attempt, such as a step of a team. Open state (the
            pages of a browser, say) is per conversation.
        close: releases this conversation's state; on the first conversation of an attempt, the state of the whole
            attempt.
    """

    again: Callable[[], ProvidedTools]
    close: Callable[[], Awaitable[None]]

    def __new__(
        cls,
        tools: Sequence[ProvidedTool] = (),
        again: Callable[[], ProvidedTools] | None = None,
        close: Callable[[], Awaitable[None]] | None = None,
    ) -> Self:
        """Create from tools; tools without open state are shared between conversations."""
        made = super().__new__(cls, tools)
        made.again = again or (lambda: ProvidedTools(tools))
        made.close = close or _close_nothing
        return made


async def _close_nothing() -> None:
    """Do nothing."""


class Illustrated(str):
    """A tool's text with pictures, shown to models with vision after the results of their calls.

    Attributes:
        pictures: media type and bytes of each.
    """

    __slots__ = ("pictures",)
    pictures: tuple[tuple[str, bytes], ...]

    def __new__(cls, text: str, pictures: Sequence[tuple[str, bytes]] = ()) -> Self:
        """Create from a text and its pictures."""
        illustrated = super().__new__(cls, text)
        illustrated.pictures = tuple(pictures)
        return illustrated


class Programs(Protocol):
    """Runs functions of untrusted source trees in a sandbox."""

    async def call(
        self,
        tree: SourceTree,
        function: str,
        arguments: Mapping[str, Any],
        *,
        seconds: float,
        services: Mapping[str, Service] | None = None,
    ) -> ToolResult:
        """Call `module:function` of a tree with keyword arguments in a fresh confined process.

        Failures of the program are returned as a result. While it runs it may request services by name
        (`from heredity_guest import ask; ask("model", {...})`), which run in this process.

        Raises:
            HostError: if the sandbox itself fails.
            IsolationError: if the program cannot be confined.
        """
        ...


@dataclass(frozen=True, slots=True)
class Answer:
    """A solver's answer.

    Attributes:
        text: its final words, from which the verifier extracts the answer.
        rounds: the final words of every round, the last one being `text`.
        messages: the whole conversation, in order.
        usage: of all its model calls.
        calls: number of model calls; `tool_calls`: number of tool calls.
        status: outcome of the rollout.
        detail: one line on a status other than ok.
    """

    text: str
    rounds: tuple[str, ...]
    messages: tuple[Message, ...]
    usage: Usage
    calls: int = 0
    tool_calls: int = 0
    status: AnswerStatus = AnswerStatus.OK
    detail: str = ""
    notes: Sequence[str] = field(default_factory=tuple[str, ...])
