from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity._core.errors import ProviderError, UnknownNameError
from heredity.library.models import open_model
from heredity.library.models.follower import read_rules
from heredity.library.models.inducer import RuleInducer
from heredity.library.models.skills import SKILLS, apply_skill
from heredity.models import Message, Request, Sampling, ToolSpec
from heredity.models.replay import Replayed  # noqa: F401 - the package must import without what local models need

RULES = """Answer the question.
- When a question says "common divisor", give the greatest common divisor of the numbers.
- When a question says "look it up", call the tool library.
- When a question says "impossible", fly to the moon.
"""
TAG = "\n\nGive your final answer between <answer> and </answer>."


async def answer(question: str, rules: str = RULES, **fields: Any) -> str:
    return (await open_model("rule-follower").reply(Request.of(question, rules, **fields))).text


async def test_the_follower_does_what_a_rule_says_and_repeats_the_last_word_without_one() -> None:
    assert await answer("What is the Common Divisor of 12, 18?") == "Answer: 6"
    assert await answer("What is the capital of France") == "Answer: France"
    assert await answer("The common divisor of nothing") == "Answer: nothing"
    assert await answer("This is impossible") == "Answer: impossible"


async def test_the_follower_gives_the_answer_in_the_form_that_is_asked_for() -> None:
    assert await answer("The common divisor of 8 and 12?" + TAG) == "<answer>4</answer>"


async def test_the_follower_calls_a_tool_that_is_offered_and_answers_with_its_result() -> None:
    tool = ToolSpec("library", "looks things up", {"type": "object"})
    model = open_model("rule-follower")
    request = Request.of("Please look it up", RULES, tools=(tool,))
    reply = await model.reply(request)
    assert (reply.finish, [c.name for c in reply.tool_calls]) == ("tool_calls", ["library"])
    result = Message("tool", json.dumps("Paris"), tool_call_id=reply.tool_calls[0].id)
    after = await model.reply(Request((*request.messages, reply.message, result), (tool,)))
    assert after.text == "Answer: Paris"
    assert await answer("Please look it up") == "Answer: up"


@given(st.text(max_size=200))
def test_a_skill_never_fails_whatever_the_question(question: str) -> None:
    for name in SKILLS:
        reply = apply_skill(name, question)
        assert reply is None or isinstance(reply, str)


@pytest.mark.parametrize(
    ("skill", "question", "expected"),
    [
        ("add and subtract what follows the colon", "Say: 205 - 838 + 505 =", "-128"),
        ("give the least common multiple of the numbers", "Of 76, 70", "2660"),
        ("count the primes between the two numbers", "between 10 and 20", "4"),
        ("give the prime factors of the first number", "of 245.", "5 × 7 × 7"),
        ("give the time between the two times", "from 23:59:00 to 00:01:30", "00:02:30"),
        ("give the fraction in lowest terms", "of 6/8", "3/4"),
        ("count the quoted letter in the quoted text", 'of "a" in "banana"?', "3"),
    ],
)
def test_skills_do_what_they_are_called(skill: str, question: str, expected: str) -> None:
    assert apply_skill(skill, question) == expected


def improvement(evidence: list[dict[str, Any]], seed: int, prompt: str = "Answer.\n", **more: Any) -> Request:
    block = {"task": "improve", "variables": {"prompt/system:prompt.md": prompt}, "evidence": evidence, **more}
    return Request.of(f"```json\n{json.dumps(block)}\n```", sampling=Sampling(seed=seed))


FAILED = {"task": 0, "question": "Give the LCM of 4 and 6", "expected": "12", "score": 0.0}


async def test_the_inducer_writes_rules_that_would_have_answered_what_failed() -> None:
    for seed in range(20):
        reply = json.loads((await RuleInducer().reply(improvement([FAILED], seed))).text)
        (rule,) = read_rules(reply["edits"][0]["value"])
        assert apply_skill(rule.what, FAILED["question"]) == "12"
        assert rule.cue in FAILED["question"]


async def test_the_inducer_answers_alike_for_one_seed_and_otherwise_for_others() -> None:
    asked = [improvement([FAILED], seed) for seed in range(12)]
    first = [(await RuleInducer().reply(request)).text for request in asked]
    assert first == [(await RuleInducer().reply(request)).text for request in asked]
    assert len(set(first)) > 3


async def test_the_inducer_heeds_gradients_and_learns_nothing_from_what_was_right() -> None:
    rule = '- When a question says "LCM", give the least common multiple of the numbers.'
    gradients = [{"variable": "prompt/system:prompt.md", "texts": [f"Add this rule: {rule}"]}]
    reply = json.loads((await RuleInducer().reply(improvement([], 0, gradients=gradients))).text)
    assert reply["edits"][0]["value"] == f"Answer.\n{rule}\n"
    unchanged = json.loads((await RuleInducer().reply(improvement([{**FAILED, "score": 1.0}], 0))).text)
    assert unchanged["edits"][0]["value"] == "Answer.\n"


async def test_what_is_no_request_of_an_optimizer_is_refused() -> None:
    for text in ("hello", "```json\n[1]\n```", '```json\n{"task": "sing"}\n```', "```json\n{\n```"):
        with pytest.raises(ProviderError) as caught:
            await RuleInducer().reply(Request.of(text))
        assert (caught.value.kind, caught.value.transient) == ("unscripted", False)
    with pytest.raises(UnknownNameError, match="rule-follower"):
        open_model("rule-folower")


def asked(block: dict[str, Any], seed: int = 0) -> Request:
    return Request.of(f"```json\n{json.dumps(block)}\n```", sampling=Sampling(seed=seed))


async def said(block: dict[str, Any], seed: int = 0) -> dict[str, Any]:
    return json.loads((await RuleInducer().reply(asked(block, seed))).text)


LCM = 'When a question says "LCM", give the least common multiple of the numbers.'
WRONG = 'When a question says "Give", give the greatest common divisor of the numbers.'


def held(text: str, **counts: int) -> dict[str, Any]:
    return {"id": text[-9:], "text": text, "helpful": 0, "harmful": 0, "section": "", **counts}


async def test_the_inducer_praises_and_blames_the_entry_that_an_attempt_followed() -> None:
    book = [held("Be brief."), held('When a question says "Give", fly.'), held(WRONG), held(LCM)]
    failed = await said({"task": "lessons", "skillbook": book, "evidence": [FAILED]})
    assert (failed["helpful"], failed["harmful"]) == ([], [WRONG[-9:]])
    assert read_rules(failed["lessons"][0]["text"])
    right = await said({"task": "lessons", "skillbook": book[3:], "evidence": [{**FAILED, "score": 1.0}]})
    assert right == {"helpful": [LCM[-9:]], "harmful": [], "lessons": []}


async def test_the_inducer_retires_what_harms_and_adds_one_rule_for_each_skill() -> None:
    book = [held(WRONG, harmful=2, helpful=1), held(LCM, helpful=1, harmful=1)]
    lessons = [{"text": LCM, "section": ""}, {"text": LCM.replace("LCM", "of"), "section": ""}, {"text": "none"}]
    first, *added = (await said({"task": "curate", "skillbook": book, "lessons": lessons}))["operations"]
    assert first == {"do": "retire", "id": WRONG[-9:]}
    assert [o["do"] for o in added] == ["add"]


async def test_the_inducer_plays_every_part_of_group_comparison() -> None:
    assert await said({"task": "summarise", "evidence": [{**FAILED, "answer": "2"}]}) == {"summary": "it answered 2"}
    changes = (await said({"task": "compare", "experiences": [held(WRONG)], "evidence": [FAILED]}))["operations"]
    assert [o["do"] for o in changes] == ["delete", "add"]
    add = {"do": "add", "ids": [], "text": LCM}
    proposed = [{"operations": [{"do": "delete", "ids": ["a"], "text": ""}, add]}] * 2
    merged = (await said({"task": "consolidate", "experiences": [], "proposed": proposed}))["operations"]
    assert [o["do"] for o in merged] == ["delete", "add"]
