"""Verification of levels: checks the reference solution, and tries cheap tricks that might pay or beat the bound.

It knows no world's rules, and plays the way a careless or an adversarial agent would.
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

from heredity._core.ids import generator
from heredity._core.workers import process_pool
from heredity.kinds.world.contract import Action
from heredity.kinds.world.description import Description, Parameter
from heredity.kinds.world.episode import Episode, sample_action
from heredity.kinds.world.world import Level, World, world

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
"""Inputs that are not an action of any world."""
ENDS = 3
"""Values of a number that `plain_actions` uses: the ends and the middle of its range."""


@dataclass(frozen=True, slots=True)
class LevelReport:
    """The results for a level; scores are shares of the bound.

    Attributes:
        world: the world's name; `level`: the level's.
        kind: the kind of bound, `"exact"` or `"proven"`; `upper_bound`: its value.
        solvable: True if the reference solution earns something (in a binary world: succeeds).
        reference: score of the reference solution.
        random: mean over random agents; `random_best`: the best of them.
        repeated: the best score of a single repeated action.
        idle: the best score of a repeated action that is described as idle (0 in a sound world).
        invalid: score of an agent whose actions are all refused.
        greedy: the best score of a searcher that tries to beat the bound.
        faults: descriptions of the faults; empty for a sound level.
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
    """Run all checks on a level.

    Args:
        world: the world.
        level: the level.
        seconds: time of the greedy searcher.
        random_agents: number of random episodes.
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
    """Verify every shipped level of worlds, several at a time; yields reports as they are ready.

    Args:
        names: the worlds.
        seconds: time of the greedy searcher per world (its levels share it).
        processes: number of processes; one per core by default.

    Raises:
        UnknownNameError: if a world is unknown.
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
        faults.append(f"the bound is {upper_bound:g}; it must be above 0")
    if reference <= 0:
        faults.append("the reference solution earns nothing: the level is not shown to be solvable")
    if abs(reference - level.reference) > SLACK:
        faults.append(f"the reference solution gets {reference:g}, and levels.json says {level.reference:g}")
    if world.description.meta.reward == "binary" and upper_bound != 1.0:
        faults.append(f"a binary world pays at most 1, but the bound is {upper_bound:g}")
    if level.upper_bound.kind == "exact" and reference < upper_bound - SLACK:
        faults.append(f"the bound is called exact, but the reference solution gets {reference:g} of {upper_bound:g}")
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
    """Return each action with the ends and the middle of its parameters' ranges, for agents that repeat one action."""
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
    """Return each action with invalid parameters: of wrong types, out of range, or unknown."""
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
    """Search for reward: look one step ahead on copies, take the best-paid action, restart with more chance or a good prefix."""
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
