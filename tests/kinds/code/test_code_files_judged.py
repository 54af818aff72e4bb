"""Solutions of problems out of a user's file, judged by the same judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.kinds.code.files_of_users import FUNCTION, HUMAN, MBPP, MIDDLE, OFF, PROGRAM, write
from tests.kinds.code.sums import in_python
from tests.kinds.code.sums import write as write_sum

from heredity._core.errors import ConfigError
from heredity.kinds.code.check import _compared, _examples
from heredity.kinds.code.files import SECONDS, row_of
from heredity.kinds.code.judge import Judge, Judgement, Tests, Verdict, limit_s
from heredity.kinds.code.languages import LANGUAGES
from heredity.kinds.code.problem import problem

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


CHECKED = {
    "problem.toml": """
title = "Split"
difficulty = "easy"
tags = ["math"]
compare = "checker"
slow = "there is nothing to do"

[signature]
name = "split"
parameters = { total = "int" }
returns = "list[int]"

[[examples]]
case = "[5]"
answer = "[1, 4]"
""",
    "reference.py": "class Solution:\n    def split(self, total):\n        return [0, total]\n",
    "brute.py": "class Solution:\n    def split(self, total):\n        return [total, 0]\n",
    "tests.py": "def small(random):\n    return [random.randint(-9, 9)]\n\n\ndef cases(random):\n    yield [2**40]\n",
    "checker.py": "def accepts(case, expected, answer):\n    first, second = answer\n    return first + second == case[0]\n",
}
SPLIT = "class Solution:\n    def split(self, total):\n        return {}\n"


async def test_of_several_right_answers_each_is_accepted_and_no_other(judge: Judge, tmp_path: Path) -> None:
    asked, python = write_sum(tmp_path / "split", **CHECKED), LANGUAGES["python3"]
    tests = Tests([[5], [-2]], [[0, 5], [0, -2]], 1, 0.1)
    assert (await judge.judge(asked, python, SPLIT.format("[total - 7, 7]"), tests)).verdict is Verdict.PASSED
    wrong = await judge.judge(asked, python, SPLIT.format("[abs(total), 0]"), tests)
    assert (wrong.verdict, wrong.passed) == (Verdict.WRONG, 1)
    odd = await judge.judge(asked, python, SPLIT.format("[total]"), tests)
    assert odd.verdict is Verdict.WRONG, "what the checker cannot read is wrong"
    assert await _compared(judge, asked, "s", 5) == []
    assert await _examples(judge, asked, tests) == []
    assert await judge.right(asked, [([5], [0, 5], [2, 2]), ([5], [0, 5], [0, 5]), ([5], [0, 5], [9, -4])]) == [
        False,
        True,
        True,
    ]
    with pytest.raises(ConfigError, match="has a checker and therefore no variants"):
        problem(f"{asked.source}@3")


async def test_a_checker_that_fails_is_the_problem_and_not_the_solution(judge: Judge, tmp_path: Path) -> None:
    tests = Tests([[5]], [[0, 5]], 1, 0.1)
    for text in ("accepts = 3 +", "def accepts(*row):\n    print(row)\n    return True\n"):
        asked = write_sum(tmp_path / "split", **{**CHECKED, "checker.py": text})
        with pytest.raises(ConfigError, match=r"checker.py (fails|prints)"):
            await judge.judge(asked, LANGUAGES["python3"], SPLIT.format("[5, 0]"), tests)
    (tmp_path / "split" / "checker.py").unlink()
    with pytest.raises(ConfigError, match=r'use "checker" if there is a checker.py'):
        problem(str(tmp_path / "split"))


async def test_what_was_learned_by_heart_fails_a_variant(judge: Judge, tmp_path: Path) -> None:
    folder = write_sum(tmp_path / "sum").source
    asked, python = problem(f"{folder}@5"), LANGUAGES["python3"]
    tests = await judge.tests(asked, "s")
    (known, changed), called = (asked.accepted["reference.py"][1].split("_Learned", 1)), asked.signature.function.name
    assert (await judge.judge(asked, python, f"{known}_Learned{changed}", tests)).verdict is Verdict.PASSED
    assert (await judge.judge(asked, python, in_python("pass"), tests)).verdict is Verdict.RUNTIME, (
        "its name is another"
    )
    renamed = in_python("pass").replace("def total", f"def {called}")
    assert (await judge.judge(asked, python, renamed, tests)).verdict is Verdict.WRONG, "and so is its answer"


async def test_a_variant_of_a_class_changes_what_its_methods_return(judge: Judge) -> None:
    original, asked, python = problem("ledger-of-stamps"), problem("ledger-of-stamps@5"), LANGUAGES["python3"]
    tests = Tests([one.case for one in asked.examples], [one.answer for one in asked.examples], 1, 0.1)
    assert (await judge.judge(asked, python, asked.accepted["reference.py"][1], tests)).verdict is Verdict.PASSED
    assert (await judge.judge(asked, python, original.accepted["reference.py"][1], tests)).verdict is Verdict.WRONG


async def test_a_variant_of_a_tree_is_one_too(judge: Judge) -> None:
    asked, python = problem("lantern-tree@5"), LANGUAGES["python3"]
    tests = Tests([one.case for one in asked.examples], [one.answer for one in asked.examples], 1, 0.1)
    assert (await judge.judge(asked, python, asked.accepted["reference.py"][1], tests)).verdict is Verdict.PASSED
