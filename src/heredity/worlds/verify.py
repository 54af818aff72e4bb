"""Verification of levels: is the reference solution right, and can any cheap trick pay or beat the bound?

Nothing here knows a world's rules: what is tried is what a careless or a cunning agent would try.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from heredity.ids import generator
from heredity.workers import process_pool
from heredity.worlds.actions import sample_action
from heredity.worlds.contract import Action
from heredity.worlds.description import Description, Parameter
from heredity.worlds.episode import Episode
from heredity.worlds.world import Level, World, world

SLACK = 1e-9
MALFORMED: tuple[object, ...] = (
    None,
    7,
    "",
    [],
    {"action": "no such action"},
    {"action": 3},
    {"action": None, "params": None},
)
"""What is no action of any world."""
ENDS = 3
"""Values of a number that `plain_actions` takes: the ends and the middle of its range."""


@dataclass(frozen=True, slots=True)
class LevelReport:
    """What was found on a level; scores are shares of the bound.

    Attributes:
        world: the world's name; `level`: the level's.
        kind: of the bound, `"exact"` or `"proven"`; `upper_bound`: its value.
        solvable: whether the reference solution earns something (of a binary world: succeeds).
        reference: what the reference solution gets.
        random: mean over random agents; `random_best`: the best of them.
        repeated: the most that one action earns if it is done over and over.
        idle: the most that an action earns which is described as idle, done over and over: none if all is well.
        invalid: what an agent earns whose actions are all refused.
        greedy: the most that a searcher found that tries to beat the bound.
        faults: what is wrong, in words; none is well.
    """

    world: str
    level: str
    kind: str
    upper_bound: float
    solvable: bool
    reference: float
    random: float
    random_best: float
    repeated: float
    idle: float
    invalid: float
    greedy: float
    faults: tuple[str, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {**asdict(self), "faults": list(self.faults)}


def verify_level(world: World, level: Level, *, seconds: float = 1.0, random_agents: int = 20) -> LevelReport:
    """Try everything on a level.

    Args:
        world: the world.
        level: the level.
        seconds: how long the greedy searcher may try.
        random_agents: how many random episodes are played.
    """
    upper_bound = level.upper_bound.value
    unit = upper_bound if upper_bound > 0 else 1.0
    reference = world.play(level.data)
    rng = generator(level.seed, "verify", world.name, level.id)
    randoms = [_play(world, level, _random_actions(rng, world.description)) for _ in range(random_agents)]
    once_more = [(a, _play(world, level, itertools.repeat(a.to_json()))) for a in plain_actions(world.description)]
    idle = max((total for a, total in once_more if world.description.actions[a.name].idle), default=0.0)
    repeated = max(total for _, total in once_more)
    invalid = max(
        _play(world, level, itertools.repeat(wrong)) for wrong in (*MALFORMED, *out_of_range(world.description))
    )
    greedy = _greedy(world, level, rng, seconds)
    faults = _faults(
        world, level, reference, {"random": max(randoms), "repeating": repeated, "greedy": greedy}, (invalid, idle)
    )
    return LevelReport(
        world=world.name,
        level=level.id,
        kind=level.upper_bound.kind,
        upper_bound=upper_bound,
        solvable=reference > 0,
        reference=reference / unit,
        random=float(np.mean(randoms)) / unit,
        random_best=max(randoms) / unit,
        repeated=repeated / unit,
        idle=idle / unit,
        invalid=invalid / unit,
        greedy=greedy / unit,
        faults=faults,
    )


def verify_worlds(
    names: Sequence[str], *, seconds: float = 10.0, processes: int | None = None
) -> Iterator[LevelReport]:
    """Verify every shipped level of worlds, several at a time; the reports come as they are ready.

    Args:
        names: the worlds.
        seconds: how long the greedy searcher may try for each world; its levels share it.
        processes: how many processes; one per core by default.

    Raises:
        UnknownNameError: if there is no such world.
    """
    levels = [(name, level.id) for name in names for shipped in world(name).shipped.values() for level in shipped]
    share = seconds * len(names) / max(1, len(levels))
    workers = min(processes or len(os.sched_getaffinity(0)), len(levels) or 1)
    with process_pool(workers) as pool:
        waiting = [pool.submit(_verify_one, name, level, share) for name, level in levels]
        try:
            for future in as_completed(waiting):
                yield future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _verify_one(name: str, level: str, seconds: float) -> LevelReport:
    made = world(name)
    return replace(verify_level(made, made.level(level), seconds=seconds), world=name)


def _faults(
    world: World, level: Level, reference: float, totals: dict[str, float], nothing: tuple[float, float]
) -> tuple[str, ...]:
    upper_bound, faults = level.upper_bound.value, list[str]()
    if upper_bound <= 0:
        faults.append(f"the bound is {upper_bound:g}; nothing can be had")
    if reference <= 0:
        faults.append("the reference solution earns nothing: the level is not shown to be solvable")
    if abs(reference - level.reference) > SLACK:
        faults.append(f"the reference solution gets {reference:g}, and levels.json says {level.reference:g}")
    if world.description.meta.reward == "binary" and upper_bound != 1.0:
        faults.append(f"a binary world pays 1 at most, and the bound is {upper_bound:g}")
    if level.upper_bound.kind == "exact" and reference < upper_bound - SLACK:
        faults.append(f"the bound is called exact, and the reference solution gets {reference:g} of {upper_bound:g}")
    for name, total in {"reference": reference, **totals}.items():
        if total > upper_bound + SLACK:
            faults.append(f"the {name} agent gets {total:g}, more than the bound of {upper_bound:g}")
    faults += [
        f"{what} actions earn {paid:g}" for what, paid in zip(("refused", "idle"), nothing, strict=True) if paid > SLACK
    ]
    return tuple(faults)


def _play(world: World, level: Level, actions: Iterator[object]) -> float:
    episode = world.start(level.data)
    while not episode.done:
        episode.step(next(actions))
    return episode.total


def _random_actions(rng: np.random.Generator, description: Description) -> Iterator[object]:
    while True:
        yield sample_action(rng, description.actions).to_json()


def plain_actions(description: Description) -> list[Action]:
    """Return each action with the ends and the middle of its parameters' ranges: what an idle agent might repeat."""
    actions: list[Action] = []
    for name, action in description.actions.items():
        choices = [[(key, value) for value in _values(kind, ENDS)] for key, kind in action.params.items()]
        actions += [Action(name, dict(chosen)) for chosen in itertools.islice(itertools.product(*choices), 64)]
    return actions


def _values(kind: Parameter, most: int) -> Sequence[Any]:
    if kind.type == "choice":
        return kind.of
    if kind.type == "text":
        return ("",)
    low, high = kind.low or 0, kind.high or 0
    points = np.linspace(low, high, most)
    return sorted({int(p) for p in points}) if kind.type == "integer" else [float(p) for p in points]


def out_of_range(description: Description) -> list[object]:
    """Return each action with parameters that it does not take: of wrong types, beyond their ranges, or unknown."""
    wrong: list[object] = []
    for name, action in description.actions.items():
        plain = {key: _values(kind, 2)[0] for key, kind in action.params.items()}
        for key, kind in action.params.items():
            for value in (None, [], "no such word", (kind.high or 0) + 1, (kind.low or 0) - 1, float("nan"), 10**30):
                fits_text = kind.type == "text" and isinstance(value, str)
                if not fits_text:
                    wrong.append({"action": name, "params": {**plain, key: value}})
        wrong.append({"action": name, "params": {**plain, "no such parameter": 1}})
    return wrong


def _greedy(world: World, level: Level, rng: np.random.Generator, seconds: float) -> float:
    """Search for reward: look one step ahead on copies, take what pays most, start again with more chance or a good prefix."""
    ends, best, prefix = time.monotonic() + seconds, 0.0, list[Action]()
    plain = plain_actions(world.description)
    while True:
        episode, taken = world.start(level.data), list[Action]()
        chance = float(rng.uniform(0.0, 0.5))
        for action in prefix[: int(rng.integers(len(prefix) + 1))]:
            episode.step(action)
            taken.append(action)
            if episode.done:
                break
        while not episode.done and time.monotonic() < ends:
            action = sample_action(rng, world.description.actions)
            if rng.random() > chance:
                action = _most_paying(episode, rng, plain, action)
            episode.step(action)
            taken.append(action)
        if episode.total > best:
            best, prefix = episode.total, taken
        if time.monotonic() >= ends:
            return max(best, episode.total)


def _most_paying(episode: Episode, rng: np.random.Generator, plain: Sequence[Action], other: Action) -> Action:
    tried = [other, *(plain[int(i)] for i in rng.permutation(len(plain))[:12])]
    paid: list[float] = []
    for action in tried:
        twin = episode.copy()
        paid.append(twin.step(action).reward)
    most = max(paid)
    return tried[int(rng.choice([i for i, p in enumerate(paid) if p == most]))]
