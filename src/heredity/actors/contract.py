"""What an actor is made of and what it needs: the parts of a solver's candidate, problems, answers, and sandboxed tools.

A solver's candidate has parts named `type/name`, each in the form of a resource's folder (an optional `resource.json` is
its manifest):

- `prompt/system`: `prompt.md` is the system message. `{{memory}}` in it is replaced by what the memories hold; without
  that place, memories that are not empty follow at the end.
- `prompt/question`: the user's message, with the place `{{question}}`; without this part the question is asked as it is.
- `prompt/critic`, `prompt/revise`: for rollouts of several rounds (see `Solving`).
- `prompt/answer`: the answer itself, given as it is without asking a model: the solution under evolution within a task.
- `prompt/NAME` of any other name is not sent by itself; programs may use it.
- `tool/NAME`: `tool.py` with a function `run(**arguments)` that returns JSON values, run in the sandbox, or `SKILL.md`
  alone: a text that the model may read.
- `memory/NAME`: `memory.jsonl`, one JSON object with `"text"` per line, or `memory.md`.
- `agent/solver`: `agent.py`, a program that drives the conversation itself, in the sandbox. Harnesses have more files there
  (docs/harnesses.md).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, Self

from heredity.gateway import Message, ToolSpec, Usage
from heredity.resources import SourceTree
from heredity.results.status import AnswerStatus

SYSTEM = "prompt/system"
QUESTION = "prompt/question"
CRITIC = "prompt/critic"
REVISE = "prompt/revise"
ANSWER = "prompt/answer"
SOLVER = "agent/solver"

RoundFeedback = Literal["none", "self", "public", "verdict"]
"""What a solver is told between the rounds of a rollout: nothing, its own critique, public tests, or the verdict."""


@dataclass(frozen=True, slots=True)
class Problem:
    """The public part of a question task: what a solver may see.

    Attributes:
        text: the question.
        choices: the options of a multiple-choice question, in order; empty if it is none.
        images: pictures (media type, bytes).
        instructions: how the answer must be given, such as `"End with the line: Answer: <number>"`.
    """

    text: str
    choices: tuple[str, ...] = ()
    images: tuple[tuple[str, bytes], ...] = ()
    instructions: str = ""


@dataclass(frozen=True, slots=True)
class Solving:
    """How a rollout at a question goes.

    Attributes:
        max_turns: most model calls of one round.
        rounds: how often the answer may be given; above 1 the solver refines its solution inside the rollout (Solution-Evo).
        feedback: what it is told between rounds. With `"verdict"` it sees ground truth: such a run is labelled oracle.
        temperature: passed to the model; None leaves it.
        max_tokens: most tokens of one reply; None leaves it.
        seconds: wall seconds of the whole rollout.
        program_seconds: wall seconds that a program which drives the conversation may take of a round for itself, without what
            it waits for.
        tool_seconds: wall seconds of one call of a candidate's own tool; `shell_seconds`: of one command in a container.
        tool_output_chars: how much of a tool's result the model is shown; the rest is cut and the cut is said.
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
    """What came of one call of a sandboxed function.

    Attributes:
        value: what it returned, JSON values; None if it failed.
        error: category of what went wrong, `""` when ok: `"tool_error"` (it raised), `"timeout"`, `"unanswered"` (it only waits;
            where the processor's time counts), `"oom"`, `"crash"`,
            `"output"` (what it returned is too large or no JSON), `"missing"` (there is no such function).
        message: one line on what went wrong.
        traceback: the author's own frames.
        stdout: what it printed, bounded; likewise `stderr`.
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
"""Something the host does for a sandboxed program: takes and returns JSON values."""


@dataclass(frozen=True, slots=True)
class ProvidedTool:
    """A tool that the place of a task provides, such as the shell of a container.

    A model calls it as any other tool, and programs may ask for it as a service of its name.

    Attributes:
        spec: what a model is told of it.
        run: takes arguments that fit the spec and returns a text, which may be `Illustrated`. What it raises is the host's
            failure.
    """

    spec: ToolSpec
    run: Callable[[Mapping[str, Any]], Awaitable[str]]


class ProvidedTools(tuple[ProvidedTool, ...]):
    """The tools that the place of a task provides for one conversation of an attempt.

    Attributes:
        again: gives them for another conversation of the same attempt, such as a step of a team: what a conversation has open, as
            the pages of a browser, is its own.
        close: ends what was opened for it; for the first one of an attempt, all that the attempt has open.
    """

    again: Callable[[], ProvidedTools]
    close: Callable[[], Awaitable[None]]

    def __new__(
        cls,
        tools: Sequence[ProvidedTool] = (),
        again: Callable[[], ProvidedTools] | None = None,
        close: Callable[[], Awaitable[None]] | None = None,
    ) -> Self:
        """Make them of tools; those that have nothing open are the same again."""
        made = super().__new__(cls, tools)
        made.again = again or (lambda: ProvidedTools(tools))
        made.close = close or _close_nothing
        return made


async def _close_nothing() -> None:
    """Close nothing."""


class Illustrated(str):
    """What a tool says, with pictures that the model is shown after the results of its calls; for models that see.

    Attributes:
        pictures: media type and bytes of each.
    """

    __slots__ = ("pictures",)
    pictures: tuple[tuple[str, bytes], ...]

    def __new__(cls, text: str, pictures: Sequence[tuple[str, bytes]] = ()) -> Self:
        """Make one of a text and its pictures."""
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

        Whatever the program does comes back as a result. While it runs it may ask for services by name
        (`from heredity_guest import ask; ask("model", {...})`), which run in this process.

        Raises:
            HostError: if the sandbox itself fails.
            IsolationError: if the program cannot be confined.
        """
        ...


@dataclass(frozen=True, slots=True)
class Answer:
    """What a solver gave.

    Attributes:
        text: its final words; the verifier reads the answer out of them.
        rounds: the final words of every round, the last one being `text`.
        messages: the whole conversation, in order.
        usage: of all its model calls.
        calls: how many model calls it made; `tool_calls`: how many tools it called.
        status: how it came to that.
        detail: one line on a status that is not ok.
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
