"""Files of a user's own: which rows are problems, what a solver is told of them, and what is said of the others."""

from __future__ import annotations

import base64
import os
import pickle
import zlib
from pathlib import Path
from typing import Any

import pytest
from tests.kinds.code.files_of_users import FUNCTION, HUMAN, LEETCODE, MBPP, PROGRAM, live, write

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.kinds.code.files import problems_of, row_of
from heredity.kinds.code.languages import LANGUAGES
from heredity.kinds.code.problem import problem
from heredity.tasks.registry import located_taskset, taskset


def test_each_form_is_read_with_its_cases(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.jsonl", HUMAN, MBPP, PROGRAM, FUNCTION, LEETCODE)
    human, mbpp, program, function, leetcode = problems_of(path).problems
    assert human.given[0] == ([["a", "b", "c"], {"b": 1.5}], ("b", 1.5))
    assert human.given[2] == ([["x"] * 3, {"x": {1, 2}}], ("x", ("set", 1, 2)))
    assert (human.compare, mbpp.compare) == ("exact", "close")
    assert [answer for _, answer in mbpp.given] == [0.25, 0.1, False]
    assert program.given == ((["2\n"], "4"), (["5\n"], "10"), (["0\n"], "0"))
    assert function.given[1:] == (([[], 1], []), ([[-1], 1], [0]))
    assert leetcode.given == (([3], 1.5), ([4], 2.0))
    assert (leetcode.difficulty, leetcode.tags, human.difficulty) == ("medium", ("Math",), "unrated")
    assert [len(one.examples) for one in (human, mbpp, program, function, leetcode)] == [0, 1, 1, 1, 0]


def test_a_solver_is_told_the_task_and_no_hidden_case(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.jsonl", HUMAN, MBPP, PROGRAM, FUNCTION, LEETCODE)
    told = [one.text(LANGUAGES["python3"]) for one in problems_of(path).problems]
    assert "def middle(words: List[str], extra: dict) -> tuple:" in told[0]
    assert "canonical" not in told[0]
    assert "1.5" not in told[0]
    assert "Input `[1.25]`, answer `0.25`" in told[1]
    assert "2.1" not in told[1]
    assert "10" not in told[2]
    assert "vector<long long>& nums" in problems_of(path).problems[3].text(LANGUAGES["cpp"])


def test_a_taskset_of_a_file_is_one_like_any_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "mine.jsonl", FUNCTION, LEETCODE, {**LEETCODE, "task_id": "other"})
    monkeypatch.chdir(tmp_path)
    assert located_taskset("code/mine.jsonl?whole=true", tmp_path) == f"code/{path}?whole=true"
    assert located_taskset("code/all?whole=true", tmp_path) == "code/all?whole=true"
    found = taskset("code/mine.jsonl?whole=true&language=python3,go")
    tasks = found.draw("heldout", 6, 1)
    assert {task.cluster for task in tasks} == {"pairs", "half-way", "other"}
    assert problem(str(tasks[0].spec["problem"])).source == tasks[0].spec["problem"]
    assert "public_tests" not in found.info.public, "a row without a shown case has none"
    assert "public_tests" in taskset("code/mine.jsonl?problem=pairs&whole=true").info.public
    assert taskset("code/mine.jsonl?difficulty=medium&whole=true").draw("heldout", 2, 1)


def test_what_states_no_types_is_judged_in_python_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.jsonl", HUMAN)
    with pytest.raises(ConfigError, match="judged in python3 alone, not in cpp"):
        taskset(f"code/{path}?whole=true&language=python3,cpp")
    with pytest.raises(ConfigError, match="judged in python3 alone, not in go"):
        problems_of(path).problems[0].text(LANGUAGES["go"])


LOOP = {
    **HUMAN,
    "task_id": "loop",
    "test": "def check(candidate):\n    for i in range(3):\n        assert candidate(i) == i\n",
}


def test_a_row_that_is_no_problem_is_left_out_and_said_so(tmp_path: Path) -> None:
    others = [{**HUMAN, "task_id": f"Made/{number}"} for number in range(5)]
    path = write(tmp_path / "mine.jsonl", *others, LOOP)
    rows = problems_of(path)
    assert len(rows.problems) == 5
    (odd,) = rows.left_out
    assert odd.startswith("mine.jsonl, line 6: test: line 2: 'for i in range(3):' cannot be judged; write assert")
    assert odd in taskset(f"code/{path}?whole=true").info.description
    with pytest.raises(UnknownNameError, match="loop"):
        row_of(f"{path}#loop")
    with pytest.raises(ConfigError, match=r"(?s)2 of 2 rows are no problems.*line 1: test.*line 2: test"):
        problems_of(write(tmp_path / "odd.jsonl", LOOP, {**LOOP, "task_id": "more"}))


class Runs:
    def __reduce__(self) -> Any:
        return os.system, ("touch ran",)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({**HUMAN, "task_id": ""}, "task_id is ''; give each row a name"),
        ({**HUMAN, "entry_point": "other"}, "prompt: there is no function other in"),
        (
            {**HUMAN, "prompt": "def middle(words, *rest):\n    pass"},
            r"prompt: the function middle takes arguments by \*",
        ),
        ({**HUMAN, "test": "def check(candidate):\n    assert candidate(1) == 1"}, "expected words, extra"),
        ({**HUMAN, "test": "def check(candidate):\n    assert candidate([], {}) == open('x')"}, "is no literal"),
        (
            {**HUMAN, "test": "def check(candidate):\n    assert candidate('a' * 10**9, {}) == 1"},
            "is no literal|at most",
        ),
        ({**HUMAN, "test": "def check(candidate):\n    assert abs(candidate([], {}) - 3) < 5"}, "cannot be judged"),
        ({**HUMAN, "test": "def check(candidate):\n    pass"}, "there are 0 cases"),
        ({**HUMAN, "test": "def check("}, "test: it is no Python"),
        ({**HUMAN, "test": None}, "there are no cases; give test with entry_point"),
        (
            {**MBPP, "test_list": ["assert off(1.0) == 0.0", "assert on(1) == 1"]},
            "calls .'off', 'on'.; let every assertion",
        ),
        (
            {**MBPP, "test_list": ["assert off(1.0) == 0.0"]},
            "1 cases, 1 of them shown; give at least one hidden case",
        ),
        ({**MBPP, "test_list": "off"}, "test_list"),
        (
            {**LEETCODE, "test": "def check(candidate):\n    assert candidate(number = '3') == 1"},
            "halfWay.number is '3'; its type",
        ),
        ({**LEETCODE, "test": "def check(candidate):\n    assert candidate(number = 3) == [1]"}, "answer.answer is"),
        (live("x", "spoken", [("1", "1")], [("2", "2")]), "testtype is spoken; give stdin or functional"),
        ({**FUNCTION, "private_test_cases": "&&"}, "private_test_cases is '&&', neither JSON nor packed JSON"),
        ({**FUNCTION, "private_test_cases": "[3]"}, "give a JSON list of input, output and testtype"),
        (
            {**FUNCTION, "private_test_cases": base64.b64encode(zlib.compress(pickle.dumps(Runs()))).decode()},
            "posix.system is asked for",
        ),
        ({**HUMAN, "prompt": None, "entry_point": "middle"}, "prompt is None; give text"),
    ],
)
def test_what_is_wrong_with_a_row_is_said_with_its_field(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: dict[str, Any], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=said) as caught:
        problems_of(write(tmp_path / "mine.jsonl", row))
    assert "mine.jsonl, line 1: " in str(caught.value)
    assert not (tmp_path / "ran").exists()


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        taskset(f"code/{tmp_path / 'none.jsonl'}")
    with pytest.raises(ConfigError, match="the name 'Made/0' is taken by an earlier row"):
        problems_of(write(tmp_path / "mine.jsonl", HUMAN, HUMAN))
    with pytest.raises(UnknownNameError, match="nothing"):
        row_of(f"{write(tmp_path / 'one.jsonl', HUMAN)}#nothing")
