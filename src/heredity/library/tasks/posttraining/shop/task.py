"""The task of shopping: requests, separate shops for practice and for grading, and the steps of its reference solution."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any

from heredity._core.outside import jsonl
from heredity.kinds.checkpoint.tasks.contract import TRAIN_FILE, PostTrainingTask, plain_solver
from heredity.kinds.checkpoint.tasks.env.shop import INSTRUCTION, STEPS, Goal, ShopEpisode, goal_of, oracle
from heredity.kinds.checkpoint.tasks.kinds import (
    SEEDS,
    GameProcess,
    LocalGameProcess,
    demonstrated,
    environment_files,
    episode_info,
    episode_solving,
    seed_of,
)
from heredity.kinds.checkpoint.tasks.taskset import DealtTaskset, Spec
from heredity.library.tasks.posttraining.shop.catalogue import open_shop, wishes
from heredity.models import Model

GRADED = 100
HELDOUT = 100
PRACTICE = 200

_DESCRIPTION = f"""\
# Shopping by search and click

The model is given a request and buys one product in at most {STEPS} steps: it searches, opens products, chooses options, and buys.
The reward is from 0 to 1: the share of the wanted features, options and the price limit that the purchase meets, halved for another
category of the same department, and nothing beyond that department. Not buying pays nothing.

- `data/train.jsonl`: the steps of {PRACTICE} purchases that pay 1, each with `prompt` (exactly as the graded model is asked), the
  `completion`, and the `episode`.
- `data/episodes.jsonl`: the same {PRACTICE} requests: `question` is the request, `goal` what is rewarded.
- `data/catalogue.json`: what the shop for practice sells.
- `env/`: the game itself. `env.rollout.play(ShopEpisode(shop, goal), env.shop.INSTRUCTION, reply)` plays an episode as it is played
  when a checkpoint is graded, and returns prompts, replies and rewards:

```text
import json
from env.rollout import play
from env.shop import INSTRUCTION, Shop, ShopEpisode, goal_of
shop = Shop.of(json.load(open("data/catalogue.json")))
goals = [goal_of(json.loads(line)["goal"]) for line in open("data/episodes.jsonl")]
played = play(ShopEpisode(shop, goals[0]), INSTRUCTION, reply=my_model)
```

A submission shops for {GRADED} other requests, greedily, in a shop that sells other products. Its score is the mean reward.
The shop, its goods and its requests are made up here; it is not the WebShop data.
"""


def shop() -> PostTrainingTask:
    """Return the task of shopping (L3): WebShop's actions and the shape of its reward, in a small shop of our own."""
    info = episode_info("shop", f"{__name__}:open_game_process", version="1", description=_DESCRIPTION, family="shop")
    return PostTrainingTask(
        name="shop",
        level="L3",
        title="Shopping by search and click",
        description=_DESCRIPTION,
        base_models=("smollm2-135m",),
        inner=DealtTaskset(info, _deal),
        solver=plain_solver(INSTRUCTION + "\n\n{{question}}"),
        solving=episode_solving(),
        metric="mean reward",
        materials=_materials,
        graded=GRADED,
        heldout=HELDOUT,
        structure={"capability": 4, "interaction": 5, "reward": 5, "horizon": 5},
        labels=("generated",),
        space=SEEDS,
    )


@asynccontextmanager
async def open_game_process(spec: Spec, judge: Model | None) -> AsyncGenerator[GameProcess]:
    """Open the shop of a task's spec; only rules decide the reward."""
    yield LocalGameProcess(ShopEpisode(open_shop(spec["shop"]), goal_of(spec["goal"])))


def _deal(entropy: int) -> Mapping[str, Sequence[Spec]]:
    practice, seed = seed_of(entropy, "shop", "practice"), seed_of(entropy, "shop", "views")
    practised = [goal for goal, _ in wishes(practice, PRACTICE)]
    # Two shops may by chance be asked for the same: no request of a view is one that was practised.
    wanted = wishes(seed, GRADED + HELDOUT, avoid={goal.request for goal in practised})
    views = _specs(seed, [goal for goal, _ in wanted])
    return {"train": _specs(practice, practised), "validation": views[:GRADED], "heldout": views[GRADED:]}


def _specs(seed: int, goals: Sequence[Goal]) -> list[dict[str, Any]]:
    return [{"question": goal.request, "goal": asdict(goal), "shop": seed} for goal in goals]


def _materials(entropy: int) -> Mapping[str, bytes]:
    seed = seed_of(entropy, "shop", "practice")
    store = open_shop(seed)
    wanted = wishes(seed, PRACTICE)
    rows = [
        {**row, "episode": number}
        for number, (goal, target) in enumerate(wanted)
        for row in demonstrated(ShopEpisode(store, goal), INSTRUCTION, oracle(store, goal, target))
    ]
    return {
        TRAIN_FILE: jsonl(rows),
        "data/episodes.jsonl": jsonl({"question": goal.request, "goal": asdict(goal)} for goal, _ in wanted),
        "data/catalogue.json": json.dumps([asdict(p) for p in store.products.values()]).encode(),
        **environment_files("ranking", "shop"),
    }
