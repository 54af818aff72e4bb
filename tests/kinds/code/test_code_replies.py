from __future__ import annotations

from pathlib import Path

import pytest
from tests.kinds.code.sums import in_python, write

from heredity.kinds.code.judge import Judge
from heredity.kinds.code.languages import LANGUAGES
from heredity.kinds.code.replies import Replies, program_in

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    ("reply", "program"),
    [
        ("First\n```python\na = 1\n```\nthen\n```py\nb = 2\n```\nand a test\n```\nc\n```", "b = 2\n"),
        ("```\nplain\n```\n```json\n{}\n```", "plain\n"),
        ("```java\nclass Solution {}\n```", "class Solution {}\n"),
        ("~~~python3\nx\n~~~\n", "x\n"),
        ("````python\n```\nnested\n```\n````", "```\nnested\n```\n"),
        ("```python\nnever closed", "never closed"),
        ("class Solution: pass", ""),
        ("``` ```", ""),
        ("", ""),
    ],
)
async def test_the_program_in_a_reply(reply: str, program: str) -> None:
    assert program_in(reply, LANGUAGES["python3"]) == program


async def test_feedback_says_what_its_kind_allows(judge: Judge, tmp_path: Path) -> None:
    write(tmp_path / "sum")
    spec = {"problem": str(tmp_path / "sum"), "language": "python3", "seed": "secret"}
    replies = Replies(judge)
    wrong = f"Here:\n```python\n{in_python('return 3')}\n```"
    assert await replies.feedback(spec, wrong, "none") is None
    assert await replies.feedback(spec, wrong, "self") is None
    assert await replies.feedback(spec, wrong, "public") is None
    told = await replies.feedback(spec, wrong, "verdict")
    assert told is not None
    assert told.startswith("WA: your program gave a wrong answer after 1 of")
    assert "a hidden case, number 1" in told
    assert "expected" not in told
    judged = await replies.judged(spec, wrong)
    assert 0 < judged.score < 1
    assert (await replies.judged(spec, "I do not know.")).verdict == "RpE"
    fenced = await replies.feedback(spec, "I do not know.", "public")
    assert fenced is not None
    assert "fenced block" in fenced
    right = f"```python\n{in_python('pass')}\n```"
    assert await replies.feedback(spec, right, "verdict") is None
    assert (await replies.judged(spec, right)).score == 1.0
