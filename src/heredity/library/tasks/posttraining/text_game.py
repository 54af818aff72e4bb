"""A corridor game, played by a model that sees it as a line of characters (L3): progress requires playing and learning from it.

The few demonstrations are already learned by the base; the practice levels have no solutions.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import AsyncGenerator, Container, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from itertools import islice
from pathlib import Path

import numpy as np

from heredity._core.ids import generator
from heredity._core.outside import jsonl
from heredity.engine.actor import Solving
from heredity.kinds.checkpoint.tasks.contract import TRAIN_FILE, BaseRecipe, PostTrainingTask, plain_solver
from heredity.kinds.checkpoint.tasks.kinds import GLIMPSE, GameProcess, LocalGameProcess, episode_info
from heredity.kinds.checkpoint.tasks.taskset import DealtTaskset, Spec
from heredity.library.tasks.posttraining import corridor
from heredity.library.tasks.posttraining.corridor import ACTIONS, Corridor
from heredity.models import Model

ALPHABET = ".@&kD^#" + ACTIONS
_SIZE = 14
_THINGS = "@kD^^^#"
_SHORTEST = 3
SPACE = 1_073_864
"""How many levels can be won in time and take at least three actions: all 2,882,880 corridors with these things were tried."""

_DEMONSTRATED, _GRADED, _HELDOUT, _PRACTICE = 250, 150, 200, 2000

_DESCRIPTION = f"""\
# A game in a corridor

The model sees a corridor of {_SIZE} cells as one line, such as `.^k#.@..^..D^.`, and replies with one character: `l` or `r` for a
step, `L` or `R` for a jump over one cell. It has to land on the key `k`, then go through the door `D`, within {corridor.STEPS}
actions; a pit `^` ends the game, a rock `#` only stops. With the key it is shown as `&` and not `@`. There is no chat template:
the prompt is the line itself, and only the line.

- `game.py`: the game, for online rollouts: `Corridor(level)` with `observation`, `done` and `score`; `reset()` begins, and
  `step(action)` returns what is seen, what it pays, and whether the game has ended.
- `data/levels.jsonl`: {_PRACTICE} levels to practise on, without solutions.
- `data/train.jsonl`: the steps of {_DEMONSTRATED} solved games, with `prompt` and `completion`; the base model has
  learned from these.

A submission plays {_GRADED} other levels, greedily; its score is the share of games won.
"""


def text_game() -> PostTrainingTask:
    """Return the task."""
    demonstrated = list(islice(_levels(generator(0, "posttraining", "text-game", "known"), ()), _DEMONSTRATED))
    shown = [row for level in demonstrated for row in _demonstration(level)]
    # A game that was demonstrated passes through what other games begin with: nobody is graded on these.
    shown_levels = {row["prompt"] for row in shown}.union(
        re.findall(r"[.@kD^#]{14}", Path(corridor.__file__).read_text("utf-8"))
    )

    @lru_cache(maxsize=4)
    def deal(entropy: int) -> Mapping[str, Sequence[Mapping[str, str]]]:
        drawn = _levels(generator(entropy, "posttraining", "text-game", "deal"), shown_levels)
        counts = {"validation": _GRADED, "heldout": _HELDOUT, "train": _PRACTICE}
        return {split: [{"level": level} for level in islice(drawn, count)] for split, count in counts.items()}

    def materials(entropy: int) -> Mapping[str, bytes]:
        game = Path(corridor.__file__).read_bytes()
        return {TRAIN_FILE: jsonl(shown), "data/levels.jsonl": jsonl(deal(entropy)["train"]), "game.py": game}

    info = episode_info(
        "text-game",
        f"{__name__}:open_game_process",
        kind=GLIMPSE,
        version="3",
        description=_DESCRIPTION,
        family="games",
    )
    return PostTrainingTask(
        name="text-game",
        level="L3",
        title="Fetch the key and open the door",
        description=_DESCRIPTION,
        base_models=("characters/text-game",),
        inner=DealtTaskset(info, deal),
        solver=plain_solver(),
        solving=Solving(max_turns=1, max_tokens=1, temperature=0.0, seconds=600.0),
        metric="share of games won",
        materials=materials,
        graded=_GRADED,
        heldout=_HELDOUT,
        structure={"capability": 2, "interaction": 4, "reward": 2, "horizon": 3},
        secret="level",
        space=SPACE,
        recipe=BaseRecipe(ALPHABET, tuple((row["prompt"], row["completion"]) for row in shown), steps=250),
    )


@asynccontextmanager
async def open_game_process(spec: Spec, judge: Model | None) -> AsyncGenerator[GameProcess]:
    """Open the corridor of a task's spec; only its rules decide the reward."""
    yield LocalGameProcess(Corridor(spec["level"]))


def _levels(rng: np.random.Generator, shown_levels: Container[str]) -> Iterator[str]:
    """Draw distinct, unpublished levels, uniformly among those that can be won in time and take at least three actions."""
    seen = set[str]()
    while True:
        cells = ["."] * _SIZE
        for cell, thing in zip(rng.permutation(_SIZE)[: len(_THINGS)], _THINGS, strict=True):
            cells[cell] = thing
        level = "".join(cells)
        if level not in seen and level not in shown_levels and _SHORTEST <= len(solve(level)) <= corridor.STEPS:
            seen.add(level)
            yield level


def solve(level: str) -> str:
    """Return a shortest sequence of actions that wins a level, found by breadth-first search; `""` if there is none."""
    game = Corridor(level)
    begin = game.place, game.has_key
    reached, waiting = {begin}, deque([("", begin)])
    while waiting:
        path, at = waiting.popleft()
        for action in ACTIONS:
            game.reset()
            game.place, game.has_key = at
            game.move(action)
            if game.score:
                return path + action
            after = game.place, game.has_key
            if not game.done and after not in reached:
                reached.add(after)
                waiting.append((path + action, after))
    return ""


def _demonstration(level: str) -> Iterator[dict[str, str]]:
    game = Corridor(level)
    for action in solve(level):
        yield {"prompt": game.observation, "completion": action, "level": level}
        game.step(action)
