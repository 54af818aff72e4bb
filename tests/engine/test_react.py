from __future__ import annotations

import json
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from heredity.engine.react import Action, has_action, instructions, parse_action
from heredity.models import ToolSpec

MOVE = Action("move", {"to": "north"})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    "text",
    [
        '<action>{"action": "move", "params": {"to": "north"}}</action>',
        '<action>{"action": "move", "params": {"to": "north"}}',
        '<ACTION>\n{"name": "move", "arguments": {"to": "north"}}\n</ACTION>',
        '<action>```json\n{"tool": "move", "parameters": {"to": "north"}}\n```</action>',
        "<action>{'action': 'move', 'params': {'to': 'north'}}</action>",
        '<action>I go: {"action": "move", "args": {"to": "north"}}</action>',
        '<action>{"action": "move", "to": "north"}</action>',
        "<action>{'action': 'move', 'params': {'to': 'north',},} // go</action>",
        '<think>or {"action": "stay"}?</think>{"action": "move", "params": {"to": "north"}}',
        '<action>{"action": "move", "params": {to: "north"}}</action>',
        '<action>{"action": " move ", "params": "{\\"to\\": \\"north\\"}"}</action>',
        'I will do {"action": "move", "params": {"to": "north"}} now.',
        '<action>{"action": "move", "params": {"to": "north"}}</action> <action>{"action": "stay"}</action>',
    ],
)
def test_an_action_is_read_in_whatever_way_models_write_it(text: str) -> None:
    assert parse_action(text) == MOVE


def test_notes_are_kept_apart_from_the_action() -> None:
    text = '<thinking_memory>not <b>this</b>: <action>{"action": "x"}</action></thinking_memory><action>stay</action>'
    assert parse_action(text) == Action("stay", {}, 'not <b>this</b>: <action>{"action": "x"}</action>')


def test_a_thought_left_open_ends_at_the_action() -> None:
    assert parse_action("<thinking_memory>hm <action>stay</action>") == Action("stay", {}, "hm")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no action"),
        ("I think I should move.", "no action"),
        ("<action></action>", "not a JSON object"),
        ("<action>{broken</action>", "not a JSON object"),
        ("<action>[1, 2]</action>", "not a JSON object with a name"),
        ('<action>{"params": {}}</action>', "does not say its name"),
        ('<action>{"action": 3}</action>', "does not say its name"),
        ('<action>{"action": "move", "params": [1]}</action>', "not a JSON object"),
        ('<action>{"action": "move", "params": NaN}</action>', "not a JSON object"),
    ],
)
def test_what_cannot_be_read_is_said_in_words(text: str, said: str) -> None:
    reason = parse_action(text)
    assert isinstance(reason, str)
    assert said in reason


@given(st.text(alphabet="<>action/{}[]\"':, thinkgmemory_{`1\\n", max_size=200) | st.text(max_size=200))
@example("<action>" * 50)
@example('{"a":' * 3000)
@example("[" * 20_000)
def test_no_text_breaks_the_parser(text: str) -> None:
    parsed = parse_action(text)
    assert isinstance(parsed, Action | str)
    if isinstance(parsed, Action):
        assert parsed.name
        json.dumps(dict(parsed.params), allow_nan=False)


@given(st.from_regex(r"[a-z][a-z-]{0,20}", fullmatch=True), st.dictionaries(st.text(), JSON, max_size=4), st.text())
def test_what_is_written_as_asked_is_read_back(name: str, params: dict[str, object], before: str) -> None:
    body = json.dumps({"action": name, "params": params})
    action = parse_action(f"{before.replace('<', '')}<action>{body}</action>")
    if "</action>" not in body.lower() and "<action>" not in body.lower():
        assert action == Action(name, params)


def test_a_long_hostile_text_is_read_in_little_time() -> None:
    started = time.monotonic()
    for text in ('<action>{"a":[' * 100_000, "<thinking_memory>" * 100_000, "{" * 1_000_000, "<action>" * 100_000):
        parse_action(text)
    assert time.monotonic() - started < 30


def test_the_instructions_name_every_tool_and_its_parameters() -> None:
    text = instructions([ToolSpec("add", "Adds.", {"type": "object", "properties": {"left": {"type": "integer"}}})])
    assert "- add: Adds." in text
    assert '"left"' in text
    assert has_action(text)
