"""The reader of replies: forms in which models write JSON, and what must arrive byte for byte."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity._core.errors import ConfigError
from heredity.models import replies
from heredity.models.replies import fenced_in, object_in, objects_in, unfenced, value_in, without_thoughts

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
    "two fences": f'The form:\n```json\n{{"edits": [], "expects": ""}}\n```\nMine:\n```json\n{PLAIN}\n```',
    "beside other code": f"```python\nd = {{'a': 1}}\n```\n```json\n{PLAIN}\n```\n```py\nprint({{'b': 2}})\n```",
    "in tags": f"<answer>\n{PLAIN}\n</answer>",
    "no commas": PLAIN.replace(', "value"', '\n "value"').replace('], "expects"', ']\n"expects"'),
    "doubled commas": PLAIN.replace('], "expects"', '],, "expects"'),
    "wide punctuation": PLAIN.replace('"expects":', '"expects"\uff1a').replace("], ", "]\uff0c "),
    "curly single quotes": PLAIN.replace('"', "\u2018", 1).replace('edits"', "edits\u2019"),
    "quotes of JavaScript": PLAIN.replace('"more"', "`more`"),
    "quotes in threes": PLAIN.replace('"more"', '"""more"""'),
    "a tuple": PLAIN.replace("[", "(").replace("]", ",)"),
    "invisible characters": PLAIN.replace("{", "\u200b{\ufeff"),
    "an assignment": f"reply = {PLAIN};",
    "in a text of another object": json.dumps({"name": "reply", "arguments": PLAIN}),
    "with escaped quotes": json.dumps(PLAIN)[1:-1],
    "one item for a list": json.dumps({"edits": EDIT, "expects": "more"}),
    "in two objects": json.dumps({"edits": [EDIT]}) + '\n{"expects": "more"}',
    "thoughts whose tag the prompt opened": f'maybe {{"edits": []}}\n</think>\n\n{PLAIN}',
    "thoughts after it": f'{PLAIN}\n<think>or {{"edits": []}}?</think>',
    "after the form": f'The form is {{"edits": [], "expects": ""}}. Mine:\n{PLAIN}',
}


@pytest.mark.parametrize("name", FORMS)
def test_an_object_is_read_in_the_forms_models_write(name: str) -> None:
    assert object_in(FORMS[name], FORM) == WANTED


@pytest.mark.parametrize(
    "written", [json.dumps([EDIT]), json.dumps(EDIT), f"```json\n{json.dumps([EDIT], indent=1)}\n```"]
)
def test_a_bare_list_or_item_is_that_of_the_form(written: str) -> None:
    assert object_in(f"I change this:\n{written}", FORM) == {"edits": [EDIT]}


TEXT = 'Say \\boxed{x} where $a \\ne b$, \\nu \\to \\tan\\theta.\n\n```json\n{"edits": []}\n```\n\t"\\n" stays.\n'


@pytest.mark.parametrize(
    "reply",
    [
        '{"edits": [{"variable": "v", "value": "<text 1>"}]}\n\n<text 1>\nTEXT\n</text 1>\n',
        'My edit.\n```json\n{"edits": [{"variable": "v", "value": "<text 1>",}]}\n```\n<text 1>\nTEXT\n</text 1>\nDone {so}.',
        '<text 1>\nTEXT\n</text 1>\n{"edits": [{"variable": "v", "value": <text 1>}]}',
        '{"edits": [{"variable": "v", "value": "<text 1>"}]}\n<text id="1">\nTEXT\n</text>',
        '{"edits": [{"variable": "v", "value": "<text a/b:c>"}]}\n<text a/b:c>\nTEXT\n</text a/b:c>',
        json.dumps({"edits": [{"variable": "v", "value": TEXT}]}),
    ],
    ids=["after", "fenced", "before", "otherwise", "by a name", "inside"],
)
def test_a_long_text_arrives_byte_for_byte(reply: str) -> None:
    assert object_in(reply.replace("TEXT", TEXT), FORM) == {"edits": [{"variable": "v", "value": TEXT}]}


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]) | st.sampled_from('\n\\{}"<>/`'), max_size=60))
def test_any_text_beside_the_object_arrives_byte_for_byte(text: str) -> None:
    reply = f'{{"edits": [{{"variable": "v", "value": "<text 1>"}}]}}\n<text 1>\n{text}\n</text 1>\n'
    assert object_in(reply, FORM)["edits"][0]["value"] == text


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ("", "there are no lines <text 1> and </text 1>"),
        ("<text 2>\nb\n</text 2>", "there are no lines <text 1> and </text 1>"),
        ("<text 1>\nhalf of", "the text 1 breaks off"),
        ("<text 1>\nb\n</text 1>\nor\n</text 1>", "the text 1 ends twice"),
        ("<text 1>\nb\n</text 1>\n<text 2>\nc\n</text 2>", "the text 2 is not named in the object"),
        ("<text 1>\na \x1b[2J b\n</text 1>", "control character"),
    ],
)
def test_a_text_that_is_missing_or_half_or_idle_is_refused(after: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        object_in(f'{{"edits": [{{"variable": "v", "value": "<text 1>"}}]}}\n{after}', FORM)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"\boxed{4} \frac{1}{2} \times \neq \theta \rho", r"\boxed{4} \frac{1}{2} \times \neq \theta \rho"),
        (r"\(x\) \[y\] \alpha \d+ \s \, \%", r"\(x\) \[y\] \alpha \d+ \s \, \%"),
        (r"\\boxed{4} \\neq C:\\new", r"\boxed{4} \neq C:\new"),
        (r"one\ntwo\n\tthree\nnot so\nnew", "one\ntwo\n\tthree\nnot so\nnew"),
        (r"say \"so\" \u00e9 \ud83d\ude00 \usepackage", 'say "so" é 😀 \\usepackage'),
        (r"$a \ne b$, \(x \to \nu\), $\tan x$; so\ne $5\nuse", "$a \\ne b$, \\(x \\to \\nu\\), $\\tan x$; so\ne $5\nuse"),
        (r"one\nparallel\textra\nmid", "one\nparallel\textra\nmid"),
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
        (f"<think>I will give {PLAIN}", "empty after its thoughts"),
        (f"so maybe {PLAIN}\n</think>\nNo.", "there is no"),
        (PLAIN.replace("1.", '1." + "2.'), "put together|Expecting"),
        (json.dumps([EDIT, EDIT])[:-30], "Expecting|breaks off|Unterminated"),
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


def test_the_objects_and_the_value_of_a_text_are_read_alike() -> None:
    assert list(objects_in("<think>{'a': 0}</think> {'a': 1,} and {broken and {\"b\": (2,)}")) == [{"a": 1}, {"b": [2]}]
    assert value_in("```json\n{'a': [True, None],}\n```") == {"a": [True, None]}
    assert (value_in(' "x" '), value_in("-3.5"), value_in("True"), value_in("[]")) == ("x", -3.5, True, [])
    for text in ("", "nope", "{", '{"a": 1', "{} {}", "NaN", '{"a": Infinity}', "[" * 9999):
        with pytest.raises(ConfigError):
            value_in(text)


@pytest.mark.parametrize(
    ("text", "thoughts", "rest"),
    [
        ("<think>a</think>\n\nb", "a", "b"),
        ("a\n</think>\nb", "a\n", "b"),
        ("\n<think>a", "a", ""),
        ("Write `</think>` at the end.\nb", "", "Write `</think>` at the end.\nb"),
        ("b <think>a</think>", "", "b <think>a</think>"),
    ],
)
def test_thoughts_are_set_aside(text: str, thoughts: str, rest: str) -> None:
    assert without_thoughts(text) == (thoughts, rest)


def test_fenced_blocks_are_read_with_their_names() -> None:
    text = "a\n```Python\nx\n```\n~~~\ny\n~~~\n````md\n```\nz\n```\n````\n```js\nhalf"
    whole = [("python", "x\n"), ("", "y\n"), ("md", "```\nz\n```\n")]
    assert fenced_in(text) == whole
    assert fenced_in(text, unended=True) == [*whole, ("js", "half")]
    assert (unfenced(" ```py\nx\n```\n"), unfenced(" x ")) == ("x", "x")


@pytest.mark.parametrize("reply", ['{"a":"x' * 100, "```json\n{" * 100, "{'a':\"" * 100])
def test_a_reply_that_never_closes_what_it_opens_is_not_read_again_and_again(
    reply: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = list[int]()
    value = replies._Cleaning.value

    def counted(self: Any, position: int) -> tuple[str, int]:
        tries.append(position)
        return value(self, position)

    monkeypatch.setattr(replies._Cleaning, "value", counted)
    monkeypatch.setattr(replies, "_MOST_SCANNED", 2 * len(reply))
    with pytest.raises(ConfigError):
        object_in(reply, {"edits": []})
    assert len(tries) <= 4
