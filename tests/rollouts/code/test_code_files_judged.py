"""Solutions of problems out of a user's file, judged by the same judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.tasks.code.files_of_users import FUNCTION, HUMAN, MBPP, MIDDLE, OFF, PROGRAM, write

from heredity.rollouts.code.judge import Judge, Judgement, limit_s
from heredity.rollouts.code.verdicts import Tests, Verdict
from heredity.tasks.code.files import SECONDS, row_of
from heredity.tasks.code.languages import LANGUAGES

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def judged(judge: Judge, folder: Path, row: dict[str, Any], source: str) -> Judgement:
    path = write(folder / "mine.jsonl", row)
    problem = row_of(f"{path}#{row.get('task_id', row.get('question_id'))}")
    return await judge.judge(problem, LANGUAGES["python3"], source, await judge.tests(problem, "s"))


async def test_a_function_gives_what_python_has_literals_for(judge: Judge, tmp_path: Path) -> None:
    right = await judged(judge, tmp_path, HUMAN, MIDDLE)
    assert (right.verdict, right.passed, right.cases) == (Verdict.PASSED, 3, 3)
    wrong = await judged(judge, tmp_path, HUMAN, MIDDLE.replace("return word, extra", "return word, 2 or extra"))
    assert (wrong.verdict, wrong.message) == (Verdict.WRONG, "a hidden case, number 0")
    listed = await judged(
        judge, tmp_path, HUMAN, MIDDLE.replace("return word, extra.get(word)", "return [word, extra.get(word)]")
    )
    assert listed.verdict is Verdict.WRONG, "a list is no tuple"
    odd = await judged(judge, tmp_path, HUMAN, MIDDLE.replace("return word,", "return object(),"))
    assert (odd.verdict, odd.message) == (Verdict.RUNTIME, "a hidden case, number 0: TypeError")


async def test_floats_may_be_a_little_apart_where_the_test_says_so(judge: Judge, tmp_path: Path) -> None:
    assert (await judged(judge, tmp_path, MBPP, OFF)).verdict is Verdict.PASSED
    off = await judged(judge, tmp_path, MBPP, OFF.replace("round(number))", "round(number)) * 1.1"))
    assert (off.verdict, off.passed) == (Verdict.WRONG, 0)
    assert "answered 0.275; expected 0.25; input [1.25]" in off.message


async def test_a_program_is_judged_by_what_it_prints(judge: Judge, tmp_path: Path) -> None:
    assert (await judged(judge, tmp_path, PROGRAM, "print(2 * int(input()))\n")).verdict is Verdict.PASSED
    wrong = await judged(judge, tmp_path, PROGRAM, "import sys\nsys.stdout.write(str(4))\n")
    assert (wrong.verdict, wrong.passed, wrong.message) == (Verdict.WRONG, 1, "a hidden case, number 1")


RAISED = """
class Solution:
    def raised(self, nums: List[int], by: int) -> List[int]:
        return [n + by for n in nums]
"""


async def test_a_method_with_types_is_judged_as_those_of_the_library(judge: Judge, tmp_path: Path) -> None:
    assert (await judged(judge, tmp_path, FUNCTION, RAISED)).verdict is Verdict.PASSED


async def test_the_time_for_a_case_is_stated_and_not_measured() -> None:
    assert limit_s(LANGUAGES["python3"], Tests([[1]], [1], 0, 0.0, limit_s=SECONDS)) == pytest.approx(SECONDS + 0.2)
    assert limit_s(LANGUAGES["python3"], Tests([[1]], [1], 0, 1.0)) == pytest.approx(4.2)
