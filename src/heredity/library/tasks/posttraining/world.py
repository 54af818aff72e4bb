"""In-domain fine-tuning on one world (AutoEnv, appendix E.2): `posttraining/world:NAME`, or the path of a folder in rules.

A small model is trained on steps of good play on levels of the world and plays other levels of it. Here good play is
800 steps of the reference solution, four fifths of them for training. Levels are drawn by the suite's entropy; graded
and held-out levels are never in the data.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from heredity._core.errors import ConfigError
from heredity._core.ids import digest_json, generator
from heredity._core.outside import jsonl
from heredity.engine.actor import Solving
from heredity.kinds.checkpoint.tasks.contract import TRAIN_FILE, BaseRecipe, PostTrainingTask, plain_solver
from heredity.kinds.checkpoint.tasks.kinds import GLIMPSE, GameProcess, LocalGameProcess, episode_info
from heredity.kinds.checkpoint.tasks.taskset import DealtTaskset, Spec
from heredity.kinds.world.commands.training_examples import ALPHABET, Glimpses
from heredity.kinds.world.taskset import world_digest
from heredity.kinds.world.world import DIFFICULTIES, Level, World, world
from heredity.models import Model

EXAMPLES, SHARE = 800, 0.8
"""Steps of good play, and how many of them are to train on."""
_GRADED, _HELDOUT = 40, 100
_KNOWN = 2
"""Levels that the base has learned from, so that it writes actions and plays badly."""
_MISSES = 200

_DESCRIPTION = """\
# {title}

A model plays the world `{name}`: {summary}

At each step the model sees one line, what the world exposes now, such as `{line}`, and replies with one character, an action:
{actions}. There is no chat template: the prompt is the line itself. Other characters are refused and cost their step.

- `data/train.jsonl`: {count} steps of good play, with `prompt` and `completion`.
- `data/validation.jsonl`: further steps, to stop by.

A submission plays {graded} other levels, greedily; its score is the mean of what it collects over the level's bound.
"""


def world_task(name: str) -> PostTrainingTask:
    """Return the task of a world.

    Args:
        name: name of an installed or composed world, or the path of a folder whose rules are YAML.

    Raises:
        UnknownNameError: if the world is unknown.
        ConfigError: if it is faulty, or a character model cannot play it because of too many actions or observations.
    """
    made = world(name)
    glimpses, familiar = Glimpses(made), _levels(made, 0, "known", _KNOWN, frozenset())
    apart = frozenset(digest_json(dict(level.data)) for level in familiar)
    shown = tuple(pair for level in familiar for pair in glimpses.demonstrated(level.data))

    def deal(entropy: int) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        levels = _levels(made, entropy, "deal", _GRADED + _HELDOUT, apart)
        specs = [_spec(name, level) for level in levels]
        return {"validation": specs[:_GRADED], "heldout": specs[_GRADED:], "train": []}

    def materials(entropy: int) -> Mapping[str, bytes]:
        hidden = {digest_json(spec["level"]) for specs in deal(entropy).values() for spec in specs}
        rows = examples(made, entropy, hidden)
        split = round(SHARE * len(rows))
        return {TRAIN_FILE: jsonl(rows[:split]), "data/validation.jsonl": jsonl(rows[split:])}

    meta, description = made.description.meta, _described(made, glimpses, shown[0][0])
    info = episode_info(
        f"world:{made.name}",
        f"{__name__}:open_world_process",
        kind=GLIMPSE,
        version=f"1 {world_digest(name)[:12]}",
        description=description,
        family="worlds",
    )
    return PostTrainingTask(
        name=f"world:{name}",
        level="L3",
        title=f"Play {meta.title}",
        description=description,
        base_models=(f"characters/world:{name}",),
        inner=DealtTaskset(info, deal),
        solver=plain_solver(),
        solving=Solving(max_turns=1, max_tokens=1, temperature=0.0, seconds=600.0),
        metric="share of the bounds",
        materials=materials,
        graded=_GRADED,
        heldout=_HELDOUT,
        structure={"capability": 3, "interaction": 4, "reward": 2, "horizon": 3},
        secret="level",
        recipe=BaseRecipe(ALPHABET, shown, steps=40),
        labels=("trained on the reference solution",),
    )


def _described(made: World, glimpses: Glimpses, line: str) -> str:
    meta = made.description.meta
    return _DESCRIPTION.format(
        title=meta.title,
        name=made.name,
        summary=meta.summary,
        line=line,
        actions=", ".join(f"`{key}` {_said(action)}" for key, action in glimpses.actions.items()),
        count=round(SHARE * EXAMPLES),
        graded=_GRADED,
    )


def examples(made: World, entropy: int, hidden: set[str], count: int = EXAMPLES) -> list[dict[str, str]]:
    """Return steps of the reference solution on levels drawn by entropy that are not hidden, in random order.

    Args:
        made: the world.
        entropy: source of levels and order.
        hidden: digests of excluded levels.
        count: number of steps.
    """
    glimpses, rows = Glimpses(made), list[dict[str, str]]()
    for level in _drawn(made, entropy, "train", frozenset(hidden)):
        rows += [{"prompt": line, "completion": character} for line, character in glimpses.demonstrated(level.data)]
        if len(rows) >= count:
            break
    order = generator(entropy, "posttraining", "world", made.name, "order").permutation(count)
    return [rows[int(index)] for index in order]


class WorldGame:
    """A level as a game of characters; it pays once, at its end: the collected reward over the upper bound, from 0 to 1."""

    def __init__(self, made: World, data: Mapping[str, Any], bound: float) -> None:
        self._made, self._data, self._bound, self._glimpses = made, data, bound, Glimpses(made)
        self._episode = made.start(data)
        self.steps = self._episode.steps

    def reset(self) -> str:
        """Begin the level."""
        self._episode = self._made.start(self._data)
        return self._glimpses.line(self._episode)

    def step(self, action: str) -> tuple[str, float, bool]:
        """Take an action; other texts are refused."""
        episode = self._episode
        episode.step(self._glimpses.read(action))
        share = min(1.0, max(0.0, episode.total / self._bound)) if episode.done else 0.0
        return self._glimpses.line(episode), share, episode.done


@asynccontextmanager
async def open_world_process(spec: Spec, judge: Model | None) -> AsyncGenerator[GameProcess]:
    """Open the level of a task's spec; only the world's rules decide the reward."""
    yield LocalGameProcess(WorldGame(world(spec["world"]), spec["level"], spec["bound"]))


def _spec(name: str, level: Level) -> dict[str, Any]:
    return {"world": name, "level": dict(level.data), "bound": level.upper_bound.value}


def _said(action: Any) -> str:
    return " ".join([action.name, *map(str, action.params.values())])


@cache
def _levels(made: World, entropy: int, what: str, count: int, apart: frozenset[str]) -> tuple[Level, ...]:
    drawn = _drawn(made, entropy, what, apart)
    return tuple(next(drawn) for _ in range(count))


def _drawn(made: World, entropy: int, what: str, apart: frozenset[str]) -> Iterator[Level]:
    """Yield distinct levels endlessly, cycling through difficulties, excluding those in `apart` (digests of their data)."""
    draws, seen, misses = generator(entropy, "posttraining", "world", made.name, what), set(apart), 0
    while misses < _MISSES:
        level = made.make(int(draws.integers(2**31)), DIFFICULTIES[len(seen) % len(DIFFICULTIES)])
        digest = digest_json(dict(level.data))
        if digest in seen:
            misses += 1
        else:
            seen.add(digest)
            misses = 0
            yield level
    raise ConfigError(
        f"{made.name} has only about {len(seen)} levels; {_GRADED + _HELDOUT} and those to train on must differ"
    )
