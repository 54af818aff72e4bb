"""Programming problems as a post-training task: what grades a checkpoint, and what it may train on."""

from __future__ import annotations

import json

import pytest
from tests.kinds.checkpoint.tasks.grading import graded

from heredity._core.errors import ConfigError
from heredity.kinds.checkpoint.tasks import PostTrainingTaskset, posttraining_task, workspace_files
from heredity.kinds.code.problem import problem
from heredity.sandbox.bubblewrap_root import available

EASY = "posttraining/code/all?problem=well-buckets,odd-bells,mean-tide,unsold-tickets,flipped-bits"
"""Two problems to train on, two that grade, one that is held out."""


@pytest.mark.slow
@pytest.mark.skipif(available() is not None, reason="programs cannot be confined on this machine")
async def test_replies_are_judged_as_programs() -> None:
    task = posttraining_task(EASY)
    asked = PostTrainingTaskset(task).draw("train", 2, 7)

    def solved(question: str) -> str:
        (name,) = [one.spec["problem"] for one in asked if one.spec["question"] == question]
        return f"So:\n```python\n{problem(name).files['reference.py']}```\n"

    right = await graded(task, asked, solved)
    assert [(t.total_reward, t.columns["info/verdict"][-1]) for t in right] == [(1.0, "PR")] * 2
    wrong = await graded(task, asked[:1], lambda question: solved(question).replace("return ", "return 7 or "))
    assert (wrong[0].columns["info/verdict"][-1], wrong[0].failure_source) == ("WA", "none")
    assert wrong[0].total_reward < 1
    none = await graded(task, asked[:1], lambda _: "I cannot see how to begin.")
    assert (none[0].total_reward, none[0].columns["info/verdict"][-1]) == (0.0, "RpE")


def test_accepted_programs_of_other_problems_are_there_to_train_on() -> None:
    task = posttraining_task(EASY)
    assert (task.graded, task.heldout, task.metric) == (2, 1, "share of cases")
    assert posttraining_task(EASY + "&score=verdict").metric == "pass@1"
    files = workspace_files(task, 7)
    rows = [json.loads(line) for line in files["data/train.jsonl"].splitlines()]
    assert {row["problem"] for row in rows} == {"well-buckets", "odd-bells"}
    stored = {
        f"```python3\n{source.rstrip()}\n```"
        for name in ("well-buckets", "odd-bells")
        for language, source in problem(name).accepted.values()
        if language.name == "python3"
    }
    assert {row["completion"] for row in rows} == stored
    views = PostTrainingTaskset(task)
    hidden = [*views.draw("train", 2, 7), *views.draw("heldout", 1, 7)]
    text = files["data/train.jsonl"].decode()
    assert not [one for one in hidden if json.dumps(problem(one.spec["problem"]).statement)[1:-1] in text]
    assert not [one for one in hidden if one.spec["seed"] in text]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("posttraining/code/solution/two-gates", "is one problem; name several"),
        ("posttraining/code/all?problem=two-gates", "0 tasks to grade with and 0 that are held out"),
    ],
)
def test_what_leaves_nothing_to_grade_with_is_refused(name: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        posttraining_task(name)
