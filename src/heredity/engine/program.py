"""Solver programs: a candidate's `agent.py` that drives the conversation itself, in the sandbox (Agent-Evo).

The program defines `solve(problem, host)` and returns its answer as text. It requests services from this process:

    from heredity_guest import ask
    reply = ask("model", {"messages": [{"role": "user", "content": "…"}], "tools": host["tools"]})
    result = ask("tool", {"name": "calculator", "arguments": {"expression": "6*7"}})

Tools that the task provides can also be requested by name: `ask("shell", {"command": "ls"})` returns a text.
Everything a program passes is checked; errors are raised in the program.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from heredity._core.errors import BudgetError, CandidateError, ConfigError, HeredityError, HostError
from heredity.engine.actor import Problem, Service, ToolResult
from heredity.engine.conversation import Conversation, NoAnswerError, encodable
from heredity.engine.parts import Parts, render
from heredity.engine.tools import Toolbox
from heredity.models import Image, Message, ToolCall, ToolSpec
from heredity.models.contract import ROLES
from heredity.results.status import AnswerStatus

_SOLVE = "agent:solve"


@dataclass(frozen=True, slots=True)
class Earlier:
    """The previous round as a program sees it: its number from 1, its answer, and the feedback."""

    round: int = 0
    answer: str = ""
    feedback: str = ""


async def run_program(parts: Parts, problem: Problem, toolbox: Toolbox, earlier: Earlier) -> str:
    """Run a candidate's program for one round, in the sandbox of its tools, and return its answer.

    Raises:
        NoAnswerError: if it fails, takes too long, or returns no text.
        ProviderError: if a model call failed (even if the program handled the error).
        BudgetError: likewise, if the budget does not allow a call.
        ConfigError: likewise, if the model does not support such requests.
        HostError: if the sandbox fails.
        IsolationError: if the program cannot be confined.
    """
    if parts.program is None or toolbox.programs is None:
        raise CandidateError("there is no program, or no sandbox to run it in")
    services, settings = Services(toolbox.conversation, toolbox), toolbox.conversation.settings
    arguments = {"problem": _problem(problem), "host": _host(parts, problem, toolbox, earlier)}
    seconds = min(settings.seconds, settings.program_seconds)
    result = await toolbox.programs.call(parts.program, _SOLVE, arguments, seconds=seconds, services=services.all)
    if services.fatal is not None:
        raise services.fatal
    return _answer(result, toolbox.conversation, services.ended)


def _answer(result: ToolResult, conversation: Conversation, ended: NoAnswerError | None) -> str:
    if result.error == "tool_error" and ended is not None:
        # The program did not handle an end that also ends a conversation without a program.
        raise ended
    if result.error:
        conversation.notes.append(result.traceback or result.message)
        status = AnswerStatus.PROGRAM_TIMEOUT if result.error == "timeout" else AnswerStatus.PROGRAM_ERROR
        raise NoAnswerError(status, f"{result.error}: {result.message}")
    if not isinstance(result.value, str):
        detail = f"solve returned {json.dumps(result.value)[:80]}; expected the answer as text"
        conversation.notes.append(detail)
        raise NoAnswerError(AnswerStatus.PROGRAM_ERROR, detail)
    conversation.check_answer(encodable(result.value))
    if not result.value.strip():
        raise NoAnswerError(AnswerStatus.EMPTY, "solve returned an empty text")
    text = encodable(result.value)
    conversation.conclude(text)
    return text


def _problem(problem: Problem) -> dict[str, Any]:
    return {
        "text": problem.text,
        "choices": list(problem.choices),
        "instructions": problem.instructions,
        "images": [[kind, base64.b64encode(data).decode()] for kind, data in problem.images],
        "question": render(problem),
    }


def _host(parts: Parts, problem: Problem, toolbox: Toolbox, earlier: Earlier) -> dict[str, Any]:
    specs = toolbox.specs
    return {
        "system": parts.system_for(specs),
        "question": parts.question(problem),
        "turns": toolbox.conversation.settings.max_turns,
        "prompts": dict(parts.prompts),
        "memories": dict(parts.memories),
        "tools": [{"name": s.name, "description": s.description, "parameters": dict(s.parameters)} for s in specs],
        "round": earlier.round + 1,
        "previous": {"answer": earlier.answer, "feedback": earlier.feedback},
    }


@dataclass(slots=True)
class Services:
    """Services for a program in one round. A program cannot hide that a provider or the host failed: `fatal` keeps it.

    Attributes:
        ended: the reason why the last request got no reply, if a conversation without a program would end there.
    """

    conversation: Conversation
    toolbox: Toolbox
    recorded: Counter[Message] = field(default_factory=Counter[Message])
    asked: int = 0
    fatal: HeredityError | None = None
    ended: NoAnswerError | None = None

    @property
    def all(self) -> dict[str, Service]:
        """The services by the names under which a program requests them."""
        provided = {name: partial(self._provided, service) for name, service in self.toolbox.services.items()}
        return {**provided, "model": self.model, "tool": self.tool}

    async def model(self, asked: Any) -> dict[str, Any]:
        """Answer `{"messages": […], "tools": […]}` with `{"text", "tool_calls", "finish"}`."""
        messages, tools = _request(asked)
        most = self.conversation.settings.max_turns
        if self.asked >= most:
            self.ended = NoAnswerError(
                AnswerStatus.TURNS, f"the {most} model calls of this round are used up; return an answer"
            )
            raise self.ended
        self.asked += 1
        self.ended = None
        unrecorded = self._new(messages)
        try:
            reply = await self.conversation.ask(messages, unrecorded, tools)
        except NoAnswerError as error:
            self.ended = error
            raise
        except (HostError, BudgetError, ConfigError) as error:
            # The request was checked, so a model that does not support it, such as tools, is not the program's fault.
            if not isinstance(error, ConfigError) or not any(message.images for message in messages):
                self.fatal = self.fatal or error
            raise
        self.recorded[reply.message] += 1
        calls = [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in reply.tool_calls]
        return {"text": reply.text, "tool_calls": calls, "finish": reply.finish}

    async def tool(self, asked: Any) -> dict[str, Any]:
        """Answer `{"name", "arguments"}` with `{"value": …}`, or `{"error": …}` in words."""
        name, arguments = _field(asked, "name", str), _field(asked, "arguments", dict, {})
        most = 32 * self.conversation.settings.max_turns
        if self.conversation.tool_calls >= most * self.conversation.settings.rounds:
            raise CandidateError("too many tools were called in this attempt; return an answer")
        try:
            result = await self.toolbox.run(name, arguments)
        except HeredityError as error:
            self.fatal = self.fatal or error
            raise
        if result.error:
            return {"error": f"{result.error}: {result.message}", "traceback": result.traceback}
        return {"value": result.value}

    def _new(self, messages: Sequence[Message]) -> list[Message]:
        """Return the messages not recorded yet; a program may repeat a message at another place."""
        here, unrecorded = Counter[Message](), list[Message]()
        for message in messages:
            here[message] += 1
            if here[message] > self.recorded[message]:
                unrecorded.append(message)
        self.recorded |= here
        return unrecorded

    async def _provided(self, service: Service, asked: Any) -> Any:
        try:
            return await service(asked)
        except CandidateError:
            raise
        except HeredityError as error:
            self.fatal = self.fatal or error
            raise


def _request(asked: Any) -> tuple[list[Message], list[ToolSpec]]:
    messages = [_message(m) for m in _field(asked, "messages", list)]
    if not messages:
        raise CandidateError("messages is empty; give at least one")
    _check_results(messages)
    return messages, [_spec(t) for t in _field(asked, "tools", list, [])]


def _check_results(messages: Sequence[Message]) -> None:
    """Check that each call is directly followed by its result: a provider would reject the request and get the blame."""
    waiting: set[str] = set()
    for message in messages:
        if message.role == "tool" and message.tool_call_id not in waiting:
            raise CandidateError(
                f"the tool's message for {message.tool_call_id[:80]!r} does not follow a reply that made this call"
            )
        if message.role != "tool" and waiting:
            break
        waiting = waiting - {message.tool_call_id} if waiting else {call.id for call in message.tool_calls}
    if waiting:
        raise CandidateError(f"the call {min(waiting)[:80]!r} has no tool's message right after it; give its result")


def _message(value: Any) -> Message:
    role = _field(value, "role", str)
    if role not in ROLES:
        raise CandidateError(f"a message has the role {role!r:.40}; expected one of {', '.join(ROLES)}")
    calls = tuple(_call(c) for c in _field(value, "tool_calls", list, []))
    answers = _field(value, "tool_call_id", str, "")
    if (role == "tool") != bool(answers):
        raise CandidateError("a message of the role tool has a tool_call_id, and no other message has one")
    images = tuple(_image(i) for i in _field(value, "images", list, []))
    return Message(role, encodable(_field(value, "content", str, "")), images, calls, answers)


def _call(value: Any) -> ToolCall:
    arguments: Any = value.get("arguments", "") if isinstance(value, dict) else ""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCall(_field(value, "id", str), _field(value, "name", str), text)


def _image(value: Any) -> Image:
    try:
        kind, data = value
        return Image(str(kind), base64.b64decode(data, validate=True))
    except (TypeError, ValueError) as error:
        raise CandidateError(f"an image is a pair of media type and base64 text: {error}") from error


def _spec(value: Any) -> ToolSpec:
    parameters = cast("Mapping[str, Any]", _field(value, "parameters", dict, {"type": "object", "properties": {}}))
    return ToolSpec(_field(value, "name", str), _field(value, "description", str, ""), parameters)


_REQUIRED = object()


def _field(value: Any, key: str, kind: type, default: Any = _REQUIRED) -> Any:
    if not isinstance(value, dict):
        raise CandidateError(f"{json.dumps(value)[:80]} is no JSON object; expected one with {key!r}")
    content: Any = cast("dict[str, Any]", value).get(key, default)
    if content is default and default is not _REQUIRED:
        return default
    if not isinstance(content, kind):
        given = "missing" if content is _REQUIRED else json.dumps(content)[:80]
        raise CandidateError(f"{key!r} is {given}; expected {kind.__name__}")
    return content
