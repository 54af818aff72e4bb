"""Evidence packs: groups of failures, and the course of changes with predictions checked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.sums import SYSTEM, Played, agent, teaching

from heredity._core.errors import ConfigError
from heredity.methods.ahe import Course, Manifest, grouped_failures, manifest_in, normalised, statistics
from heredity.methods.operators.dialogue import Dialogue
from heredity.methods.operators.measure import Measured, Rollout
from heredity.methods.proposals import LoopOptions, Turn
from heredity.resources import Candidate

NAN = float("nan")


def measured(candidate: Candidate, scores: dict[int, float | list[float]], status: str = "ok") -> Measured:
    lists = {
        task: task_scores if isinstance(task_scores, list) else [task_scores] for task, task_scores in scores.items()
    }
    return Measured(
        candidate,
        {t: tuple(Rollout(s, status, {}, {"task": t}) for s in task_scores) for t, task_scores in lists.items()},
    )


def turn(number: int, candidate: Candidate, scores: dict[int, float | list[float]]) -> Turn:
    base = measured(candidate, scores)
    dialogue = Dialogue(Played(teaching), 0, "ahe")
    return Turn(number, 0, base, ("prompt",), base.evidence, [], [], LoopOptions(), dialogue)


Told = tuple[int, str | None, float, str]


def failed(task: int, error: str | None, score: float = 0.0, status: str = "ok") -> Told:
    return task, error, score, status


def groups(rollouts: list[Told], solved: float = 1.0) -> list[dict[str, Any]]:
    made: dict[int, tuple[Rollout, ...]] = {}
    for task, error, score, status in rollouts:
        made[task] = (*made.get(task, ()), Rollout(score, status, {}, {"task": task, "error": error}))
    return grouped_failures(Measured(agent(), made), solved)


def change(text: str, *fixes: int) -> tuple[Candidate, Manifest]:
    return agent(text), Manifest({SYSTEM: text}, {SYSTEM: f"to {text}"}, fixes)


# --- failures in groups


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("expected 3 lines, found 12", "expected 40 lines, found 0"),
        ("no such file: /app/out.csv", "no such file: /srv/data/in.txt"),
        ("'abc' is not \"x\"", "'' is not \"it's\""),
        ("took 0.25 s at 0x7f3a", "took 1,200 s at 0x00"),
        ("digest  3fa85f645717 differs", "digest 0123456789ab\ndiffers"),
        ("see tests/test_a.py:12", "see other/test_b.py:7"),
    ],
)
def test_errors_that_differ_in_numbers_paths_and_quotations_are_one(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(
    ("one", "other"), [("a line is missing", "a file is missing"), ("it isn't sorted", "it isn't complete")]
)
def test_errors_that_say_something_else_are_apart(one: str, other: str) -> None:
    assert normalised(one) != normalised(other)


@given(st.text(max_size=200))
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)


def test_the_largest_group_comes_first_and_what_is_solved_is_in_none() -> None:
    items = [
        failed(4, "timeout after 3 s"),
        failed(1, "3 is not 4"),
        failed(7, "7 is not 14"),
        failed(7, "8 is not 14"),
        failed(2, None, NAN),
        failed(3, "partly", 0.5),
        failed(9, "beside the point", 1.0),
    ]
    assert groups(items) == [
        {"error": "3 is not 4", "tasks": [1, 7]},
        {"error": "no reason is given", "tasks": [2]},
        {"error": "partly", "tasks": [3]},
        {"error": "timeout after 3 s", "tasks": [4]},
    ]
    assert {"error": "partly", "tasks": [3]} not in groups(items, 0.5)


def test_a_traceback_is_known_by_what_was_raised_not_by_where() -> None:
    def traceback(line: int, *end: str) -> str:
        lines = ("Traceback (most recent call last):", f'  File "/tests/check.py", line {line}, in <module>', *end)
        return "\n".join(lines)

    bare = [traceback(n, f"    assert run({n}) == (0, 'x')", "           ^^^^^^", "AssertionError") for n in (3, 44)]
    other = traceback(3, "    assert done.stderr", "AssertionError")
    said = [traceback(n, f"    {call}()", f"ValueError: {n} is odd") for n, call in ((1, "load"), (5, "save"))]
    items = [failed(n, error) for n, error in enumerate([*bare, other, *said])]
    assert [group["tasks"] for group in groups(items)] == [[0, 1], [3, 4], [2]]
    assert groups(items)[1]["error"] == "ValueError: 1 is odd"


def test_a_test_runner_s_rulers_do_not_hide_what_failed() -> None:
    error = "FAILED tests/test_a.py::test_sum - it is 3\n=========== 1 failed in 0.03s ==========="
    assert groups([failed(1, error)])[0]["error"] == "FAILED tests/test_a.py::test_sum - it is 3"


def test_a_program_that_fails_is_known_by_its_message() -> None:
    errors = [f"act_error: on_end got {n} words\nagent.py, line {n}, in solve{n}" for n in range(3)]
    (group,) = groups([failed(n, error, status="act_error") for n, error in enumerate(errors)])
    assert group == {"error": "act_error: on_end got 0 words", "tasks": [0, 1, 2]}


def test_statistics_count_tasks() -> None:
    whole = measured(agent(), {1: 1.0, 2: [1.0, 0.0], 3: 0.0, 4: NAN})
    assert statistics(whole, 1.0) == {"score": 0.5, "solved": 1, "failed": 2, "errors": 0}
    missing = measured(agent(), {1: NAN}, "missing")
    assert statistics(missing, 1.0) == {"score": None, "solved": 0, "failed": 0, "errors": 1}


# --- the course of changes


def test_a_change_is_remembered_with_what_came_of_it() -> None:
    course = Course(1.0)
    course.reached(first := turn(1, agent("a"), {1: 0.0, 2: 1.0, 3: 0.0, 4: 1.0}))
    assert (course.history(), course.predictions(), course.diffs(2000)) == ([], [], {})
    assert course.unsolved == {1, 3}
    course.changed(first, *change("b", 1, 3))
    course.reached(second := turn(2, agent("b"), {1: 1.0, 2: 0.0, 5: 0.0, 6: 1.0}))
    changes = [{"variable": SYSTEM, "why": "to b"}]
    assert course.history() == [{"round": 1, "changes": changes, "before": 0.5, "after": 0.5}]
    assert course.predictions() == [{"round": 1, "tasks": [1, 3], "held": [1], "missed": [], "broke": [2]}]
    assert course.diffs(2000) == {SYSTEM: "--- before\n+++ after\n@@ -1 +1 @@\n-a\n+b"}
    course.changed(second, *change("c", 5))
    course.reached(turn(3, agent("c"), {1: 0.0, 3: 0.0, 5: 0.0, 2: 1.0}))
    assert course.predictions() == [
        {"round": 1, "tasks": [1, 3], "held": [1], "missed": [3], "broke": [2]},
        {"round": 2, "tasks": [5], "held": [], "missed": [5], "broke": [1]},
    ]
    assert course.unsolved == {1, 3, 5}


def test_a_change_that_was_refused_is_forgotten_and_the_one_before_stays_the_last() -> None:
    course = Course(1.0)
    course.reached(first := turn(1, agent("a"), {1: 0.0}))
    course.changed(first, *change("b", 1))
    course.reached(second := turn(2, agent("b"), {2: 0.0}))
    course.changed(second, *change("c", 2))
    course.reached(turn(3, agent("b"), {1: 1.0}))
    assert [entry["round"] for entry in course.history()] == [1]
    assert course.history()[0]["after"] == 0.0
    assert course.predictions()[0]["held"] == [1]
    assert "+b" in course.diffs(2000)[SYSTEM]


def test_the_next_attempt_counts_even_if_later_ones_come_out_otherwise() -> None:
    course = Course(1.0)
    course.reached(first := turn(1, agent("a"), {1: 0.0, 2: 0.0}))
    course.changed(first, *change("b", 1, 2))
    course.reached(turn(2, agent("b"), {1: 1.0, 2: 0.0}))
    course.reached(turn(3, agent("b"), {1: 0.0, 2: 1.0}))
    assert course.predictions() == [{"round": 1, "tasks": [1, 2], "held": [1], "missed": [2], "broke": []}]
    assert course.unsolved == {1}


def test_a_reset_forgets_the_changes_before_it() -> None:
    course = Course(1.0)
    course.reached(first := turn(1, agent("a"), {1: 0.0}))
    course.changed(first, *change("b", 1))
    course.reached(turn(2, agent("b"), {1: 1.0}))
    course.reached(turn(3, agent("a"), {2: 0.0}))
    assert (course.history(), course.predictions(), course.diffs(2000)) == ([], [], {})


def test_a_change_that_is_taken_back_stays_in_the_history() -> None:
    course = Course(1.0)
    course.reached(first := turn(1, agent("a"), {1: 1.0}))
    course.changed(first, *change("b"))
    course.reached(second := turn(2, agent("b"), {1: 0.0}))
    course.changed(second, *change("a", 1))
    course.reached(turn(3, agent("a"), {1: 1.0}))
    assert [entry["round"] for entry in course.history()] == [1, 2]
    assert [entry["held"] for entry in course.predictions()] == [[], [1]]


def test_long_diffs_are_cut_and_new_and_removed_files_have_one() -> None:
    course = Course(1.0)
    before = agent("a", memory__facts={"memory.md": "one\n"})
    after = agent("a", memory__rules={"memory.md": "two\n" * 500})
    course.reached(first := turn(1, before, {1: 0.0}))
    values = {"memory/facts:memory.md": None, "memory/rules:memory.md": "two\n" * 500}
    course.changed(first, after, Manifest(values, {}))
    course.reached(turn(2, after, {1: 0.0}))
    diffs = course.diffs(300)
    assert "-one" in diffs["memory/facts:memory.md"]
    assert "characters left out" in diffs["memory/rules:memory.md"]
    assert len(diffs["memory/rules:memory.md"]) < 400


def test_missing_attempts_are_neither_solved_nor_not() -> None:
    course = Course(1.0)
    course.reached(first := turn(1, agent("a"), {1: 0.0, 2: NAN}))
    course.changed(first, *change("b", 1))
    course.reached(turn(2, agent("b"), {1: NAN}))
    assert course.history()[0]["after"] is None
    assert course.predictions() == [{"round": 1, "tasks": [1], "held": [], "missed": [], "broke": []}]


# --- manifests


def test_a_manifest_says_what_why_and_what_will_be_fixed_and_predicts_only_what_can_get_better() -> None:
    edits = [
        {"variable": SYSTEM, "value": "b", "why": "to  b"},
        {"variable": "memory/facts:memory.md", "value": None},
    ]
    manifest = manifest_in({3, 5}, {"edits": edits, "fixes": [5, 4, 3, 5], "risks": "it may\nbe slow"})
    assert manifest.values == {SYSTEM: "b", "memory/facts:memory.md": None}
    assert manifest.reasons == {SYSTEM: "to b", "memory/facts:memory.md": ""}
    assert manifest.fixes == (5, 3)
    assert manifest.edits.why == "to b [expected to fix tasks: 5, 3; risks: it may be slow]"


def test_no_edits_are_an_answer_and_tasks_may_be_left_out() -> None:
    assert manifest_in({1}, {"edits": []}) == Manifest({}, {})
    assert manifest_in({1}, {"edits": [{"variable": SYSTEM, "value": "b"}], "fixes": None}).fixes == ()


@pytest.mark.parametrize("fixes", [3, ["3"], [True], [1.5], {"3": 1}])
def test_tasks_that_are_no_handles_are_refused(fixes: Any) -> None:
    with pytest.raises(ConfigError, match=r'"fixes" is .*; expected a list of train tasks'):
        manifest_in({1, 3}, {"edits": [{"variable": SYSTEM, "value": "b"}], "fixes": fixes})
