"""Sub-agents: participants that do a step with a language model and tools (Autogenesis, section 4).

A sub-agent is a candidate of resources - prompts, tools, memories - that a `Solver` drives for at most 20 steps.
Every action that costs or changes something is recorded once: model calls, tools, programs. So a resumed team repeats
recorded replies and results instead of the calls.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from heredity._core.errors import HeredityError
from heredity.engine.actor import Illustrated, Problem, Programs, ProvidedTool, Service, Solving, ToolResult
from heredity.engine.conversation import Conversation
from heredity.engine.solver import Solver
from heredity.models import Model, Reply, Request
from heredity.resources import SourceTree
from heredity.results.status import AnswerStatus
from heredity.team.participant import Context, Message

GIVEN = 4_000
"""Characters shown of each earlier result."""


@dataclass(frozen=True, slots=True)
class TeamTool:
    """A tool provided by the team.

    Attributes:
        tool: its description for the model, and its implementation.
        repeatable: allow a repetition (after a kill) of a call without a recorded end.
        lasting: the call has a lasting effect in the team or outside, so trials of edits skip it.
        recalled: called with the trace (see `Traced`) of a call made before a kill and not repeated.
    """

    tool: ProvidedTool
    repeatable: bool = True
    lasting: bool = False
    recalled: Callable[[dict[str, Any]], None] = lambda _: None


class Traced(Illustrated):
    """A tool's result with data for the record.

    Attributes:
        trace: JSON values for the record, such as the location of a picture. For a picture, `shown` is its media type
            and `picture` its name, by which it is found again after a kill.
    """

    __slots__ = ("trace",)
    trace: dict[str, Any]

    def __new__(
        cls, text: str, trace: Mapping[str, Any] | None = None, pictures: Sequence[tuple[str, bytes]] = ()
    ) -> Self:
        """Make a result from a text, its trace and its pictures."""
        traced = super().__new__(cls, text, pictures)
        traced.trace = dict(trace or {})
        return traced


class AgentFailedError(HeredityError):
    """A sub-agent ended without an answer; the message says how."""


@dataclass(frozen=True)
class SubAgent:
    """Handles the tasks of one sub-agent.

    Attributes:
        solver: its parts, as a solver; `Solver(read_parts(candidate))`.
        model: the language model that drives it.
        tools: makes the team's tools for a message being handled.
        programs: runs the candidate's tools (None without any).
        settings: turns, seconds, lengths.
        pictures: pictures shown with each step (media type, bytes).
        release: closes resources opened by a message's tools, once it is handled.
    """

    solver: Solver
    model: Model
    tools: Callable[[Context], Sequence[TeamTool]] = lambda _: ()
    programs: Programs | None = None
    settings: Solving = field(default_factory=Solving)
    pictures: tuple[tuple[str, bytes], ...] = ()
    release: Callable[[Context], Awaitable[None]] | None = None

    async def __call__(self, message: Message, context: Context) -> dict[str, Any]:
        """Do a step; return its answer and usage.

        Raises:
            AgentFailedError: if it gives no answer: out of turns, refused, empty.
            ProviderError: if the model does not answer.
        """
        once = Numbered(context)
        conversation = Conversation(RecordedModel(self.model, once), self.settings)
        provided = [_recorded_tool(tool, once) for tool in self.tools(context)]
        programs = self.programs and _RecordedPrograms(self.programs, once)
        problem = Problem(question_of(message.body), images=self.pictures)
        try:
            answer = await self.solver.attempt(problem, conversation, programs, provided=provided)
        finally:
            if self.release:
                await self.release(context)
        if answer.status != AnswerStatus.OK:
            raise AgentFailedError(f"{answer.status}: {answer.detail}")
        usage = answer.usage.to_json()
        return {"answer": answer.text, "calls": answer.calls, "tool_calls": answer.tool_calls, "usage": usage}


def question_of(body: Mapping[str, Any]) -> str:
    """Return an agent's question from a task's body: the step, its purpose, and the results of earlier steps."""
    parts = [str(body.get("task", ""))]
    if goal := str(body.get("goal", "")):
        parts.append(f"This is one step of a larger task, for your information:\n{goal}")
    given: Mapping[str, Any] = body.get("given") or {}
    parts += [f"Result of step {step}:\n{quoted(shortened(str(result), GIVEN))}" for step, result in given.items()]
    if files := body.get("files"):
        parts.append("Files of the task: " + ", ".join(map(str, files)))
    return "\n\n".join(parts)


_FRAME = re.compile(
    r"^(?=[ \t]*(?:Result of step |This is one step of |Files of the task:|Task:|Agents:|Steps so far|gave: |- [\w-]+ \())",
    re.M,
)


def quoted(text: str) -> str:
    """Quote a text, marking the lines that resemble the team's own prompts to planners and agents."""
    return _FRAME.sub("> ", text)


def shortened(text: str, most: int) -> str:
    """Return a text of at most about `most` characters, with a note on the cut."""
    return (
        text
        if len(text) <= most
        else f"{text[:most]}\n[cut: {len(text) - most} of {len(text)} characters are not shown]"
    )


class Numbered:
    """Runs effects once in the handling of a message, each under its kind and number, in the order in which they are started.

    Args:
        context: the message's context.
        prefix: prefix of their names (unlike that of others of the same message).
    """

    def __init__(self, context: Context, prefix: str = "") -> None:
        self._context = context
        self._prefix = prefix
        self._counts: dict[str, int] = {}

    def __call__(self, kind: str, effect: Callable[[], Awaitable[Any]], *, repeatable: bool = True) -> Awaitable[Any]:
        """Return the effect's value, new or recorded (see `Context.once`)."""
        self._counts[kind] = number = self._counts.get(kind, 0) + 1
        return self._context.once(f"{self._prefix}{kind}{number}", effect, repeatable=repeatable)

    async def load(self, digest: str) -> bytes:
        """Return data stored next to the record."""
        return await self._context.load(digest)


class RecordedModel:
    """A model whose replies are recorded: a recorded reply is returned again, for the same request only."""

    def __init__(self, model: Model, once: Numbered) -> None:
        self.name, self.models = model.name, (model,)
        self._model = model
        self._once = once

    async def reply(self, request: Request) -> Reply:
        """Answer a request; raises as the model does."""

        async def ask() -> Any:
            return (await self._model.reply(request)).to_json()

        return Reply.from_json(await self._once(f"model-{request.digest[:12]}-", ask))


class _RecordedPrograms:
    def __init__(self, programs: Programs, once: Numbered) -> None:
        self._programs = programs
        self._once = once

    async def call(
        self,
        tree: SourceTree,
        function: str,
        arguments: Mapping[str, Any],
        *,
        seconds: float,
        services: Mapping[str, Service] | None = None,
    ) -> ToolResult:
        """Call a function in the sandbox, or return its recorded result (see `Programs.call`)."""

        async def run() -> Any:
            result = await self._programs.call(tree, function, arguments, seconds=seconds, services=services)
            return asdict(replace(result, seconds=round(result.seconds, 3)))

        return ToolResult(**await self._once(f"program-{tree.digest[:12]}-", run))


def _recorded_tool(tool: TeamTool, once: Numbered) -> ProvidedTool:
    async def run(arguments: Mapping[str, Any]) -> str:
        made: list[str] = []

        async def use() -> Any:
            made.append(await tool.tool.run(arguments))
            trace = made[0].trace if isinstance(made[0], Traced) else {}
            return {"text": str(made[0]), **trace} if trace else str(made[0])

        name = f"{tool.tool.spec.name}-{json.dumps(arguments, sort_keys=True, default=str)[:200]}-"
        value = await once(name, use, repeatable=tool.repeatable)
        if isinstance(value, str) or made:
            return made[0] if made else value
        tool.recalled(value)
        shown = [(str(value["shown"]), await once.load(value["picture"]))] if value.get("shown") else []
        return Illustrated(str(value["text"]), shown)

    return ProvidedTool(tool.tool.spec, run)
