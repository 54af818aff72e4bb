"""In-domain fine-tuning on a world in rules (AutoEnv, appendix E.2): a small model, held-out levels, an interval."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heredity import library
from heredity._core.ids import generator
from heredity.kinds.checkpoint.models.bases import base_model
from heredity.kinds.checkpoint.tasks import PostTrainingTaskset, posttraining_task, workspace_files
from heredity.kinds.world.world import world
from heredity.library.tasks.posttraining.world import WorldGame
from heredity.tasks import Task

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

AGENT = Path(library.__path__[0]) / "agents" / "posttraining"
SORTER = Path(__file__).with_name("tasks") / "sorter"
UPDATES, BATCH = 150, 64


@pytest.fixture
def policy_module() -> Iterator[Any]:
    sys.path.insert(0, str(AGENT))
    try:
        yield importlib.import_module("policy")
    finally:
        sys.path.remove(str(AGENT))
        sys.modules.pop("policy", None)
        sys.modules.pop("lora", None)


def played(policy: Any, levels: Sequence[Task]) -> np.ndarray:
    """The share of the bound on each level, greedily."""
    games = [WorldGame(world(one.spec["world"]), one.spec["level"], one.spec["bound"]) for one in levels]
    seen, shares = [game.reset() for game in games], np.zeros(len(games))
    open_ = set(range(len(games)))
    while open_:
        order = sorted(open_)
        replies = policy.sample([policy.encode(seen[n]) for n in order], temperature=0.0, limit=1)
        for n, reply in zip(order, replies, strict=True):
            seen[n], paid, done = games[n].step(policy.text(reply))
            shares[n] += paid
            if done:
                open_.remove(n)
    return shares


@pytest.mark.slow
def test_a_small_model_tuned_on_a_world_gains_on_levels_that_it_never_saw(policy_module: Any, tmp_path: Path) -> None:
    task = posttraining_task(f"world:{SORTER}")
    rows = [json.loads(line) for line in workspace_files(task, 7)["data/train.jsonl"].splitlines()]
    heldout = PostTrainingTaskset(task).draw("heldout", task.heldout, 7)
    policy = policy_module.Policy(base_model(task.base_models[0], tmp_path), seed=0)
    before = played(policy, heldout)
    turns = [policy.turn(row["prompt"], row["completion"]) for row in rows]
    optimizer, draws = torch.optim.AdamW(policy.parameters, lr=1e-3), generator(7, "tuning")
    for _ in range(UPDATES):
        logprobs, mask = policy.logprobs([turns[int(n)] for n in draws.integers(len(turns), size=BATCH)])
        loss = -(logprobs * mask).sum() / mask.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    gains = played(policy, heldout) - before
    resampled = gains[draws.integers(len(gains), size=(2000, len(gains)))].mean(axis=1)
    low, high = np.quantile(resampled, [0.025, 0.975])
    assert low > 0, f"gain {gains.mean():.3f} [{low:.3f}, {high:.3f}] from {before.mean():.3f}"
    sys.stdout.write(f"before {before.mean():.3f}, gain {gains.mean():.3f} [{low:.3f}, {high:.3f}]\n")
