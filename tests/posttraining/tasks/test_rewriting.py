"""Rewriting strings: the rules, and a judge whose points cannot be had by tricks."""

from __future__ import annotations

import pytest
from tests.posttraining.tasks.grading import graded

from heredity.posttraining.tasks import PostTrainingTaskset, posttraining_task
from heredity.posttraining.tasks.rewriting import JUDGE, RULES, rewritten


@pytest.mark.parametrize(
    ("text", "left"), [("aab", "c"), ("aabac", "cac"), ("abc", "abc"), ("aaaa", "c"), ("ccc", "ac")]
)
def test_the_leftmost_pair_is_rewritten_until_there_is_none(text: str, left: str) -> None:
    assert rewritten(text) == left
    assert not any(pair in left for pair in RULES)


@pytest.mark.parametrize(
    ("answer", "points"),
    [
        ("cac", 1.0),
        (" cac\n", 1.0),
        ("cab", 0.5 * 2 / 3),
        ("b", 0.0),
        ("", 0.0),
        ("ccac", 0.0),  # a pair is left
        ("cac>", 0.0),
        ("cacabcabcabcabcabc", 0.5 * 3 / 18),
    ],
)
def test_the_judge_gives_part_of_the_points(answer: str, points: float) -> None:
    names: dict[str, object] = {}
    exec(JUDGE, names)
    assert names["evaluate"]("aabac>", answer, "cac") == pytest.approx(points)


async def test_answers_are_graded_by_the_judge() -> None:
    task = posttraining_task("rewriting")
    tasks = PostTrainingTaskset(task).draw("heldout", 8, 2)
    right = await graded(task, tasks, lambda text: rewritten(text.removesuffix(">")))
    assert [t.total_reward for t in right] == [1.0] * 8
    copied = await graded(task, tasks, lambda text: text.removesuffix(">"))
    assert [t.total_reward for t in copied] == [0.0] * 8  # every string has a pair in it
