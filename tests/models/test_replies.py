"""The reader of replies: forms in which models write JSON, and what must arrive byte for byte."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity._core.errors import ConfigError
from heredity.models.replies import object_in

FORM: dict[str, Any] = {"edits": [{"variable": "v", "value": "t", "why": "w"}], "expects": "one line"}
EDIT = {"variable": "prompt/a:p", "value": "Say it's 1."}
WANTED = {"edits": [EDIT], "expects": "more"}
PLAIN = json.dumps(WANTED)

FORMS = {
    "plain": PLAIN,
    "fenced": f"```json\n{PLAIN}\n```",
    "fenced without a name": f"```\n{PLAIN}\n```",
    "prose around": f"Here is what I'd do {{roughly}}:\n\n{PLAIN}\n\nHope that helps {{or not}}!",
    "thoughts first": f'<think>maybe {{"edits": []}}</think>\n{PLAIN}',
    "byte order mark": f"\ufeff{PLAIN}",
    "carriage returns": json.dumps(WANTED, indent=1).replace("\n", "\r\n"),
    "trailing commas": '{"edits": [{"variable": "prompt/a:p", "value": "Say it\'s 1.",},], "expects": "more",}',
    "line comments": PLAIN.replace('"edits"', '// changes, "all" of them\n"edits"'),
    "hash comments": PLAIN.replace('"edits"', "# it's this\n" + '"edits"'),
    "block comments": PLAIN.replace('"edits"', "/* it's\n this */" + '"edits"'),
    "single quotes": "{'edits': [{'variable': 'prompt/a:p', 'value': 'Say it\\'s 1.'}], 'expects': 'more'}",
    "a quote in single quotes": "{'edits': [{'variable': 'prompt/a:p', 'value': 'Say it's 1.'}], 'expects': 'more'}",
    "curly quotes": PLAIN.replace('"expects"', "“expects”").replace('"more"', "“more”"),
    "names without quotes": PLAIN.replace('"edits"', "edits").replace('"expects"', "expects"),
    "in another object": f'{{"reply": {PLAIN}}}',
    "in a list": f"[{PLAIN}]",
    "in two others": f'{{"output": [{{"result": {PLAIN}}}]}}',
    "as a text": json.dumps(PLAIN),
    "after the form": f'The form is {{"edits": [], "expects": ""}}. Mine:\n{PLAIN}',
}


@pytest.mark.parametrize("name", FORMS)
def test_an_object_is_read_in_the_forms_models_write(name: str) -> None:
    assert object_in(FORMS[name], FORM) == WANTED


def test_a_bare_list_is_that_of_the_form() -> None:
    assert object_in(f"I change this:\n{json.dumps([EDIT])}", FORM) == {"edits": [EDIT]}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"\boxed{4} \frac{1}{2} \times \neq \theta \rho", r"\boxed{4} \frac{1}{2} \times \neq \theta \rho"),
        (r"\(x\) \[y\] \alpha \d+ \s \, \%", r"\(x\) \[y\] \alpha \d+ \s \, \%"),
        (r"\\boxed{4} \\neq C:\\new", r"\boxed{4} \neq C:\new"),
        (r"one\ntwo\n\tthree\nnot so\nnew", "one\ntwo\n\tthree\nnot so\nnew"),
        (r"say \"so\" \u00e9 \ud83d\ude00 \usepackage", 'say "so" é 😀 \\usepackage'),
        ('two\nlines\tand a "word" here', 'two\nlines\tand a "word" here'),
        ("True, None, // no comment, 1,}", "True, None, // no comment, 1,}"),
    ],
)  # fmt: skip
def test_texts_arrive_as_they_were_meant(written: str, meant: str) -> None:
    assert object_in(f'{{"edits": 1, "expects": "{written}"}}', FORM) == {"edits": 1, "expects": meant}


def test_constants_of_python_are_read() -> None:
    assert object_in("{'edits': None, 'expects': [True, False]}", FORM) == {"edits": None, "expects": [True, False]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (PLAIN[:-2], "Expecting|breaks off|Unterminated"),
        (PLAIN[:40], "Expecting|breaks off|Unterminated"),
        ('{"edits": 1, "expects": "a\\u0008b"}', "control character"),
        ('{"edits": 1, "expects": "a\x1bb"}', "control character"),
        ('{"edits": NaN}', "NaN is not JSON"),
        ("<think>{}</think>", "empty"),
    ],
)
def test_half_a_reply_and_control_characters_are_refused(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        object_in(text, FORM)


texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=30)


@given(texts, texts, st.booleans())
def test_what_is_json_is_read_as_json(one: str, other: str, ascii_only: bool) -> None:
    value = {"edits": one, "expects": other + "\n" + one}
    assert object_in(json.dumps(value, ensure_ascii=ascii_only), FORM) == value


def test_reading_a_long_reply_takes_no_time() -> None:
    long = "{" * 3000 + "/* " * 3000 + PLAIN
    with pytest.raises(ConfigError):
        object_in(long, FORM)


@given(st.text(max_size=60), st.text(max_size=20))
def test_any_text_is_read_or_refused(text: str, end: str) -> None:
    for reply in (text, f'{{"edits": "{text}"{end}'):
        with contextlib.suppress(ConfigError):
            assert object_in(reply, FORM)
