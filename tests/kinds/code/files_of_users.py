"""Rows of made-up files in the forms of other collections."""

from __future__ import annotations

import base64
import json
import pickle
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HUMAN = {
    "task_id": "Made/0",
    "prompt": (
        "from typing import List\n\n\ndef halved(number: int) -> int:\n    return number // 2\n\n\n"
        'def middle(words: List[str], extra: dict) -> tuple:\n    """ Return the middle word and what extra says of it. """\n'
    ),
    "entry_point": "middle",
    "canonical_solution": "    word = words[halved(len(words))]\n    return word, extra.get(word)\n",
    "test": (
        "METADATA = {'author': 'x'}\n\n\ndef check(candidate):\n    assert True, 'to begin with'\n"
        "    assert candidate(['a', 'b', 'c'], {'b': 1.5}) == ('b', 1.5), 'one'\n"
        "    assert candidate(['a'], extra={}) == ('a', None)\n    assert candidate(['x'] * 3, {'x': {1, 2}}) == ('x', {2, 1})\n"
    ),
}
MIDDLE = "def middle(words, extra):\n    word = words[halved(len(words))]\n    return word, extra.get(word)\n"

MBPP = {
    "task_id": 7,
    "text": "Write a function that says how far a number is from a whole one.",
    "code": "def off(number):\n    return abs(number - round(number))",
    "test_list": ["assert off(1.25) == 0.25", "assert abs(off(2.1) - 0.1) < 1e-6", "assert not off(3)"],
    "test_setup_code": "",
    "challenge_test_list": [],
}
OFF = "def off(number):\n    return abs(number - round(number))\n"


def live(
    task: str, kind: str, public: list[tuple[str, str]], hidden: list[tuple[str, str]], **more: Any
) -> dict[str, Any]:
    cases = [[{"input": given, "output": out, "testtype": kind} for given, out in some] for some in (public, hidden)]
    packed = base64.b64encode(zlib.compress(pickle.dumps(json.dumps(cases[1])))).decode()
    return {
        "question_title": f"Made {task}",
        "question_content": "Do as asked.",
        "question_id": task,
        "difficulty": "easy",
        "public_test_cases": json.dumps(cases[0]),
        "private_test_cases": packed,
        **more,
    }


PROGRAM = live("doubles", "stdin", [("2\n", "4\n")], [("5\n", "10 \n\n"), ("0\n", "0")])
FUNCTION = live(
    "pairs",
    "functional",
    [("[1, 2]\n3", "[4, 5]")],
    [("[]\n1", "[]"), ("[-1]\n1", "[0]")],
    starter_code="class Solution:\n    def raised(self, nums: List[int], by: int) -> List[int]:\n        ",
    metadata=json.dumps({"func_name": "raised"}),
)
LEETCODE = {
    "task_id": "half-way",
    "difficulty": "Medium",
    "tags": ["Math"],
    "problem_description": "Return half of it.",
    "starter_code": "class Solution:\n    def halfWay(self, number: int) -> float:\n        ",
    "entry_point": "Solution().halfWay",
    "test": "def check(candidate):\n    assert candidate(number = 3) == 1.5\n    assert candidate(number = 4) == 2\n",
}


def write(path: Path, *rows: Mapping[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
