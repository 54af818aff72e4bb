"""Rewriting strings: the rule, and a judge that gives part of the points."""

from __future__ import annotations

import pytest
from tests.kinds.checkpoint.tasks.grading import graded

from heredity.kinds.checkpoint.tasks import PostTrainingTaskset, posttraining_task
from heredity.library.tasks.posttraining.rewriting import JUDGE, rewritten


@pytest.mark.parametrize(("text", "left"), [("aaaa", "aaaa"), ("abca", "abac"), ("bbbb", "bccc"), ("cccc", "cbbb")])
def test_all_letters_are_rewritten_at_once_by_the_one_before(text: str, left: str) -> None:
    assert rewritten(text) == left


def test_the_example_of_the_description_is_right() -> None:
    assert rewritten("abcabbcacbaca") == "abacbcaccabcc"
    assert "`abcabbcacbaca>`" in posttraining_task("rewriting").description
    assert "`abacbcaccabcc`" in posttraining_task("rewriting").description


@pytest.mark.parametrize(
    ("answer", "points"),
    [("abac", 1.0), (" abac\n", 1.0), ("abaa", 0.375), ("bcba", 0.0), ("", 0.0), ("abaca", 0.0), ("abac>", 0.0)],
)
def test_the_judge_gives_part_of_the_points(answer: str, points: float) -> None:
    names: dict[str, object] = {}
    exec(JUDGE, names)
    assert names["evaluate"]("abca>", answer, "abac") == pytest.approx(points)


async def test_answers_are_graded_by_the_judge() -> None:
    task = posttraining_task("rewriting")
    tasks = PostTrainingTaskset(task).draw("heldout", 8, 2)
    right = await graded(task, tasks, lambda text: rewritten(text.removesuffix(">")))
    assert [t.total_reward for t in right] == [1.0] * 8
    first = await graded(task, tasks, lambda text: text[0] + "?" * 12)
    assert [t.total_reward for t in first] == [pytest.approx(1 / 26)] * 8  # the first letter stays
