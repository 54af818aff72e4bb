"""Several tasks in one run: what they share, how their items take turns, and what one checkpoint scores at each."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.kinds.checkpoint.tasks import (
    PostTrainingTaskset,
    SeveralTasks,
    inner_of,
    part_of,
    posttraining_task,
    single_task,
    workspace_files,
)

ENTROPY = 40417
NAME = "multi:arithmetic+rewriting+text-game"
PARTS = ("arithmetic", "rewriting", "text-game")


@pytest.fixture(scope="module")
def task() -> SeveralTasks:
    several = posttraining_task(f"posttraining/{NAME}")
    assert isinstance(several, SeveralTasks)
    return several


@pytest.mark.parametrize("name", ["multi:arithmetic", "multi:arithmetic+arithmetic"])
def test_several_are_two_or_more_different_ones(name: str) -> None:
    with pytest.raises(ConfigError, match="expected two or more different ones"):
        posttraining_task(name)


def test_an_unknown_part_is_told_with_the_nearest_names() -> None:
    with pytest.raises(UnknownNameError, match="did you mean rewriting"):
        posttraining_task("multi:arithmetic+rewritin")


def test_items_of_the_parts_take_turns_and_are_those_of_each_alone(task: SeveralTasks) -> None:
    taskset = PostTrainingTaskset(task)
    parts = inner_of(taskset.info)
    drawn = taskset.draw("train", 50, ENTROPY)
    assert taskset.draw("train", 7, ENTROPY) == drawn[:7]
    assert [t.index for t in drawn] == list(range(50))
    origins = [part_of(parts, t) for t in drawn]
    assert [name for name, _ in origins[:4]] == ["arithmetic", "rewriting", "text-game", "arithmetic"]
    assert Counter(name for name, _ in origins) == {"arithmetic": 17, "rewriting": 17, "text-game": 16}
    task_indices = taskset.task_indices(50)
    for name in PARTS:
        alone = PostTrainingTaskset(single_task(name)).draw("train", len(task_indices[name]), ENTROPY)
        assert [origins[h][1].spec for h in task_indices[name]] == [t.spec for t in alone]


def test_more_than_a_part_has_is_refused(task: SeveralTasks) -> None:
    PostTrainingTaskset(task).draw("train", 450, ENTROPY)
    with pytest.raises(ConfigError, match="it has 150"):
        PostTrainingTaskset(task).draw("train", 451, ENTROPY)


def test_each_part_is_graded_with_its_own_solver_and_runner(task: SeveralTasks) -> None:
    info = PostTrainingTaskset(task).info
    json.dumps(info.spec)
    inner = inner_of(info)
    for part in task.parts:
        inner_part = inner[part.name]
        assert (inner_part.info, inner_part.solver, inner_part.solving) == (part.inner.info, part.solver, part.solving)


def test_what_the_parts_demand_is_demanded_of_all(task: SeveralTasks) -> None:
    assert (task.level, task.structure["interaction"]) == ("L3", 4)
    assert task.labels == ("rule-based judge",)
    first, *others = task.parts
    few = SeveralTasks((replace(first, space=860), *others))
    assert any(label.startswith("enumerable: 860 ") for label in few.labels)
    assert SeveralTasks((replace(first, private=("answers",)), *others)).private == ("answers",)


def test_the_workspace_has_each_task_as_if_alone_and_the_rows_of_all(task: SeveralTasks) -> None:
    files = workspace_files(task, ENTROPY)
    for name in PARTS:
        alone = workspace_files(single_task(name), ENTROPY)
        assert {p: files[f"tasks/{name}/{p}"] for p in alone} == alone
        assert files[f"tasks/{name}/description.md"].decode() == single_task(name).description
    rows = [json.loads(line) for line in files["data/train.jsonl"].splitlines()]
    whole, half = (Counter(row["task"] for row in part) for part in (rows, rows[: len(rows) // 2]))
    assert all(abs(half[name] - whole[name] / 2) <= 1 for name in PARTS)
    own = [{k: v for k, v in row.items() if k != "task"} for row in rows if row["task"] == "rewriting"]
    lines = files["tasks/rewriting/data/train.jsonl"].splitlines()
    assert own == [json.loads(line) for line in lines]


def test_a_base_of_characters_has_seen_of_each_task_what_its_own_base_has(task: SeveralTasks) -> None:
    recipe = task.recipe
    assert recipe is not None
    assert task.base_models == (f"characters/{NAME}", "smollm2-135m")
    alone = {part.name: part.recipe for part in task.parts if part.recipe}
    assert recipe.steps * recipe.batch == sum(part_recipe.steps * part_recipe.batch for part_recipe in alone.values())
    pairs = {name: set(part_recipe.examples) for name, part_recipe in alone.items()}
    share = {name: sum(pair in own for pair in recipe.examples) / len(recipe.examples) for name, own in pairs.items()}
    for name, part_recipe in alone.items():
        assert share[name] * recipe.steps == pytest.approx(part_recipe.steps, rel=0.35)


def test_tasks_without_a_common_base_begin_with_the_model_that_takes_any() -> None:
    assert posttraining_task("multi:arithmetic+commands").base_models == ("smollm2-135m",)
    assert posttraining_task("multi:commands+shop").base_models == ("smollm2-135m",)
