"""A game in a corridor, played by a model that sees it as a line of characters (L3): what helps is to play, and learn from it.

The demonstrations are few and the base has learned them; the levels to practise on have no solutions.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import copy
from functools import cache
from itertools import permutations
from pathlib import Path

from heredity.actors.contract import Solving
from heredity.gateway import Model
from heredity.ids import generator
from heredity.library.tasks.posttraining import corridor
from heredity.library.tasks.posttraining.corridor import ACTIONS, Corridor
from heredity.posttraining.tasks.contract import TRAIN_FILE, BaseRecipe, PostTrainingTask, plain_solver
from heredity.posttraining.tasks.dealing import DealtTaskset, Spec, jsonl
from heredity.posttraining.tasks.episodes import GLIMPSE, GameProcess, LocalGameProcess, episode_info

ALPHABET = ".@&kD^" + ACTIONS
_SIZE = 8
_SHORTEST = 3
_DEMONSTRATED, _GRADED, _HELDOUT, _PRACTICE = 80, 150, 200, 400

_DESCRIPTION = f"""\
# A game in a corridor

The model sees a corridor of {_SIZE} cells as one line, such as `.k.@.^D.`, and replies with one character: `l` or `r` for a step,
`L` or `R` for a jump over one cell. It has to land on the key `k`, then go through the door `D`, within {corridor.STEPS} actions;
the pit `^` ends the game. With the key it is shown as `&` and not `@`. There is no chat template: the prompt is the line itself,
and only the line.

- `game.py`: the game, for online rollouts: `Corridor(level)` with `observation`, `done` and `score`; `reset()` begins, and
  `step(action)` returns what is seen, what it pays, and whether the game has ended.
- `data/levels.jsonl`: {_PRACTICE} levels to practise on, without solutions.
- `data/train.jsonl`: the steps of {_DEMONSTRATED} solved games, with `prompt` and `completion`; the base model has
  learned from these.

A submission plays {_GRADED} other levels, greedily; its score is the share of games won.
"""


def text_game() -> PostTrainingTask:
    """Return the task."""
    order = generator(0, "posttraining", "text-game", "known").permutation(len(levels()))
    shuffled = [levels()[i] for i in order]
    demonstrated, others = shuffled[:_DEMONSTRATED], shuffled[_DEMONSTRATED:]
    shown = [row for level in demonstrated for row in _demonstration(level)]
    # A game that was demonstrated passes through what other games begin with: these are to practise on alone.
    told = {row["prompt"] for row in shown}.union(re.findall(r"[.@kD^]{8}", Path(corridor.__file__).read_text("utf-8")))
    met, others = [level for level in others if level in told], [level for level in others if level not in told]

    def deal(entropy: int) -> Mapping[str, Sequence[Mapping[str, str]]]:
        dealt = [others[i] for i in generator(entropy, "posttraining", "text-game", "deal").permutation(len(others))]
        hidden = _GRADED + _HELDOUT
        practice = [*dealt[hidden:], *met][:_PRACTICE]
        splits = {"validation": dealt[:_GRADED], "heldout": dealt[_GRADED:hidden], "train": practice}
        return {split: [{"level": level} for level in own] for split, own in splits.items()}

    def materials(entropy: int) -> Mapping[str, bytes]:
        game = Path(corridor.__file__).read_bytes()
        return {TRAIN_FILE: jsonl(shown), "data/levels.jsonl": jsonl(deal(entropy)["train"]), "game.py": game}

    info = episode_info(
        "text-game",
        f"{__name__}:open_game_process",
        kind=GLIMPSE,
        version="2",
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
        space=len(levels()),
        recipe=BaseRecipe(ALPHABET, tuple((row["prompt"], row["completion"]) for row in shown), steps=200),
    )


@asynccontextmanager
async def open_game_process(spec: Spec, judge: Model | None) -> AsyncGenerator[GameProcess]:
    """Open the corridor of a task's spec; nothing but its rules decides the reward."""
    yield LocalGameProcess(Corridor(spec["level"]))


@cache
def levels() -> tuple[str, ...]:
    """Return every level that can be solved and takes at least three actions, in a fixed order."""
    solvable: list[str] = []
    for places in permutations(range(_SIZE), 4):
        cells = ["."] * _SIZE
        for position, thing in zip(places, "@kD^", strict=True):
            cells[position] = thing
        level = "".join(cells)
        if len(solve(level)) >= _SHORTEST:
            solvable.append(level)
    return tuple(solvable)


def solve(level: str) -> str:
    """Return a shortest sequence of actions that wins a level, found by breadth-first search; `""` if there is none."""
    reached, waiting = {level}, deque([("", Corridor(level))])
    while waiting:
        path, before = waiting.popleft()
        for action in ACTIONS:
            game = copy(before)
            game.step(action)
            if game.score:
                return path + action
            if not game.done and game.observation not in reached:
                reached.add(game.observation)
                waiting.append((path + action, game))
    return ""


def _demonstration(level: str) -> Iterator[dict[str, str]]:
    game = Corridor(level)
    for action in solve(level):
        yield {"prompt": game.observation, "completion": action, "level": level}
        game.step(action)
