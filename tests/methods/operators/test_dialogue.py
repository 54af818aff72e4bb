from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.sums import block_of

from heredity._core.errors import ConfigError
from heredity.methods.operators.dialogue import prompt_of, together
from heredity.methods.operators.improve import edits_in
from heredity.models import Request
from heredity.models.replies import object_in

FORM = {"edits": [], "expects": ""}
texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=20)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=20),
    lambda v: st.lists(v, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(st.sampled_from(["edits", "expects", "more"]), values, max_size=3).map(
    lambda d: {"edits": 1, **d}
)
words = st.text(st.characters(exclude_characters="{", codec="utf-8"), max_size=40)


@given(words, objects, words, st.booleans())
def test_an_object_is_found_among_words(before: str, value: dict[str, Any], after: str, fenced: bool) -> None:
    text = json.dumps(value)
    text = f"```json\n{text}\n```" if fenced else text
    assert object_in(f"{before}{text}{after}", FORM) == value


def test_the_last_object_with_a_key_of_the_form_counts() -> None:
    text = 'The form is {"edits": [], "expects": ""}. So: {"edits": [1]} and by the way {"unrelated": {}}'
    assert object_in(text, FORM) == {"edits": [1]}


def test_line_breaks_inside_of_texts_are_forgiven() -> None:
    assert object_in('{"edits": "a\nb"}', FORM) == {"edits": "a\nb"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (" ", "it is empty"),
        ("no", "no { in it"),
        ('{"Edits": []}', "its keys are Edits"),
        ('{"edits": [}', "Expecting value"),
        ('{"edits": NaN}', "NaN is not JSON"),
    ],
)
def test_what_is_no_object_is_said(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        object_in(text, FORM)


@given(st.text(max_size=80))
def test_any_reply_is_read_or_refused_as_a_wrong_configuration_is(text: str) -> None:
    with contextlib.suppress(ConfigError):
        assert edits_in(object_in(text, FORM)).values


@given(st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=9), values, max_size=3))
def test_the_block_of_a_request_can_be_read_back(data: dict[str, Any]) -> None:
    data = {k: v for k, v in data.items() if k not in ("task", "reply")}
    data = json.loads(json.dumps(data).encode("utf-8", "replace"))
    tricky = {"text": "```json\n{}\n```\n", "more": data}
    block = block_of(Request.of(prompt_of("improve", {"variables": tricky})))
    assert block["variables"]["text"] == tricky["text"]
    assert (block["task"], set(block)) == ("improve", {"task", "variables", "reply"})


async def test_when_one_of_several_fails_the_others_are_given_up() -> None:
    ended: list[str] = []

    async def failing() -> None:
        await asyncio.sleep(0)
        raise ConfigError("no")

    async def waiting() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("given up")

    with pytest.raises(ConfigError, match="no"):
        await together([waiting(), failing()][::-1])
    assert ended == ["given up"]
