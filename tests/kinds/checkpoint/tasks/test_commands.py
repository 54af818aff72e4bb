"""Requests answered in the syntax of a house."""

from __future__ import annotations

import json
import re

from tests.kinds.checkpoint.tasks.grading import graded

from heredity.kinds.checkpoint.tasks import PostTrainingTaskset, posttraining_task, workspace_files

TASK = posttraining_task("commands")


def test_every_request_is_told_once_and_no_view_shows_it() -> None:
    rows = [json.loads(line) for line in workspace_files(TASK, 5)["data/train.jsonl"].splitlines()]
    taskset = PostTrainingTaskset(TASK)
    hidden = [*taskset.draw("train", TASK.graded, 5), *taskset.draw("heldout", TASK.heldout, 5)]
    texts = [row["question"] for row in rows] + [task.spec["question"] for task in hidden]
    assert len(set(texts)) == len(texts) == 660
    assert {task.spec["question"] for task in hidden} != {t.spec["question"] for t in taskset.draw("train", 60, 6)}


def test_every_command_is_of_the_syntax_and_says_what_was_asked() -> None:
    for row in map(json.loads, workspace_files(TASK, 5)["data/train.jsonl"].splitlines()):
        matched = re.fullmatch(r"([a-z]+)\.(lamp|heater|blind|door)\((\d\d?|lock|unlock), (\d\d:\d\d)\)", row["answer"])
        assert matched
        assert matched[1] in row["question"]
        assert matched[3] in row["question"].lower()
        assert row["question"].startswith(f"At {matched[4]}: ")
        assert row["completion"] == row["answer"]


async def test_a_model_is_asked_as_the_rows_say_and_earns_by_the_command_alone() -> None:
    tasks = PostTrainingTaskset(TASK).draw("heldout", 4, 5)
    answers = {task.spec["question"]: task.spec["answer"] for task in tasks}
    row = json.loads(workspace_files(TASK, 5)["data/train.jsonl"].splitlines()[0])
    beginning = row["prompt"].removesuffix(row["question"])

    def say(prompt: str) -> str:
        assert prompt.startswith(beginning)
        return answers[prompt.removeprefix(beginning)]

    assert [t.total_reward for t in await graded(TASK, tasks, say)] == [1.0] * 4
    talking = await graded(TASK, tasks, lambda prompt: f"Sure: {say(prompt)}")
    assert [t.total_reward for t in talking] == [0.0] * 4
    shouting = await graded(TASK, tasks, lambda prompt: say(prompt).upper())
    assert [t.total_reward for t in shouting] == [0.0] * 4
