from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.fakes import (
    InProcessPrograms,
    ListedModel,
    SlowModel,
    calling,
    candidate,
    provider_error,
    saying,
    with_manifest,
)

from heredity._core.errors import BudgetError, ConfigError, HostError, ProviderError
from heredity._core.spans import Span, collecting
from heredity.engine.actor import Answer, Problem, Solving
from heredity.engine.conversation import Conversation
from heredity.engine.solver import build
from heredity.models import Message, Reply, Request, ToolCall
from heredity.models.contract import Usage
from heredity.models.scripted import Answer as Answered
from heredity.models.scripted import Rule, Scripted, When
from heredity.resources import Candidate

PROBLEM = Problem("What is 6*7?")
TIMES = "def run(left: int, right: int):\n    return left * right\n"
CALCULATING = candidate(prompt_system="Use the tool.", tool_times=TIMES)
REACTING = with_manifest(CALCULATING, "prompt/system", parameters={"style": "react"})


async def solve(
    made: Candidate, model: Any, programs: InProcessPrograms | None = None, seed: int | None = None, **settings: Any
) -> Answer:
    return await build(made).solve(PROBLEM, model, Solving(**settings), programs or InProcessPrograms(), seed)


async def test_a_question_is_asked_with_prompt_memory_and_settings() -> None:
    model = ListedModel(["42"])
    made = candidate(prompt_system="Be brief.", prompt_question="Q: {{question}}", memory_a='{"text": "6*7=42"}')
    answer = await solve(made, model, seed=5, temperature=0.5, max_tokens=9)
    assert answer.text == "42"
    assert answer.rounds == ("42",)
    assert answer.status == "ok"
    request = model.asked[0]
    assert [m.role for m in request.messages] == ["system", "user"]
    assert request.messages[0].content.endswith("- 6*7=42")
    assert request.messages[1].content == "Q: What is 6*7?"
    assert request.sampling.to_json() == {"temperature": 0.5, "max_tokens": 9, "seed": 5}
    assert request.purpose == "execution"
    assert answer.messages == (*request.messages, Message("assistant", "42"))


async def test_a_candidate_of_nothing_asks_the_question_as_it_is() -> None:
    model = ListedModel(["42"])
    await solve(Candidate({}), model)
    assert model.asked[0].messages == (Message("user", "What is 6*7?"),)


async def test_pictures_are_shown_with_the_question() -> None:
    model = ListedModel(["a cat"])
    problem = Problem("What is it?", images=(("image/png", b"png"),))
    await build(Candidate({})).solve(problem, model, Solving(), None)
    assert model.asked[0].messages[0].images[0].data == b"png"


async def test_tools_are_called_until_a_reply_calls_none() -> None:
    model = Scripted(
        [
            Rule(Answered(calls=[("times", {"left": 6, "right": 7})]), When(tool="times", results=0)),
            Rule("It is ${result}.", When(results=1)),
        ]
    )
    answer = await solve(CALCULATING, model)
    assert answer.text == "It is 42."
    assert (answer.calls, answer.tool_calls) == (2, 1)
    assert [m.role for m in answer.messages] == ["system", "user", "assistant", "tool", "assistant"]


async def test_the_usage_is_that_of_all_replies_and_unknown_stays_unknown() -> None:
    both = ListedModel([calling(("times", {"left": 1, "right": 1})), "1"])
    assert (await solve(CALCULATING, both)).usage == Usage(20, 4, 0, 0.002)
    free = ListedModel([Reply("1", usage=Usage(5, 1))])
    assert (await solve(CALCULATING, free)).usage == Usage(5, 1, None, None)


@pytest.mark.parametrize("own_id", ["", "same"])
async def test_calls_without_ids_of_their_own_get_their_own_results(own_id: str) -> None:
    calls = tuple(ToolCall(own_id, "times", json.dumps({"left": n, "right": 10})) for n in (1, 2))
    model = ListedModel([Reply("", calls, "tool_calls"), "done"])
    answer = await solve(CALCULATING, model)
    results = {m.tool_call_id: m.content for m in answer.messages if m.role == "tool"}
    assert len(results) == 2
    assert list(results.values()) == ["10", "20"]
    assert [c.id for c in model.asked[1].messages[2].tool_calls] == list(results)


async def test_garbage_for_arguments_goes_back_to_the_model() -> None:
    model = ListedModel([calling(("times", "{six}")), calling(("tmes", {})), "I give up: 42"])
    answer = await solve(CALCULATING, model)
    assert answer.status == "ok"
    outputs = [m.content for m in answer.messages if m.role == "tool"]
    assert "not JSON" in outputs[0]
    assert "did you mean times" in outputs[1]


async def test_a_call_that_is_repeated_forever_ends_with_the_turns() -> None:
    model = saying(lambda request: calling(("times", {})))
    answer = await solve(CALCULATING, model, max_turns=5)
    assert answer.status == "turns"
    assert (answer.text, answer.rounds, answer.calls) == ("", (), 5)
    assert "5 model calls" in answer.detail


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (Reply(""), "empty"),
        (Reply(" \n"), "empty"),
        (Reply("", finish="length"), "empty"),
        (Reply("No.", finish="refusal"), "refusal"),
        (provider_error("empty"), "empty"),
        (provider_error("context", transient=False), "empty"),
    ],
)
async def test_a_reply_that_answers_nothing_says_why(reply: Any, status: str) -> None:
    answer = await solve(Candidate({}), ListedModel([reply]))
    assert answer.status == status
    assert answer.detail
    assert answer.text == ""


async def test_an_answer_that_was_cut_is_no_answer() -> None:
    answer = await solve(Candidate({}), ListedModel([Reply("42 becau", finish="length")]))
    assert (answer.text, answer.status) == ("", "length")
    assert "42 becau" in answer.detail
    assert "cut" in answer.notes[0]


@pytest.mark.parametrize(
    "kind", ["timeout", "rate_limit", "server", "connection", "garbage", "auth", "request", "unscripted"]
)
async def test_a_provider_that_fails_is_not_an_answer(kind: str) -> None:
    with pytest.raises(ProviderError, match=kind):
        await solve(Candidate({}), ListedModel([provider_error(kind)]))


async def test_a_spent_budget_is_passed_on() -> None:
    with pytest.raises(BudgetError):
        await solve(Candidate({}), ListedModel([BudgetError("spent")]))


async def test_a_sandbox_that_fails_is_passed_on() -> None:
    model = ListedModel([calling(("times", {"left": 1, "right": 1}))])
    with pytest.raises(HostError, match="gone"):
        await solve(CALCULATING, model, InProcessPrograms(fail=HostError("gone")))


async def test_tools_without_a_sandbox_are_refused_before_anything_is_asked() -> None:
    model = ListedModel([])
    with pytest.raises(ConfigError, match="sandbox"):
        await build(CALCULATING).solve(PROBLEM, model, Solving(), None)
    assert model.asked == []


@pytest.mark.parametrize(
    ("call", "paid"),
    [
        (("times", {"left": 6, "right": 7}), 9),  # the same again and again
        (("times", '{"left": '), 8),
        (("nope", {}), 8),
    ],
)
@pytest.mark.parametrize("made", [CALCULATING, REACTING])
async def test_calls_that_lead_nowhere_are_not_paid_for_without_end(
    made: Candidate, call: tuple[str, Any], paid: int
) -> None:
    if made is REACTING:
        name, given = call
        wrong = isinstance(given, str)
        block = {"action": name, "params": {"left": 6} if wrong else given}
        reply: Any = f"<action>{json.dumps(block)}</action>"
    else:
        reply = calling(call)
    model = ListedModel([reply] * 50)
    answer = await solve(made, model)
    assert (answer.status, len(model.asked)) == ("turns", paid)
    assert answer.detail.startswith("its last 8 turns called tools wrongly")


async def test_calls_of_which_the_result_changes_may_be_made_as_often_as_there_are_turns() -> None:
    replies = [calling(("times", {"left": 6, "right": n})) for n in range(30)]
    model = ListedModel([*replies, "42"])
    assert (await solve(CALCULATING, model)).text == "42"


async def test_a_model_that_is_told_what_was_wrong_may_go_on_as_before() -> None:
    wrong, right = calling(("nope", {})), calling(("times", {"left": 6, "right": 7}))
    answer = await solve(CALCULATING, ListedModel([wrong, right] * 12 + ["42"]))
    assert answer.text == "42"


async def test_an_attempt_that_takes_too_long_is_ended_with_what_was_said_kept() -> None:
    model = SlowModel()
    started = time.monotonic()
    answer = await solve(candidate(prompt_system="Hi."), model, seconds=0.05)
    assert time.monotonic() - started < 30
    assert answer.status == "timeout"
    assert [m.role for m in answer.messages] == ["system", "user"]
    assert model.active == 0


async def test_a_tool_that_hangs_is_ended_with_the_attempt() -> None:
    class Hanging(InProcessPrograms):
        async def call(self, *_: Any, **__: Any) -> Any:
            await asyncio.sleep(3600)

    model = ListedModel([calling(("times", {"left": 1, "right": 1}))])
    assert (await solve(CALCULATING, model, Hanging(), seconds=0.05)).status == "timeout"


async def test_lone_surrogates_of_a_tool_can_be_sent() -> None:
    made = candidate(tool_odd="def run():\n    return '\\ud800'\n")
    model = ListedModel([calling(("odd", {})), "ok"])
    await solve(made, model)
    assert model.asked[1].digest


async def test_react_calls_tools_in_plain_text() -> None:
    said = 'I multiply.\n<action>{"action": "times", "params": {"left": 6, "right": 7}}</action>'
    model = ListedModel([said, "<action>{oops</action>", '<action>{"action": "plus"}</action>', "42"])
    answer = await solve(REACTING, model)
    assert answer.text == "42"
    assert all(request.tools == () for request in model.asked)
    observations = [m.content for m in answer.messages if m.role == "user"][1:]
    assert observations[0] == "<observation>\n42\n</observation>"
    assert "not a JSON object" in observations[1]
    assert "there is no tool 'plus'" in observations[2]


async def test_without_tools_an_action_is_only_text() -> None:
    answer = await solve(Candidate({}), ListedModel(["<action>run</action>"]))
    assert (answer.text, answer.calls) == ("<action>run</action>", 1)


# --- rounds


async def test_rounds_without_feedback_ask_again_in_one_conversation() -> None:
    model = ListedModel(["41", "42"])
    answer = await solve(Candidate({}), model, rounds=2)
    assert answer.rounds == ("41", "42")
    assert answer.text == "42"
    assert [m.role for m in model.asked[1].messages] == ["user", "assistant", "user"]
    assert "once more" in model.asked[1].messages[2].content


async def test_a_critic_of_its_own_sees_question_and_answer_and_its_words_reach_the_solver() -> None:
    model = ListedModel(["41", "You added wrongly.", "42"])
    made = candidate(
        prompt_system="S",
        prompt_critic="Check {{answer}} for {{question}}",
        prompt_revise="They say: {{feedback}} Redo.",
    )
    answer = await solve(made, model, rounds=2, feedback="self")
    assert model.asked[1].messages == (Message("user", "Check 41 for What is 6*7?"),)
    assert model.asked[2].messages[-1].content == "They say: You added wrongly. Redo."
    assert [m.role for m in model.asked[2].messages] == ["system", "user", "assistant", "user"]
    assert [m.content for m in answer.messages if m.role == "assistant"] == ["41", "You added wrongly.", "42"]
    assert answer.rounds == ("41", "42")


async def test_the_words_for_rounds_have_defaults() -> None:
    model = ListedModel(["41", "Wrong.", "42"])
    await solve(Candidate({}), model, rounds=2, feedback="self")
    critic, revise = model.asked[1].messages[0].content, model.asked[2].messages[-1].content
    assert "What is 6*7?" in critic
    assert "41" in critic
    assert revise.endswith("Wrong.")


async def test_feedback_from_outside_ends_the_rounds_when_there_is_none() -> None:
    model, texts = ListedModel(["40", "42", "never"]), list[str]()

    async def feedback(text: str) -> str | None:
        texts.append(text)
        return None if text == "42" else "wrong"

    conversation = Conversation(model, Solving(rounds=5, feedback="verdict"))
    answer = await build(Candidate({})).attempt(PROBLEM, conversation, None, feedback)
    assert texts == ["40", "42"]
    assert answer.rounds == ("40", "42")


async def test_the_last_round_asks_for_no_feedback() -> None:
    conversation = Conversation(ListedModel(["40"]), Solving(feedback="verdict"))
    assert (await build(Candidate({})).attempt(PROBLEM, conversation, None, None)).text == "40"


async def test_feedback_that_nothing_gives_is_a_wrong_configuration() -> None:
    with pytest.raises(ConfigError, match="verdict"):
        await solve(Candidate({}), ListedModel(["1"]), rounds=2, feedback="verdict")


async def test_the_time_of_a_judge_is_not_the_solvers() -> None:
    async def feedback(text: str) -> str | None:
        await asyncio.sleep(0.3)
        return "wrong"

    conversation = Conversation(ListedModel(["1", "2"]), Solving(rounds=2, feedback="verdict", seconds=0.2))
    assert (await build(Candidate({})).attempt(PROBLEM, conversation, None, feedback)).status == "ok"


async def test_a_round_that_fails_leaves_the_earlier_ones_on_record() -> None:
    answer = await solve(Candidate({}), ListedModel(["41", ""]), rounds=2)
    assert (answer.status, answer.text, answer.rounds) == ("empty", "", ("41",))


@given(
    st.lists(
        st.one_of(
            st.text(max_size=20),
            st.builds(
                lambda name, arguments: calling((name, arguments)), st.sampled_from(["times", "x", ""]), st.text()
            ),
            st.builds(lambda finish: Reply("x", finish=finish), st.sampled_from(["stop", "length", "refusal"])),
        ),
        min_size=8,
        max_size=8,
    ),
    st.sampled_from([CALCULATING, REACTING]),
)
async def test_whatever_a_model_replies_an_attempt_ends_with_an_answer(replies: list[Any], made: Candidate) -> None:
    answer = await solve(made, ListedModel(replies), rounds=2, max_turns=4)
    assert answer.status in ("ok", "turns", "empty", "refusal", "length")
    assert (answer.status == "ok") == (len(answer.rounds) == 2)
    assert sum(m.role == "assistant" for m in answer.messages) == answer.calls


async def test_rounds_and_tools_are_spans() -> None:
    seen: list[Span] = []
    model = ListedModel([calling(("times", {"left": 6, "right": 7})), "42"])
    with collecting(seen.append):
        await solve(CALCULATING, model)
    assert [(s.name, s.kind) for s in seen] == [("tool", "tool"), ("round", "round")]
    assert seen[0].parent_id == seen[1].span_id
    assert seen[0].attributes["value"] == 42


async def test_requests_can_be_told_apart_by_their_digest() -> None:
    asked: list[Request] = []

    def reply(request: Request) -> str:
        asked.append(request)
        return "42"

    for seed in (1, 1, 2):
        await solve(Candidate({}), saying(reply), seed=seed)
    assert asked[0].digest == asked[1].digest != asked[2].digest
