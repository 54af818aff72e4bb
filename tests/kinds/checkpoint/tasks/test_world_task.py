"""A world as a post-training task."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heredity._core.errors import ConfigError
from heredity._core.ids import digest_json
from heredity.bench.attempts import RULES
from heredity.kinds.checkpoint.tasks.registry import SOURCE, workspace_files
from heredity.kinds.checkpoint.tasks.taskset import PostTrainingTaskset
from heredity.kinds.world.commands.training_examples import Glimpses
from heredity.kinds.world.world import world
from heredity.library.tasks.posttraining.world import WorldGame, open_world_process, world_task

NAME = "grid_treasure"


def test_levels_that_grade_are_held_out_or_known_to_the_base_are_disjoint_and_new_for_each_suite() -> None:
    task = world_task(NAME)
    views = PostTrainingTaskset(task)
    graded, heldout = views.draw("train", task.graded, 5), views.draw("heldout", task.heldout, 5)
    digests = [digest_json(one.spec["level"]) for one in (*graded, *heldout)]
    assert len(set(digests)) == task.graded + task.heldout
    assert task.recipe is not None
    known = {line for line, _ in task.recipe.examples}
    first = {Glimpses(world(NAME)).line(world(NAME).start(one.spec["level"])) for one in heldout}
    assert len(first & known) <= 2  # two levels may begin alike
    assert [one.spec for one in views.draw("heldout", 5, 6)] != [one.spec for one in heldout[:5]]


def test_the_workspace_has_800_steps_of_good_play_a_fifth_of_them_for_validation() -> None:
    files = workspace_files(world_task(NAME), 5)
    rows = {path: [json.loads(line) for line in data.splitlines()] for path, data in files.items()}
    assert {path: len(lines) for path, lines in rows.items()} == {"data/train.jsonl": 640, "data/validation.jsonl": 160}
    assert {row["completion"] for row in rows["data/train.jsonl"]} <= set(Glimpses(world(NAME)).actions)
    assert workspace_files(world_task(NAME), 5) == files


async def test_a_game_pays_once_at_its_end_what_the_world_pays_over_the_bound() -> None:
    made = world(NAME)
    level = made.level("test-01")
    spec = {"world": NAME, "level": dict(level.data), "bound": level.upper_bound.value}
    async with open_world_process(spec, None) as game:
        seen, paid = [await game.reset()], []
        for line, character in Glimpses(made).demonstrated(level.data):
            assert line == seen[-1]
            observation, reward, done = await game.step(character)
            seen.append(observation)
            paid.append(reward)
        assert done
        assert paid == [0.0] * (len(paid) - 1) + [1.0]
        await game.reset()
        for _ in range(game.steps):
            _, reward, done = await game.step("~")
        assert (reward, done) == (0.0, True)
    farm = world("valley_farm").level("test-01")
    losing = WorldGame(world("valley_farm"), farm.data, -1.0)
    losing.reset()
    shares = [losing.step("a")[1] for _ in range(losing.steps)]
    assert all(0.0 <= share <= 1.0 for share in shares)


def test_the_path_of_a_world_in_rules_is_a_task_wherever_it_is_named(tmp_path: Path) -> None:
    folder = RULES / NAME
    name = SOURCE.located(f"posttraining/world:./{NAME}", folder.parent)
    assert name == f"posttraining/world:{folder}"
    assert SOURCE.located(f"posttraining/world:{NAME}", tmp_path) == f"posttraining/world:{NAME}"
    assert world_task(str(folder)).base_models == (f"characters/world:{folder}",)
    with pytest.raises(ConfigError, match="--form chat"):
        world_task("gear_train")
