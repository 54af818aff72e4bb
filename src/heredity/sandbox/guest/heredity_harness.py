"""Library for harness programs: typed messages, middleware around the model and the tools, and their connection.

    from heredity_harness import Harness, Message

    def solve(problem, host):
        harness = Harness(host, __file__) messages = [Message("system", host["system"]), Message("user",
        host["question"])] ...

It runs in the sandbox, in the process of the untrusted program: it offers no protection, but detects mistakes early
and names them. The host checks everything again.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["ContractError", "Harness", "Message", "Middleware", "Reply", "ToolCall", "load_middleware", "shell"]

ROLES = ("system", "user", "assistant", "tool")
HOOKS = ("before_model", "after_model", "before_tool", "after_tool")
_SHOWN = 120


class ContractError(Exception):
    """A part of a harness violates the contract.

    Attributes:
        part: the file.
        hook: the hook in it, or `""`.
        given: its value or action.
        expected: the required one.
    """

    def __init__(self, part: str, hook: str, given: str, expected: str) -> None:
        self.part, self.hook, self.given, self.expected = part, hook, given, expected
        super().__init__(f"{part}: {hook}{' ' if hook else ''}{given}; expected {expected}")


@dataclass(frozen=True)
class ToolCall:
    """A request to call a tool.

    Attributes:
        id: identifies the call; the tool's message answers under the same id.
        name: the tool.
        arguments: by name; empty where `malformed` is not.
        malformed: the model's text where it is not a JSON object.
        written: the arguments as the model wrote them, as shown to it again.
    """

    id: str
    name: str
    arguments: dict[str, Any]
    malformed: str = ""
    written: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        _check_fields(self, id=str, name=str, arguments=dict, malformed=str, written=str)

    @property
    def text(self) -> str:
        """The arguments as text, as written by the model unless they were changed."""
        if self.malformed or (self.written and _arguments(self.written) == self.arguments):
            return self.malformed or self.written
        return json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True)
class Message:
    """One message of a conversation; `tool_call_id` names the call answered by a message of the role `"tool"`."""

    role: str
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""

    def __post_init__(self) -> None:
        _check_fields(self, role=str, content=str, tool_calls=tuple, tool_call_id=str)
        _check_calls(self, self.tool_calls)
        if self.role not in ROLES:
            raise ContractError("Message", "", f"has the role {self.role!r}", f"one of {', '.join(ROLES)}")
        if (self.role == "tool") != bool(self.tool_call_id):
            given = f"of the role {self.role} has the tool_call_id {self.tool_call_id!r}"
            raise ContractError("Message", "", given, "one for the role tool, and none for others")


@dataclass(frozen=True)
class Reply:
    """A model's answer: `finish` is `"stop"`, `"length"`, `"tool_calls"` or `"refusal"`."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    finish: str = "stop"

    def __post_init__(self) -> None:
        _check_fields(self, text=str, tool_calls=tuple, finish=str)
        _check_calls(self, self.tool_calls)

    @property
    def message(self) -> Message:
        """The assistant's message that continues the conversation."""
        return Message("assistant", self.text, self.tool_calls)


class Middleware:
    """Hooks between the loop and the model and the tools, one object for each rollout; by default they change nothing."""

    def before_model(self, messages: list[Message]) -> list[Message]:
        """Return the conversation to show to the model; the loop's list stays as it is."""
        return messages

    def after_model(self, reply: Reply) -> Reply:
        """Return the reply for the loop."""
        return reply

    def before_tool(self, call: ToolCall) -> ToolCall | str:
        """Return the call to make; a text is the result instead, and the tool is not called."""
        return call

    def after_tool(self, call: ToolCall, result: str) -> str:
        """Return the result for the loop."""
        return result


class Harness:
    """Connection of one rollout's loop, middleware and host.

    Args:
        host: the argument of `solve`.
        file: `__file__` of the program; the middleware is in `middleware/` next to it.

    Attributes:
        tools: the model's tools, `{"name", "description", "parameters"}`.
        middleware: the objects, by file, in the order in which they run.

    Raises:
        ContractError: if a middleware cannot be loaded.
    """

    def __init__(self, host: Mapping[str, Any], file: str) -> None:
        self.tools: list[dict[str, Any]] = list(host["tools"])
        self.middleware = load_middleware(os.path.dirname(os.path.abspath(file)))

    def model(self, messages: Sequence[Message]) -> Reply:
        """Call the model, through the middleware.

        Raises:
            ContractError: if a hook returns an invalid value.
        """
        shown = checked_messages("the loop", "", list(messages))
        for part, middleware in self.middleware.items():
            shown = checked_messages(part, "before_model", run_hook(part, middleware, "before_model", list(shown)))
        answer = _ask("model", {"messages": [_message_json(m) for m in shown], "tools": self.tools})
        calls = tuple(_call(c["id"], c["name"], c["arguments"]) for c in answer["tool_calls"])
        reply = Reply(answer["text"], calls, answer["finish"])
        for part, middleware in self.middleware.items():
            reply = checked(part, "after_model", run_hook(part, middleware, "after_model", reply), Reply)
        return reply

    def tool(self, call: ToolCall) -> Message:
        """Call a tool, through the middleware, and return the message with its result; errors are results too.

        Raises:
            ContractError: if a hook returns an invalid value.
        """
        asked: ToolCall | str = call
        for part, middleware in self.middleware.items():
            asked = checked(part, "before_tool", run_hook(part, middleware, "before_tool", asked), ToolCall, str)
            if isinstance(asked, str):
                break
        result, made = (asked, call) if isinstance(asked, str) else (self._run(asked), asked)
        for part, middleware in self.middleware.items():
            result = checked(part, "after_tool", run_hook(part, middleware, "after_tool", made, result), str)
        return Message("tool", result, tool_call_id=call.id)

    @staticmethod
    def _run(call: ToolCall) -> str:
        if call.malformed:
            return f"error: the arguments of {call.name} are no JSON object: {call.malformed[:_SHOWN]}"
        answer = _ask("tool", {"name": call.name, "arguments": call.arguments})
        if "error" in answer:
            return "\n".join(part for part in (f"error: {answer['error']}", answer["traceback"].strip()) if part)
        value = answer["value"]
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def shell(command: str) -> str:
    """Run a command in the task's container and return its output and its exit code; for tools and middleware."""
    return str(_ask("shell", {"command": command}))


def probe(file: str) -> None:
    """Load a program's middleware and call every hook with sample arguments.

    Raises:
        ContractError: for the first violation.
    """
    call = ToolCall("call-1", "shell", {"command": "ls"})
    asked = [Message("system", "You work with a shell."), Message("user", "List the files.")]
    replies = [Reply("", (call,), "tool_calls"), Reply("Done.")]
    talks = [asked, [*asked, replies[0].message, Message("tool", "a.txt\n[exit code: 0]", tool_call_id="call-1")]]
    for part, middleware in load_middleware(os.path.dirname(os.path.abspath(file))).items():
        for conversation, reply in zip(talks, replies, strict=True):
            checked_messages(part, "before_model", run_hook(part, middleware, "before_model", list(conversation)))
            checked(part, "after_model", run_hook(part, middleware, "after_model", reply), Reply)
        for made, result in (
            (call, "a.txt\n[exit code: 0]"),
            (call, ""),
            (ToolCall("call-2", "shell", {}), "x" * 20_000),
        ):
            checked(part, "before_tool", run_hook(part, middleware, "before_tool", made), ToolCall, str)
            checked(part, "after_tool", run_hook(part, middleware, "after_tool", made, result), str)


def load_middleware(folder: str) -> dict[str, Middleware]:
    """Return the middleware of a program, by file and in the order of the files' names.

    Raises:
        ContractError: if a file cannot be imported, has not exactly one subclass of `Middleware`, or one with unknown
            hooks or wrong parameters.
    """
    path = os.path.join(folder, "middleware")
    names = sorted(n for n in os.listdir(path) if n.endswith(".py")) if os.path.isdir(path) else []
    return {f"middleware/{n}": _load(f"middleware/{n}", os.path.join(path, n)) for n in names if n != "__init__.py"}


def run_hook(part: str, middleware: Middleware, hook: str, *given: Any) -> Any:
    """Call a hook.

    Raises:
        ContractError: if it raises.
    """
    try:
        return getattr(middleware, hook)(*given)
    except Exception as error:
        raise ContractError(part, hook, f"raised {_format_error(error)}", _RETURNS[hook]) from error


def checked(part: str, hook: str, value: Any, *kinds: type) -> Any:
    """Return a hook's value.

    Raises:
        ContractError: if it has another type.
    """
    if not isinstance(value, kinds):
        raise ContractError(part, hook, f"returned {_kind(value)}", _RETURNS[hook])
    return value


def checked_messages(part: str, hook: str, value: Any) -> list[Message]:
    """Return messages that can be sent to a model.

    Raises:
        ContractError: if they are invalid, or a tool's result does not follow its call.
    """
    expected = _RETURNS["before_model"]
    if not isinstance(value, list) or not value:
        raise ContractError(part, hook, f"returned {_kind(value) if value != [] else 'an empty list'}", expected)
    waiting: set[str] = set()
    for message in value:
        if not isinstance(message, Message):
            raise ContractError(part, hook, f"returned a list with {_kind(message)}", expected)
        if message.role == "tool":
            if message.tool_call_id not in waiting:
                given = f"returned a tool's result without its call ({message.tool_call_id})"
                raise ContractError(part, hook, given, "each result after the reply that called the tool")
            waiting.remove(message.tool_call_id)
            continue
        if waiting:
            break
        waiting = {call.id for call in message.tool_calls}
    if waiting:
        given = f"returned a tool call without its result ({min(waiting)})"
        raise ContractError(part, hook, given, "the result of each call right after it")
    return value


_RETURNS = {
    "before_model": "a list of Message that is not empty",
    "after_model": "a Reply",
    "before_tool": "a ToolCall, or a str as the result",
    "after_tool": "a str",
}


def _load(part: str, path: str) -> Middleware:
    name = "middleware_" + os.path.basename(path).removesuffix(".py")
    expected = "a file with one class derived from Middleware, made without arguments"
    try:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        own = [c for c in vars(module).values() if isinstance(c, type) and c.__module__ == name]
        classes = [c for c in own if issubclass(c, Middleware) and not c.__name__.startswith("_")]
        made = [c() for c in classes]
    except Exception as error:
        raise ContractError(part, "", f"raised {_format_error(error)} when it was loaded", expected) from error
    if len(made) != 1:
        raise ContractError(part, "", f"has {len(made)} such classes", expected)
    _check_hooks(part, made[0])
    return made[0]


def _check_hooks(part: str, middleware: Middleware) -> None:
    for name in dir(middleware):
        if name.startswith(("before_", "after_")) and name not in HOOKS:
            raise ContractError(part, name, "is no hook", f"one of {', '.join(HOOKS)}")
    for hook in HOOKS:
        takes: Callable[..., Any] = getattr(Middleware, hook)
        count = len(inspect.signature(takes).parameters) - 1
        try:
            inspect.signature(getattr(middleware, hook)).bind(*range(count))
        except TypeError as error:
            wanted = ", ".join(list(inspect.signature(takes).parameters))
            raise ContractError(part, hook, f"takes other arguments ({error})", f"def {hook}({wanted})") from error


def _ask(service: str, value: Any) -> Any:
    return importlib.import_module("heredity_guest").ask(service, value)


def _call(own: str, name: str, text: str) -> ToolCall:
    arguments = _arguments(text)
    return ToolCall(own, name, {}, text) if arguments is None else ToolCall(own, name, arguments, written=text)


def _arguments(text: str) -> dict[str, Any] | None:
    try:
        arguments: Any = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        return None
    return arguments if isinstance(arguments, dict) else None


def _message_json(message: Message) -> dict[str, Any]:
    value: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        value["tool_calls"] = [{"id": c.id, "name": c.name, "arguments": c.text} for c in message.tool_calls]
    if message.tool_call_id:
        value["tool_call_id"] = message.tool_call_id
    return value


def _check_fields(value: object, **kinds: type) -> None:
    for name, kind in kinds.items():
        content = getattr(value, name)
        if not isinstance(content, kind):
            raise ContractError(type(value).__name__, name, f"is {_kind(content)}", f"a {kind.__name__}")


def _check_calls(value: object, calls: tuple[Any, ...]) -> None:
    for call in calls:
        if not isinstance(call, ToolCall):
            raise ContractError(type(value).__name__, "tool_calls", f"has {_kind(call)}", "ToolCall alone")


def _kind(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__} ({value!r:.60})"


def _format_error(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:_SHOWN]
