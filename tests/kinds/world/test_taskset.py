from __future__ import annotations

import json

import pytest

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.ids import canonical_json, digest_json
from heredity.kinds.world.taskset import WorldTaskset
from heredity.kinds.world.world import world, world_names
from heredity.tasks.registry import taskset, taskset_names

NAME = "worlds/grid_treasure"


def test_every_world_is_a_taskset() -> None:
    assert {f"worlds/{name}" for name in world_names()} <= set(taskset_names())


def test_train_levels_are_fresh_all_different_and_take_turns_in_difficulty() -> None:
    tasks = taskset(NAME).draw("train", 9, entropy=5)
    digests = {digest_json(task.spec["level"]) for task in tasks}
    shipped = {digest_json(dict(level.data)) for levels in world("grid_treasure").shipped.values() for level in levels}
    assert len(digests) == 9
    assert not digests & shipped
    assert [task.spec["id"].rpartition("-")[2] for task in tasks] == list("123123123")


def test_the_same_entropy_draws_the_same_levels_and_more_of_them_begin_alike() -> None:
    tasks = taskset(NAME)
    assert tasks.draw("train", 4, 5) == tasks.draw("train", 6, 5)[:4]
    assert tasks.draw("train", 4, 5) != tasks.draw("train", 4, 6)


def test_validation_and_held_out_are_the_shipped_levels_and_said_to_be_public() -> None:
    tasks = taskset(NAME)
    assert {t.spec["id"] for t in tasks.draw("heldout", 10, 1)} == {f"test-{i:02d}" for i in range(1, 11)}
    assert {t.spec["id"] for t in tasks.draw("validation", 5, 1)} == {f"validation-{i:02d}" for i in range(1, 6)}
    assert tasks.info.public["hidden"].startswith("public")


def test_the_first_held_out_levels_are_of_every_difficulty() -> None:
    shipped = world("grid_treasure")
    drawn = taskset(NAME).draw("heldout", 3, 1)
    assert [shipped.level(t.spec["id"]).difficulty for t in drawn] == [1, 2, 3]


def test_more_than_is_shipped_is_refused_with_the_counts_and_what_to_set() -> None:
    with pytest.raises(ConfigError, match=r"5 of validation, 10 of heldout: set views.heldout to 10"):
        taskset(NAME).draw("heldout", 11, 1)
    with pytest.raises(ConfigError, match=r"views\.validation to 1"):
        taskset(f"{NAME}?difficulty=3").draw("validation", 3, 1)


def test_a_task_holds_all_that_a_runner_needs_as_json() -> None:
    [task] = taskset(f"{NAME}?skin=inverse&difficulty=2").draw("train", 1, 3)
    assert task.spec.keys() == {"world", "level", "bound", "skin", "id"}
    assert (task.spec["world"], task.spec["skin"], task.spec["bound"]) == ("grid_treasure", "inverse", 1.0)
    assert world("grid_treasure").play(json.loads(canonical_json(task.spec["level"]))) == 1.0
    assert "level" not in repr(task)


def test_options_have_one_canonical_order() -> None:
    assert taskset(f"{NAME}?skin=inverse&difficulty=2").info.name == f"{NAME}?difficulty=2&skin=inverse"
    assert taskset(f"{NAME}?skin=text").info.name == NAME


@pytest.mark.parametrize("name", world_names())
def test_what_evolvers_may_know_gives_nothing_away(name: str) -> None:
    described, info = world(name).description, WorldTaskset(name).info
    public = json.dumps(dict(info.public))
    assert set(info.public) == {
        *("taskset", "metric", "instruction", "legend", "actions", "reward", "steps", "skin", "train_tasks", "hidden")
    }
    assert described.instruction.strip() == info.public["instruction"]
    for secret in (described.meta.summary, described.observation, described.generator):
        assert secret not in public
        assert secret not in info.description
    assert info.failure_return == 0.0


@pytest.mark.parametrize(
    ("query", "error", "words"),
    [
        ("?skin=picure", UnknownNameError, "picture"),
        ("?difficulty=4", ConfigError, "expected 1, 2 or 3"),
        ("?difficulty=hard", ConfigError, "expected 1, 2 or 3"),
        ("?dificulty=1", UnknownNameError, "difficulty"),
        ("?skin", ConfigError, "write .key="),
        ("?skin=text&skin=inverse", ConfigError, "each key once"),
        ("x", UnknownNameError, "grid_treasure"),
    ],
)
def test_a_wrong_name_or_option_says_what_is_right(query: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        taskset(NAME + query)


def test_a_wrong_split_or_count_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="heldout"):
        taskset(NAME).draw("held-out", 1, 1)
    with pytest.raises(ConfigError, match="0 or more"):
        taskset(NAME).draw("train", -1, 1)
