from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity._core.errors import ConfigError, ProviderError
from heredity.models.contract import Message, Model, Reply, Request, ToolCall, ToolSpec, Usage, streamed
from heredity.models.scripted import Answer, Rule, Scripted, When, count_tokens, fill, open_model, pieces

SEARCH = ToolSpec("search", "Look something up", {"type": "object"})


def conversation(*messages: tuple[str, str] | Message, tools: tuple[ToolSpec, ...] = ()) -> Request:
    return Request(tuple(m if isinstance(m, Message) else Message(m[0], m[1]) for m in messages), tools)  # type: ignore[arg-type]


def result(content: str, call: str = "call-1") -> Message:
    return Message("tool", content, tool_call_id=call)


def script(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "rules.toml"
    path.write_text(text, encoding="utf-8")
    return path


async def answer(model: Model, *messages: tuple[str, str] | Message, tools: tuple[ToolSpec, ...] = ()) -> str:
    return (await model.reply(conversation(*messages, tools=tools))).text


# --- conditions


async def test_the_first_rule_that_holds_answers() -> None:
    model = Scripted([Rule("one", When(user="a")), Rule("two", When(user="b")), Rule("rest")])
    assert [await answer(model, ("user", text)) for text in ("ab", "b", "c")] == ["one", "two", "rest"]


@pytest.mark.parametrize(
    ("when", "holds"),
    [
        (When(user="second"), True),
        (When(user="first"), False),
        (When(any="first"), True),
        (When(system="^be kind$"), True),
        (When(system="first"), False),
        (When(last="42"), True),
        (When(last="second"), False),
        (When(tool="search"), True),
        (When(tool="other"), False),
        (When(results=1), True),
        (When(results=0), False),
        (When(user="second", results=2), False),
    ],
)
async def test_every_condition_looks_where_it_should(when: When, holds: bool) -> None:
    model = Scripted([Rule("yes", when), Rule("no")])
    said = await answer(
        model,
        ("system", "be kind"),
        ("user", "first"),
        Message("assistant", tool_calls=(ToolCall("call-1", "search", "{}"),)),
        result("old"),
        ("assistant", "done"),
        ("user", "second"),
        Message("assistant", tool_calls=(ToolCall("call-2", "search", "{}"),)),
        result("42", "call-2"),
        tools=(SEARCH,),
    )
    assert said == ("yes" if holds else "no")


async def test_a_condition_may_be_a_function() -> None:
    model = Scripted([Rule("long", lambda r: len(r.messages[-1].content) > 3), Rule("short")])
    assert [await answer(model, ("user", text)) for text in ("four", "two")] == ["long", "short"]


async def test_a_rule_fires_only_so_often_in_one_conversation() -> None:
    model = Scripted([Rule("first", When(times=1)), Rule("again", When(times=2)), Rule("enough")])
    said: list[tuple[str, str] | Message] = []
    for _ in range(4):
        said.append(("user", "go"))
        said.append(("assistant", await answer(model, *said)))
    assert [m[1] for m in said[1::2] if isinstance(m, tuple)] == ["first", "again", "again", "enough"]
    assert await answer(model, ("user", "go")) == "first"


async def test_worked_examples_use_up_no_rule() -> None:
    model = Scripted([Rule("first", When(times=1)), Rule("enough")])
    assert await answer(model, ("user", "2+2"), ("assistant", "4"), ("user", "go")) == "first"


async def test_what_no_rule_matches_is_an_error_that_shows_it() -> None:
    model = Scripted([Rule("x", When(user="never"))], name="mine")
    with pytest.raises(ProviderError, match=r"mine.*the user's 'What is this") as caught:
        await answer(model, ("user", "What is this?" + "!" * 500))
    assert (caught.value.kind, caught.value.transient) == ("unscripted", False)
    assert len(str(caught.value)) < 250


# --- answers


async def test_groups_and_results_are_put_into_the_answer() -> None:
    model = Scripted([Rule("${1}+${b}: ${result.sum} of ${results.0}; $5 $${x}", When(user=r"(\d+) and (?P<b>\d+)"))])
    said = await answer(
        model, ("user", "3 and 4"), ("assistant", ""), result("first"), result('{"sum": [7]}', "call-2")
    )
    assert said == "3+4: [7] of first; $5 ${x}"


async def test_tools_are_called_with_values_that_keep_their_type() -> None:
    calls = [("search", {"query": "capital of ${1}", "limit": "${result.n}", "tags": ["${1}", 2]}), ("raw", "{${1}")]
    model = Scripted([Rule(Answer("Looking.", calls), When(user=r"of (\w+)"))])
    asked = Message("assistant", tool_calls=(ToolCall("call-1", "count", "{}"),))
    reply = await model.reply(conversation(("user", "capital of Peru"), asked, result('{"n": 3}')))
    assert (reply.text, reply.finish) == ("Looking.", "tool_calls")
    assert [(c.id, c.name) for c in reply.tool_calls] == [("call-2", "search"), ("call-3", "raw")]
    assert json.loads(reply.tool_calls[0].arguments) == {"query": "capital of Peru", "limit": 3, "tags": ["Peru", 2]}
    assert reply.tool_calls[1].arguments == "{Peru"


async def test_a_result_that_is_not_there_is_an_error() -> None:
    model = Scripted([Rule("${result.sum}", name="adds")])
    with pytest.raises(ProviderError, match=r"rule 1 \(adds\).*tools have given 0 results"):
        await answer(model, ("user", "go"))
    with pytest.raises(ProviderError, match=r"\$\{result\.sum\} is not in the tool's result 'seven'"):
        await answer(model, ("user", "go"), ("assistant", ""), result("seven"))


async def test_errors_are_raised_as_the_rule_says() -> None:
    model = Scripted([Rule(Answer(error="rate_limit"), When(user="a")), Rule(Answer(error="auth"))])
    for text, kind, transient in (("a", "rate_limit", True), ("b", "auth", False)):
        with pytest.raises(ProviderError, match="on purpose") as caught:
            await answer(model, ("user", text))
        assert (caught.value.kind, caught.value.transient) == (kind, transient)


async def test_a_request_fails_as_often_as_said_and_then_works() -> None:
    model = Scripted([Rule(Answer(error="server", failures=2)), Rule("fine")])
    for text in ("a", "b"):
        for _ in range(2):
            with pytest.raises(ProviderError):
                await answer(model, ("user", text))
        assert await answer(model, ("user", text)) == "fine"


async def test_a_function_may_answer() -> None:
    model = Scripted(lambda request: request.messages[-1].content.upper())
    assert await answer(model, ("user", "quiet")) == "QUIET"
    refusing = Scripted([Rule(lambda _: Reply("no", finish="refusal"))])
    reply = await refusing.reply(Request.of("please"))
    assert (reply.text, reply.finish, reply.usage.output_tokens) == ("no", "refusal", 1)


async def test_usage_counts_words_and_costs_nothing() -> None:
    reply = await Scripted([Rule("It is 4.")]).reply(Request.of("What is 2+2?", system="Be brief."))
    assert reply.usage == Usage(9, 4, 0, 0.0)
    assert count_tokens("It is 4.") == 4


async def test_it_can_be_slow() -> None:
    began = asyncio.get_running_loop().time()
    await answer(Scripted([Rule(Answer("x", delay_s=0.05))]), ("user", "go"))
    assert asyncio.get_running_loop().time() - began >= 0.045


async def test_a_streamed_answer_is_the_answer_in_pieces() -> None:
    model = Scripted([Rule("One two\n  three.")])
    deltas = [delta async for delta in streamed(model, Request.of("go"))]
    assert len(deltas) == 4
    assert "".join(d.text for d in deltas) == "One two\n  three."
    assert deltas[-1].reply == await model.reply(Request.of("go"))


@given(st.text())
def test_pieces_are_the_whole_text(text: str) -> None:
    assert "".join(pieces(text)) == text


@given(st.text(alphabet="ab$ {}1."))
def test_text_without_places_is_left_alone(text: str) -> None:
    if "${" not in text:
        assert fill(text, {}, []) == text


async def test_the_order_of_requests_changes_no_answer() -> None:
    model = Scripted([Rule("first", When(times=1)), Rule("then ${1}", When(user=r"(\d+)"))])
    requests = [conversation(("user", "0"), ("assistant", "first"), ("user", str(i))) for i in range(20)]
    forth = await asyncio.gather(*map(model.reply, requests))
    back = await asyncio.gather(*map(model.reply, reversed(requests)))
    assert forth == back[::-1]


# --- files

RULES = r"""
[[rule]]
name = "look it up"
when = { user = 'capital of (?P<country>\w+)', tool = "search", results = 0 }
[rule.reply]
calls = [{ name = "search", arguments = { query = "capital of ${country}" } }]

[[rule]]
when = { results = 1 }
reply = "It is ${result.city}."

[[rule]]
when = { user = "break" }
reply = { error = "timeout", failures = 1, delay_s = 0 }

[[rule]]
reply = { text = "I do not know.", finish = "length" }
"""


async def test_a_file_of_rules_answers(tmp_path: Path) -> None:
    model = open_model(str(script(tmp_path, RULES)))
    assert model.name == f"scripted/{tmp_path}/rules.toml"
    asked = conversation(("user", "The capital of Peru?"), tools=(SEARCH,))
    first = await model.reply(asked)
    assert [c.arguments for c in first.tool_calls] == ['{"query": "capital of Peru"}']
    followup = conversation(*asked.messages, first.message, result('{"city": "Lima"}'), tools=(SEARCH,))
    assert (await model.reply(followup)).text == "It is Lima."
    assert (await model.reply(Request.of("well"))).finish == "length"
    with pytest.raises(ProviderError, match="rule 3"):
        await model.reply(Request.of("break"))
    assert (await model.reply(Request.of("break"))).text == "I do not know."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[rules]]", "unknown key 'rules'; did you mean rule"),
        ("", "has no rules"),
        ("rule = 3", "has no rules"),
        ("[[rule]]\nwhen = {}", "rule 1 has no reply"),
        ("[[rule]]\nrepy = 'x'", "rule 1: unknown key 'repy'; did you mean reply"),
        (
            "[[rule]]\nreply = 'x'\n[[rule]]\nreply = 'x'\nwhen.usr = 'x'",
            "rule 2, when: unknown key 'usr'; did you mean user",
        ),
        ("[[rule]]\nreply.txet = 'x'", "rule 1, reply: unknown key 'txet'; did you mean text"),
        ("[[rule]]\nreply = 3", "rule 1, reply is 3; expected a table"),
        ("[[rule]]\nreply = 'x'\nwhen.times = '1'", "times is '1'; expected a whole number"),
        ("[[rule]]\nreply = 'x'\nwhen.times = 0", "when.times is 0; expected 1 or more"),
        (
            "[[rule]]\nname = 'sums'\nreply = 'x'\nwhen.user = '('",
            r"rule 1 \(sums\): when.user is not a regular expression",
        ),
        ("[[rule]]\nreply.calls = [{ nam = 'x' }]", "reply.calls: unknown key 'nam'; did you mean name"),
        ("[[rule]]\nreply.calls = [{ arguments = {} }]", "a call has no name"),
        ("[[rule]]\nreply.error = 'tiemout'", "error is 'tiemout'; expected one of timeout"),
        ("[[rule]]\nreply = { text = 'x', failures = 1 }", "failures is 1; expected 1 or more, together with"),
        ("[[rule]]\nreply.finish = 'end'", "finish is 'end'; expected one of stop"),
        ("[[rule]]\nreply.delay_s = -1", "delay_s is -1"),
        ("[[rule]]\nreply = '${1}'", r"\$\{1\} has no value"),
        ("[[rule]]\nwhen.user = 'a(b)'\nreply = '${1} ${two}'", r"\$\{two\} has no value"),
        ("[[rule", "is not valid TOML"),
    ],
)
def test_a_wrong_file_is_explained(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        Scripted.read(script(tmp_path, text))
    assert "rules.toml" in str(caught.value)


def test_a_missing_file_is_explained(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        open_model(str(tmp_path / "none.toml"))
