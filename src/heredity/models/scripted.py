r"""A rule-based language model: free, offline and deterministic.

    model = Scripted([Rule("The sum is ${1}.", When(user=r"sum is (\d+)")), Rule("I do not know.")])

An answer depends on the conversation alone: the number of times a rule has fired is read off the assistant's messages
in it. So neither concurrency nor a resumed run changes an answer. Only `Answer.failures` is counted in memory,
because a failed call leaves no trace in a conversation.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast, get_args

from heredity._core.errors import ConfigError, ProviderError
from heredity._core.outside import read_text, toml_table
from heredity._core.refusals import hint, quoted, reading
from heredity.models.contract import Delta, Finish, Message, Reply, Request, ToolCall, Usage

PLACE = re.compile(r"(?<!\$)\$\{([\w.-]+)\}")
"""Placeholder of a value: `${1}`, `${name}`, `${result.key}`; `$${` stands for `${` itself."""


def fill(value: Any, groups: Mapping[str, str], results: Sequence[str]) -> Any:
    """Fill placeholders in the texts of a JSON value.

    Args:
        value: a text, or mappings and lists with texts in them. A text inside them that is a single placeholder keeps
            the type of the value.
        groups: groups matched by regular expressions, by number and name.
        results: the tools' results, oldest first.

    Raises:
        LookupError: if the value does not exist; the message lists the available ones.
    """
    if isinstance(value, Mapping):
        return {key: _typed(inner, groups, results) for key, inner in value.items()}
    if isinstance(value, list):
        return [_typed(inner, groups, results) for inner in value]
    if not isinstance(value, str):
        return value
    filled = PLACE.sub(lambda m: _text(_value(m[1], groups, results)), value)
    return filled.replace("$${", "${")


def parse_rules(path: Path) -> list[tuple[int, Mapping[str, Any]]]:
    """Read the rules of a TOML file as tables, numbered from 1.

    Raises:
        ConfigError: if the file cannot be read, or has undocumented keys.
    """
    with reading(path, "valid TOML", "give the path of a TOML file with [[rule]]"):
        data = toml_table(read_text(path))
    check_keys(str(path), data, ["rule"])
    rules: Any = data.get("rule")
    if not isinstance(rules, list) or not rules:
        raise ConfigError(f"{path} has no rules; write at least one, under [[rule]]")
    for number, rule in enumerate(cast("list[Any]", rules), 1):
        where = f"{path}, rule {number}"
        check_keys(where, rule, RULE_KEYS)
        if "reply" not in rule:
            raise ConfigError(f"{where} has no reply; give a text or a table with {', '.join(REPLY_TYPES)}")
        check_types(f"{where}, when", rule.get("when", {}), WHEN_TYPES)
        if not isinstance(rule["reply"], str):
            check_types(f"{where}, reply", rule["reply"], REPLY_TYPES)
            for call in rule["reply"].get("calls", ()):
                check_types(f"{where}, reply.calls", call, CALL_TYPES)
                if "name" not in call:
                    raise ConfigError(f"{where}, reply.calls: a call has no name; give the tool's")
    return list(enumerate(rules, 1))


RULE_KEYS = ("name", "when", "reply")
WHEN_TYPES: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("user", "last", "system", "any", "tool"), (str,)),
    **dict.fromkeys(("results", "times"), (int,)),
}
REPLY_TYPES: Mapping[str, tuple[type, ...]] = {
    "text": (str,),
    "calls": (list,),
    "finish": (str,),
    "error": (str,),
    "failures": (int,),
    "delay_s": (int, float),
}
CALL_TYPES: Mapping[str, tuple[type, ...]] = {"name": (str,), "arguments": (dict, str)}


def check_types(where: str, table: Any, types: Mapping[str, tuple[type, ...]]) -> None:
    """Check a table's keys and the types of their values.

    Raises:
        ConfigError: naming the key and the expected type.
    """
    check_keys(where, table, types)
    for key, value in table.items():
        if not isinstance(value, types[key]) or isinstance(value, bool):
            expected = " or ".join(_TYPE_NAMES[kind] for kind in types[key])
            raise ConfigError(f"{where}: {key} is {quoted(value)}; expected {expected}")


def check_keys(where: str, table: Any, keys: Iterable[str]) -> None:
    """Check that a value is a table with known keys only.

    Raises:
        ConfigError: naming the key, and the nearest known ones.
    """
    if not isinstance(table, Mapping):
        raise ConfigError(f"{where} is {quoted(table)}; expected a table")
    keys = list(keys)
    for key in cast("Mapping[str, Any]", table):
        if key not in keys:
            raise ConfigError(f"{where}: unknown key {quoted(key)}; {hint(key, keys)}")


_TYPE_NAMES: Mapping[type, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
}


def _typed(value: Any, groups: Mapping[str, str], results: Sequence[str]) -> Any:
    whole = PLACE.fullmatch(value) if isinstance(value, str) else None
    return _value(whole[1], groups, results) if whole else fill(value, groups, results)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _value(placeholder: str, groups: Mapping[str, str], results: Sequence[str]) -> Any:
    if placeholder in groups:
        return groups[placeholder]
    head, *path = placeholder.split(".")
    chosen: Sequence[str] = results[-1:] if head == "result" else ()
    if head == "results" and path and path[0].isdigit():
        chosen, path = results[int(path[0]) :][:1], path[1:]
    if not chosen:
        raise LookupError(f"${{{placeholder}}} has no value; tools have given {len(results)} results")
    if not path:
        return chosen[0]
    try:
        value: Any = json.loads(chosen[0])
        for key in path:
            value = value[int(key)] if isinstance(value, list) else value[key]
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise LookupError(f"${{{placeholder}}} is not in the tool's result {chosen[0][:80]!r}") from error
    return value


Answering = Callable[[Request], "Reply | str"]

TRANSIENT_KINDS = ("timeout", "rate_limit", "server", "connection", "garbage", "empty")
LASTING_KINDS = ("auth", "request", "context", "unscripted")
_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class When:
    """Conditions of a rule; all given conditions must hold. Texts are regular expressions, searched anywhere in a message.

    Attributes:
        user: in the last user message.
        last: in the last message, whatever its role, such as a tool's result.
        system: in a system message.
        any: in any message.
        tool: the name of a tool offered by the request.
        results: number of tool results since the last user message.
        times: how often the rule may fire in one conversation; None for no limit.
    """

    user: str | None = None
    last: str | None = None
    system: str | None = None
    any: str | None = None
    tool: str | None = None
    results: int | None = None
    times: int | None = None

    def __post_init__(self) -> None:
        for name in ("user", "last", "system", "any"):
            try:
                re.compile(getattr(self, name) or "")
            except re.error as error:
                raise ConfigError(
                    f"when.{name} is not a regular expression: {error}; put a \\ before . ( [ * + ?"
                ) from error
        for name, least in (("results", 0), ("times", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ConfigError(f"when.{name} is {value}; expected {least} or more")

    def matches(self, request: Request) -> dict[str, str] | None:
        """Return the groups of the regular expressions, by number and name, or None if a condition does not hold.

        Numbers are those of the first expression given, in the order of the attributes.
        """
        messages, groups = request.messages, dict[str, str]()
        if self.tool is not None and all(tool.name != self.tool for tool in request.tools):
            return None
        if self.results is not None and len(tool_results(messages)) != self.results:
            return None
        users = [m for m in messages if m.role == "user"]
        systems = [m for m in messages if m.role == "system"]
        sought = ((self.user, users[-1:]), (self.last, messages[-1:]), (self.system, systems), (self.any, messages))
        for pattern, among in sought:
            if pattern is not None:
                matched = next(
                    (m for message in among if (m := re.search(pattern, message.content, re.MULTILINE))), None
                )
                if matched is None:
                    return None
                groups = {**_groups(matched), **groups}
        return groups


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of a rule. In `text` and in the texts of `calls`, `${…}` stands for a value (see docs/models.md).

    Attributes:
        text: the text of the reply.
        calls: tools to call: name, and arguments as JSON values, or as text that is sent unchanged.
        finish: reason the reply ends; by default `"tool_calls"` with calls, else `"stop"`.
        error: kind of a `ProviderError` to raise instead of answering.
        failures: with `error`, the number of times a request fails before the rule stops applying to it; always if
            None.
        delay_s: seconds to wait first.
    """

    text: str = ""
    calls: Sequence[tuple[str, Mapping[str, Any] | str]] = ()
    finish: Finish | None = None
    error: str | None = None
    failures: int | None = None
    delay_s: float = 0.0

    def __post_init__(self) -> None:
        if self.finish is not None and self.finish not in get_args(Finish):
            raise ConfigError(f"finish is {self.finish!r}; expected one of {', '.join(get_args(Finish))}")
        kinds = (*TRANSIENT_KINDS, *LASTING_KINDS)
        if self.error is not None and self.error not in kinds:
            raise ConfigError(f"error is {self.error!r}; expected one of {', '.join(kinds)}")
        if self.failures is not None and (self.error is None or self.failures < 1):
            raise ConfigError(f"failures is {self.failures}; expected 1 or more, together with error")
        if self.delay_s < 0:
            raise ConfigError(f"delay_s is {self.delay_s}; expected 0 or more seconds")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its reply, and when it holds.

    Attributes:
        reply: a text with `${…}`, an `Answer`, or a function of the request.
        when: the conditions, or a function of the request; by default always.
        name: for messages about it.
    """

    reply: str | Answer | Answering
    when: When | Callable[[Request], bool] = field(default_factory=When)
    name: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.when, When) and not callable(self.reply):
            _check_places(self.reply, self.when)

    def groups(self, request: Request) -> dict[str, str] | None:
        """Return the groups matched by the conditions, or None if the rule does not apply; ignores `times`."""
        if isinstance(self.when, When):
            return self.when.matches(request)
        return {} if self.when(request) else None


class Scripted:
    """A model that answers by the first matching rule.

    Args:
        rules: the rules in order, or one function of the request that answers all.
        name: the model's name.
    """

    def __init__(self, rules: Sequence[Rule] | Answering, name: str = "scripted") -> None:
        self._rules = [Rule(rules)] if callable(rules) else list(rules)
        self._name = name
        self._failed = Counter[tuple[int, str]]()

    @classmethod
    def read(cls, path: Path, name: str = "") -> Scripted:
        """Read rules from a TOML file (see docs/models.md).

        Raises:
            ConfigError: if it cannot be read; if a rule or a key is wrong, the message names both, and the nearest known key.
        """
        return cls([_rule(path, number, table) for number, table in parse_rules(path)], name or f"scripted/{path}")

    @property
    def name(self) -> str:
        """The model's name."""
        return self._name

    async def reply(self, request: Request) -> Reply:
        """Answer by the first matching rule.

        Words and punctuation marks count as one token each, and cost nothing.

        Raises:
            ProviderError: kind `"unscripted"` if no rule matches; otherwise the kind given by the rule.
        """
        index, answer = self._find(request)
        if isinstance(answer, Reply):
            return self._finished(request, answer)
        await asyncio.sleep(answer.delay_s)
        if answer.error is not None:
            self._failed[index, request.digest] += 1
            raise ProviderError(
                answer.error,
                f"{self._described(index)} of {self.name} raises this error on purpose",
                transient=answer.error in TRANSIENT_KINDS,
            )
        return self._finished(request, _reply(answer, request.messages))

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Answer word by word."""
        reply = await self.reply(request)
        for piece in pieces(reply.text):
            yield Delta(piece)
        yield Delta(reply=reply)

    def _find(self, request: Request) -> tuple[int, Answer | Reply]:
        fired = self._fired(request) if any(_times(rule) for rule in self._rules) else Counter[int]()
        chosen = self._first(request, fired, with_errors=True)
        if chosen is None:
            last = request.messages[-1]
            raise ProviderError(
                "unscripted",
                f"no rule of {self.name} matches a conversation that ends with the {last.role}'s "
                f"{last.content[:80]!r}; add a rule for it",
                transient=False,
            )
        return chosen

    def _fired(self, request: Request) -> Counter[int]:
        """Count how often each rule has answered, by replaying the conversation."""
        fired = Counter[int]()
        for i, message in enumerate(request.messages):
            if i and message.role == "assistant":
                past = Request(request.messages[:i], request.tools, request.sampling, request.tool_choice)
                chosen = self._first(past, fired, with_errors=False)
                # An assistant's message from elsewhere, such as a worked example, uses up no rule.
                if chosen and _content(chosen[1], past.messages) == (message.content, message.tool_calls):
                    fired[chosen[0]] += 1
        return fired

    def _first(self, request: Request, fired: Counter[int], *, with_errors: bool) -> tuple[int, Answer | Reply] | None:
        for index, rule in enumerate(self._rules):
            times = _times(rule)
            if times is not None and fired[index] >= times:
                continue
            groups = rule.groups(request)
            if groups is None:
                continue
            answer = self._answer(index, rule, request, groups)
            if isinstance(answer, Reply) or answer.error is None:
                return index, answer
            over = answer.failures is not None and self._failed[index, request.digest] >= answer.failures
            if with_errors and not over:
                return index, answer
        return None

    def _answer(self, index: int, rule: Rule, request: Request, groups: Mapping[str, str]) -> Answer | Reply:
        if callable(rule.reply):
            given = rule.reply(request)
            return given if isinstance(given, Reply) else Answer(given)
        answer = rule.reply if isinstance(rule.reply, Answer) else Answer(rule.reply)
        results = tool_results(request.messages)
        try:
            calls = [(name, fill(arguments, groups, results)) for name, arguments in answer.calls]
            text = fill(answer.text, groups, results)
        except LookupError as error:
            raise ProviderError(
                "unscripted", f"{self._described(index)} of {self.name}: {error}", transient=False
            ) from error
        return Answer(text, calls, answer.finish, answer.error, answer.failures, answer.delay_s)

    def _finished(self, request: Request, reply: Reply) -> Reply:
        asked = [m.content for m in request.messages] + [c.arguments for m in request.messages for c in m.tool_calls]
        offered = [f"{tool.name} {tool.description} {json.dumps(dict(tool.parameters))}" for tool in request.tools]
        texts = [reply.text, *(f"{call.name} {call.arguments}" for call in reply.tool_calls)]
        usage = Usage(sum(map(count_tokens, asked + offered)), sum(map(count_tokens, texts)), 0, 0.0)
        return Reply(reply.text, reply.tool_calls, reply.finish, usage, self.name, reasoning=reply.reasoning)

    def _described(self, index: int) -> str:
        name = self._rules[index].name
        return f"rule {index + 1}" + (f" ({name})" if name else "")


def open_model(rest: str, settings: object | None = None) -> Scripted:
    """Open `scripted/PATH`: the rules of a TOML file, without settings.

    Raises:
        ConfigError: if the file cannot be read or is wrong.
    """
    return Scripted.read(Path(rest), f"scripted/{rest}")


def tool_results(messages: Sequence[Message]) -> list[str]:
    """Return the results of tools since the last user message."""
    results: list[str] = []
    for message in messages:
        if message.role == "user":
            results.clear()
        elif message.role == "tool":
            results.append(message.content)
    return results


def count_tokens(text: str) -> int:
    """Count words and punctuation marks: a measure without a model's tokenizer."""
    return len(_WORD.findall(text))


def pieces(text: str) -> list[str]:
    """Cut a text into words, each with the space after it."""
    return re.findall(r"\s*\S+\s?|\s+$", text)


def _groups(matched: re.Match[str]) -> dict[str, str]:
    numbered = {str(i): value or "" for i, value in enumerate((matched[0], *matched.groups()))}
    return {**numbered, **{name: value or "" for name, value in matched.groupdict().items()}}


def _times(rule: Rule) -> int | None:
    return rule.when.times if isinstance(rule.when, When) else None


def _reply(answer: Answer, messages: Sequence[Message]) -> Reply:
    text, calls = _content(answer, messages)
    return Reply(text, calls, answer.finish or ("tool_calls" if calls else "stop"))


def _content(answer: Answer | Reply, messages: Sequence[Message]) -> tuple[str, tuple[ToolCall, ...]]:
    if isinstance(answer, Reply):
        return answer.text, answer.tool_calls
    first = 1 + sum(len(message.tool_calls) for message in messages)
    written = [(name, given if isinstance(given, str) else json.dumps(given)) for name, given in answer.calls]
    return answer.text, tuple(ToolCall(f"call-{first + i}", *call) for i, call in enumerate(written))


def _check_places(reply: str | Answer, when: When) -> None:
    answer = reply if isinstance(reply, Answer) else Answer(reply)
    patterns = [re.compile(p) for p in (when.user, when.last, when.system, when.any) if p is not None]
    names = {name for pattern in patterns for name in (*pattern.groupindex, *map(str, range(pattern.groups + 1)))}
    for placeholder in PLACE.findall(
        json.dumps([answer.text, [list(call) for call in answer.calls]], ensure_ascii=False)
    ):
        if placeholder.partition(".")[0] not in {*names, "result", "results"}:
            raise ConfigError(
                f"${{{placeholder}}} has no value: name a group of the rule's conditions, result or results"
            )


def _rule(path: Path, number: int, table: Mapping[str, Any]) -> Rule:
    name = str(table.get("name", ""))
    where = f"{path}, rule {number}" + (f" ({name})" if name else "")
    when: Mapping[str, Any] = table.get("when", {})
    reply: Any = table["reply"]
    try:
        if isinstance(reply, Mapping):
            given = dict(cast("Mapping[str, Any]", reply))
            calls = [(call["name"], call.get("arguments", {})) for call in given.pop("calls", ())]
            reply = Answer(calls=calls, **given)
        return Rule(reply, When(**when), name)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error
