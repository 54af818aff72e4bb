"""The registry of post-training tasks, and what holds for every one of them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.kinds.checkpoint.tasks import inner_of, plain_solver, posttraining_task, task_names, workspace_files
from heredity.kinds.checkpoint.tasks.registry import SOURCE
from heredity.kinds.checkpoint.tasks.taskset import PostTrainingTaskset
from heredity.tasks.registry import TasksetSource

SMALL = ("arithmetic", "arithmetic-hard", "rewriting", "text-game")
ENTROPY = 20260


def test_the_source_offers_every_task_by_its_full_name() -> None:
    assert isinstance(SOURCE, TasksetSource)
    assert {f"posttraining/{name}" for name in task_names()} == set(SOURCE.names())


def test_an_unknown_task_is_told_with_the_nearest_names() -> None:
    with pytest.raises(UnknownNameError, match="did you mean arithmetic"):
        posttraining_task("posttraining/arithmetics")


@pytest.mark.parametrize("name", SMALL)
def test_the_views_of_a_task_are_disjoint_and_extend(name: str) -> None:
    task = posttraining_task(name)
    taskset = PostTrainingTaskset(task)
    graded, heldout = (taskset.draw(s, n, ENTROPY) for s, n in (("train", task.graded), ("heldout", task.heldout)))
    identities = [json.dumps(t.spec[task.secret]) for t in (*graded, *heldout)]
    assert len(set(identities)) == task.graded + task.heldout
    assert taskset.draw("train", 5, ENTROPY) == graded[:5]
    assert [t.spec for t in taskset.draw("train", task.graded, ENTROPY + 1)] != [t.spec for t in graded]


@pytest.mark.parametrize("name", SMALL)
def test_a_workspace_holds_rows_to_train_on_and_no_item_of_a_view(name: str) -> None:
    task = posttraining_task(name)
    rows = [json.loads(line) for line in workspace_files(task, ENTROPY)["data/train.jsonl"].splitlines()]
    assert len(rows) >= 100
    assert all(row["prompt"] and row["completion"] for row in rows)


def test_a_workspace_that_shows_a_graded_item_is_refused() -> None:
    task = posttraining_task("arithmetic")
    leaked = PostTrainingTaskset(task).draw("heldout", 3, ENTROPY)[2].spec["question"]
    row = json.dumps({"question": f" {leaked} "}).encode()
    leaking = replace(task, materials=lambda entropy: {**task.materials(entropy), "data/more.jsonl": row})
    with pytest.raises(ConfigError, match="heldout/2 of arithmetic is among the rows"):
        workspace_files(leaking, ENTROPY)


@pytest.mark.parametrize("name", SMALL)
def test_what_grades_is_read_back_out_of_the_info(name: str) -> None:
    task = posttraining_task(name)
    info = PostTrainingTaskset(task).info
    assert info.kind == "model"
    json.dumps(info.spec)
    assert list(inner_of(info)) == [name]
    inner = inner_of(info)[name]
    assert (inner.info, inner.solver, inner.solving) == (task.inner.info, task.solver, task.solving)


def test_an_info_of_another_kind_grades_nothing() -> None:
    with pytest.raises(ConfigError, match="expected a taskset named posttraining"):
        inner_of(posttraining_task("arithmetic").inner.info)


def test_there_is_no_validation_split() -> None:
    taskset = SOURCE.taskset("posttraining/arithmetic")
    assert taskset.draw("validation", 0, 1) == ()
    with pytest.raises(ConfigError, match="has no split 'validation'"):
        taskset.draw("validation", 1, 1)


def test_a_structural_score_out_of_its_range_is_refused() -> None:
    task = posttraining_task("arithmetic")
    with pytest.raises(ConfigError, match="expected 1 to 5"):
        replace(task, structure={**task.structure, "horizon": 6})


def test_a_plain_solver_may_have_a_system_message() -> None:
    assert set(plain_solver(system="Be brief.").parts) == {"prompt/question", "prompt/system"}
