"""Replies of models in the forms in which models write programs, and edits that are nearly exact."""

from __future__ import annotations

import json

import pytest

from heredity._core.errors import ConfigError
from heredity.methods.map_elites import _version, object_of
from heredity.methods.operators.dialogue import FORMS

SOURCE = """\
import math

# EVOLVE-BLOCK-START
A = 1.0
B = 2.0


def width():
    if A > 0:
        return A
    return B
# EVOLVE-BLOCK-END


def solve():
    return width()
"""
CHANGED = SOURCE.replace("A = 1.0", "A = 5.0")
FORM = FORMS["evolve"].reply


def read(reply: str, source: str = SOURCE) -> str:
    return _version(source, object_of(reply, FORM))[0]


def block(search: str, replace: str) -> str:
    return f"<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE"


REPLIES = {
    "JSON": json.dumps({"edits": [{"search": "A = 1.0", "replace": "A = 5.0"}], "why": "more"}),
    "JSON in a fence, after words": "Larger is better.\n```json\n" + json.dumps({"program": CHANGED}) + "\n```\n",
    "JSON with trailing commas": '{"edits": [{"search": "A = 1.0", "replace": "A = 5.0",},],}',
    "a block": "Make A larger.\n\n" + block("A = 1.0", "A = 5.0"),
    "a block in a fence": "```python\n" + block("A = 1.0", "A = 5.0") + "\n```",
    "two blocks": block("A = 1.0", "A = 4.0") + "\nand then\n" + block("A = 4.0", "A = 5.0"),
    "a block with line ends of Windows": block("A = 1.0\nB = 2.0", "A = 5.0\nB = 2.0").replace("\n", "\r\n"),
    "a whole program in a fence": f"Here it is:\n```python\n{CHANGED}```\nIt has a larger A.",
    "a whole program in a fence of another kind": f"~~~\n{CHANGED}~~~",
    "a whole program after an example": f"Run `x`:\n```sh\npython x.py\n```\nThe program:\n```py\n{CHANGED}```",
    "a whole program with line ends of Windows": json.dumps({"program": CHANGED.replace("\n", "\r\n")}),
    "a whole program whose other lines end in blanks": json.dumps(
        {"program": CHANGED.replace("import math", "import math  ")}
    ),
    "a unified diff": (
        "```diff\n--- a/program.py\n+++ b/program.py\n@@ -3,3 +3,3 @@\n # EVOLVE-BLOCK-START\n-A = 1.0\n+A = 5.0\n B = 2.0\n```"
    ),
    "a diff without a fence": "--- a\n+++ b\n@@ -4 +4 @@\n-A = 1.0\n+A = 5.0\n",
    "a trailing blank": json.dumps({"edits": [{"search": "A = 1.0 ", "replace": "A = 5.0"}]}),
    "line ends of Windows": json.dumps({"edits": [{"search": "A = 1.0\r\nB = 2.0", "replace": "A = 5.0\r\nB = 2.0"}]}),
    "blank lines around": json.dumps({"edits": [{"search": "\nA = 1.0 \n", "replace": "\nA = 5.0\n"}]}),
}


@pytest.mark.parametrize("form", REPLIES)
def test_every_common_form_is_read(form: str) -> None:
    assert read(REPLIES[form]) == CHANGED


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("tabs", [False, True])
@pytest.mark.parametrize("written", ["    ", "\t"])
def test_tabs_and_line_ends_become_those_of_the_program(ends: str, tabs: bool, written: str) -> None:
    source = (SOURCE.replace("    ", "\t") if tabs else SOURCE).replace("\n", ends)
    edit = {
        "search": f"{written}if A > 0:\n{written * 2}return A",
        "replace": f"{written}if A > 1:\n{written * 2}return 2 * A",
    }
    changed = read(json.dumps({"edits": [edit]}), source)
    assert changed == source.replace("A > 0", "A > 1").replace("return A", "return 2 * A")


def test_why_is_what_comes_first() -> None:
    assert _version(SOURCE, object_of(REPLIES["a block"], FORM))[1] == "Make A larger."


REFUSED = {
    "words": ("I would make A larger.", "expected a JSON object"),
    "nothing": ("", "it is empty"),
    "a text that stands twice": (json.dumps({"edits": [{"search": " = ", "replace": " = 1 + "}]}), "2 times"),
    "lines that are alike in two places": (
        json.dumps({"edits": [{"search": "same ", "replace": "other"}]}), "2 times",
    ),
    "a text that is not there": (json.dumps({"edits": [{"search": "C = 3.0", "replace": "C = 4.0"}]}), "0 times"),
    "what may not change": (block("import math", "import os"), "may change"),
    "a mark": (block("# EVOLVE-BLOCK-END", "C = 1\n# EVOLVE-BLOCK-END\n# EVOLVE-BLOCK-END"), "partner"),
    "nothing new": (block("A = 1.0", "A = 1.0"), "it changes nothing"),
    "a whole program without the rest": ("```python\nA = 5.0\n```", "may change"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_ambiguous_or_not_allowed_is_refused(kind: str) -> None:
    reply, why = REFUSED[kind]
    source = SOURCE.replace("B = 2.0", "B = 2.0\nsame\nsame\n")
    with pytest.raises(ConfigError, match=why):
        read(reply, source if "alike" in kind else SOURCE)
