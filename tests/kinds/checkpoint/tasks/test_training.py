"""The small tasks can be trained on: within a minute of one thread a checkpoint gains more than noise, on both views."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.kinds.checkpoint.tasks.grading import graded

from heredity._core.ids import generator
from heredity.kinds.checkpoint.tasks import PostTrainingTask, PostTrainingTaskset, posttraining_task, workspace_files
from heredity.library.tasks.posttraining.corridor import Corridor

pytest.importorskip("torch")
pytest.importorskip("transformers")

ENTROPY = 99
pytestmark = pytest.mark.slow


def rows(task: PostTrainingTask, path: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in workspace_files(task, ENTROPY)[path].splitlines()]


async def scores(task: PostTrainingTask, checkpoint, split: str) -> np.ndarray:
    """Grade a checkpoint on a view with the task's own runner; the answers are made in batches before."""
    tasks = PostTrainingTaskset(task).draw(split, task.graded if split == "train" else task.heldout, ENTROPY)
    said: dict[str, str] = {}
    if task.secret == "level":
        games = [Corridor(t.spec["level"]) for t in tasks]
        while live := [game for game in games if not game.done]:
            seen = [game.observation for game in live]
            said.update(zip(seen, checkpoint.answers(seen, 1), strict=True))
            for game in live:
                game.step(said[game.observation])
    else:
        questions = [t.spec["question"] for t in tasks]
        said.update(zip(questions, checkpoint.answers(questions, task.solving.max_tokens), strict=True))
    return np.array([t.total_reward for t in await graded(task, tasks, said.__getitem__)])


def lower_bound(gains: np.ndarray) -> float:
    """Return the lower end of the 95% interval of a mean gain, paired by task, by bootstrap."""
    draws = generator(0, "tests", "bootstrap").integers(len(gains), size=(2000, len(gains)))
    return float(np.quantile(gains[draws].mean(1), 0.025))


@pytest.mark.parametrize("name", ["arithmetic", "rewriting"])
async def test_supervised_fine_tuning_gains_more_than_noise(name: str, tmp_path: Path) -> None:
    from tests.kinds.checkpoint.tasks.training import Checkpoint

    from heredity.kinds.checkpoint.models.bases import make_characters

    task = posttraining_task(name)
    checkpoint = Checkpoint(make_characters(tmp_path, task.recipe))
    before = {split: await scores(task, checkpoint, split) for split in ("train", "heldout")}
    checkpoint.tune([(r["prompt"], r["completion"]) for r in rows(task, "data/train.jsonl")], 500)
    for split, base in before.items():
        gains = await scores(task, checkpoint, split) - base
        assert 0.2 < base.mean() < 0.6
        assert lower_bound(gains) > 0.1


async def test_the_failure_fixture_stays_a_failure(tmp_path: Path) -> None:
    from tests.kinds.checkpoint.tasks.training import Checkpoint

    from heredity.kinds.checkpoint.models.bases import make_characters

    task = posttraining_task("arithmetic-hard")
    checkpoint = Checkpoint(make_characters(tmp_path, task.recipe))
    base = await scores(task, checkpoint, "heldout")
    checkpoint.tune([(r["prompt"], r["completion"]) for r in rows(task, "data/train.jsonl")], 300)
    gains = await scores(task, checkpoint, "heldout") - base
    assert base.mean() < 0.05
    assert lower_bound(gains) < 0.03


async def test_playing_and_learning_from_the_shortest_wins_gains_more_than_noise(tmp_path: Path) -> None:
    from tests.kinds.checkpoint.tasks.training import Checkpoint

    from heredity.kinds.checkpoint.models.bases import make_characters

    task = posttraining_task("text-game")
    checkpoint = Checkpoint(make_characters(tmp_path, task.recipe))
    base = await scores(task, checkpoint, "heldout")
    levels = [row["level"] for row in rows(task, "data/levels.jsonl")]
    kept: dict[str, tuple[int, str]] = {}
    draws = generator(0, "tests", "practice")
    for _ in range(3):
        chosen = [levels[i] for i in draws.choice(len(levels), 300, replace=False)]
        for game in won(checkpoint, chosen * 4):
            for left, (seen, action) in enumerate(reversed(game)):
                if seen not in kept or left < kept[seen][0]:
                    kept[seen] = left, action
        checkpoint.tune([(seen, action) for seen, (_, action) in kept.items()], 100)
    gains = await scores(task, checkpoint, "heldout") - base
    assert 0.1 < base.mean() < 0.6
    assert lower_bound(gains) > 0.05


def won(checkpoint, levels: list[str]) -> list[list[tuple[str, str]]]:
    """Play levels with sampled actions, and return what was seen and done in each game that was won."""
    games = [(Corridor(level), list[tuple[str, str]]()) for level in levels]
    while live := [(game, done) for game, done in games if not game.done]:
        seen = [game.observation for game, _ in live]
        for (game, done), action in zip(live, checkpoint.answers(seen, 1, sampled=True), strict=True):
            done.append((game.observation, action))
            game.step(action)
    return [done for game, done in games if game.score]
