"""Faults of rules, to be planted in sound worlds: gates are tested by what they reject."""

from __future__ import annotations

import copy
import random
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from heredity.ids import digest_json
from heredity.worlds.contract import Action, LevelData, Outcome, RefusedError
from heredity.worlds.gates.states import state_key
from heredity.worlds.gates.wrapping import Around, Held, UnfitError, twin
from heredity.worlds.verify import plain_actions
from heredity.worlds.world import SPLITS, World

Fault = Callable[[World, np.random.Generator], World]
Changed = Callable[[Around, Held, Action], Outcome]


def _acting(world: World, act: Changed) -> World:
    """Return a world whose `act` is another; it is given the wrapper, whose `inner` is the sound dynamics."""

    class Acting(Around):
        def act(self, state: Held, action: Action) -> Outcome:
            return act(self, state, action)

    return twin(world, Acting(world.dynamics))


def _sound(dynamics: Around, state: Held, action: Action) -> Outcome:
    return Around.act(dynamics, state, action)


def _pay(world: World, rng: np.random.Generator) -> float:
    return 1.0 if world.description.meta.reward == "binary" else float(rng.integers(1, 4))


def _depth(world: World, rng: np.random.Generator) -> int:
    """Return a number of steps that an episode may come to."""
    level = world.shipped["test"][0]
    return max(1, int(len(world.levels.solve(level.data)) * rng.uniform(0.3, 0.8)))


def refused_pays(world: World, rng: np.random.Generator) -> World:
    """What is not possible pays."""
    pay = _pay(world, rng)

    def act(dynamics: Around, state: Held, action: Action) -> Outcome:
        try:
            return _sound(dynamics, state, action)
        except RefusedError as error:
            return Outcome(pay, message=str(error))

    return _acting(world, act)


def idling_pays(world: World, rng: np.random.Generator) -> World:
    """What changes nothing that is seen pays."""
    pay = _pay(world, rng)

    def act(dynamics: Around, state: Held, action: Action) -> Outcome:
        before = dynamics.observe(state)
        outcome = _sound(dynamics, state, action)
        idle = dynamics.observe(state) == before or world.description.actions[action.name].idle
        return replace(outcome, reward=outcome.reward + pay) if idle and not outcome.done else outcome

    return _acting(world, act)


def goal_unpaid(world: World, rng: np.random.Generator) -> World:
    """Nothing is ever paid."""
    return _acting(world, lambda d, s, a: replace(o := _sound(d, s, a), reward=min(0.0, o.reward)))


def goal_blocked(world: World, rng: np.random.Generator) -> World:
    """On some levels an action that the goal needs is refused."""
    levels = [level for split in SPLITS for level in world.shipped[split]]
    chosen = [levels[int(i)] for i in rng.permutation(len(levels))[: int(rng.integers(1, 6))]]
    struck = {digest_json(dict(level.data)) for level in chosen}
    names = sorted({action.name for action in world.levels.solve(chosen[0].data)})
    name = names[int(rng.integers(len(names)))]

    class Blocked(Around):
        def start(self, level: LevelData) -> Held:
            return replace(super().start(level), struck=digest_json(dict(level)) in struck)

        def act(self, state: Held, action: Action) -> Outcome:
            if state.struck and action.name == name:
                raise RefusedError("It does not move.")
            return super().act(state, action)

    return twin(world, Blocked(world.dynamics))


def rewards_random(world: World, rng: np.random.Generator) -> World:
    """Pay comes and goes by chance that no seed fixes."""
    share, pay = float(rng.uniform(0.05, 0.3)), _pay(world, rng)

    def act(dynamics: Around, state: Held, action: Action) -> Outcome:
        outcome = _sound(dynamics, state, action)
        return replace(outcome, reward=outcome.reward + pay * (random.random() < share))

    return _acting(world, act)


def rewards_drawn(world: World, rng: np.random.Generator) -> World:
    """Pay is drawn at every step, from a seed, whatever is done."""
    seed, most = int(rng.integers(1 << 31)), int(rng.integers(2, 6))

    def act(dynamics: Around, state: Held, action: Action) -> Outcome:
        outcome = _sound(dynamics, state, action)
        return replace(outcome, reward=float(np.random.default_rng([seed, state.t]).integers(most)))

    return _acting(world, act)


def hangs(world: World, rng: np.random.Generator) -> World:
    """An action never comes back, once so many steps were taken."""
    depth = _depth(world, rng)

    def act(dynamics: Around, state: Held, action: Action) -> Outcome:
        while state.t >= depth:
            pass
        return _sound(dynamics, state, action)

    return _acting(world, act)


def crashes_on_parameters(world: World, rng: np.random.Generator) -> World:
    """A value at the end of a parameter's range was not thought of."""
    edges = [(a.name, key, value) for a in plain_actions(world.description) for key, value in a.params.items()]
    if not edges:
        raise UnfitError("no action has parameters")
    name, key, value = edges[int(rng.integers(len(edges)))]

    def act(dynamics: Around, state: Held, action: Action) -> Outcome:
        if action.name == name and action.params[key] == value:
            raise KeyError(value)
        return _sound(dynamics, state, action)

    return _acting(world, act)


def crashes_at_depth(world: World, rng: np.random.Generator) -> World:
    """A list is too short for a long episode."""
    depth = _depth(world, rng)

    def act(dynamics: Around, state: Held, action: Action) -> Outcome:
        if state.t >= depth:
            raise IndexError("list index out of range")
        return _sound(dynamics, state, action)

    return _acting(world, act)


def chance_unseeded(world: World, rng: np.random.Generator) -> World:
    """Actions fail by chance that no seed fixes."""
    share = float(rng.uniform(0.05, 0.3))

    def act(dynamics: Around, state: Held, action: Action) -> Outcome:
        if random.random() < share:
            return Outcome(message="It slips.")
        return _sound(dynamics, state, action)

    return _acting(world, act)


def farmable(world: World, rng: np.random.Generator) -> World:
    """One action after another pays, however often."""
    names = list(world.description.actions)
    first, then = (names[int(i)] for i in rng.integers(len(names), size=2))
    pay = float(rng.integers(1, 4))

    def act(dynamics: Around, state: Held, action: Action) -> Outcome:
        before = state.last
        outcome = _sound(dynamics, state, action)
        pays = (before, action.name) == (first, then) and not outcome.done
        return replace(outcome, reward=outcome.reward + pay) if pays else outcome

    return _acting(world, act)


def copies_shared(world: World, rng: np.random.Generator) -> World:
    """A copy of a state is the state itself."""

    class One(Held):
        __slots__ = ()

        def __deepcopy__(self, memo: object) -> One:
            return self

    class Shared(Around):
        def start(self, level: LevelData) -> Held:
            return One(self.inner.start(level))

    return twin(world, Shared(world.dynamics))


def resets_shared(world: World, rng: np.random.Generator) -> World:
    """A level goes on where the last episode left it."""
    kept: dict[str, Held] = {}

    class Kept(Around):
        def start(self, level: LevelData) -> Held:
            return kept.setdefault(digest_json(dict(level)), super().start(level))

    return twin(world, Kept(world.dynamics))


def refusal_changes(world: World, rng: np.random.Generator) -> World:
    """An action is applied in part before it is refused."""
    plain = plain_actions(world.description)
    order = [plain[int(i)] for i in rng.permutation(len(plain))]

    def act(dynamics: Around, state: Held, action: Action) -> Outcome:
        try:
            return _sound(dynamics, state, action)
        except RefusedError:
            before = state_key(state.inner)
            for other in order:
                tried = copy.deepcopy(state)
                try:
                    _sound(dynamics, tried, other)
                except RefusedError:
                    continue
                if state_key(tried.inner) != before:
                    state.inner = tried.inner
                    break
            raise

    return _acting(world, act)


def ends_early(world: World, rng: np.random.Generator) -> World:
    """The episode ends before the goal can be reached."""
    depth = _depth(world, rng)
    return _acting(world, lambda d, s, a: replace(o := _sound(d, s, a), done=o.done or s.t >= depth))


def never_ends(world: World, rng: np.random.Generator) -> World:
    """Success does not end a world that pays for success alone."""
    if world.description.meta.reward != "binary":
        raise UnfitError("rewards add up")
    return _acting(world, lambda d, s, a: replace(_sound(d, s, a), done=False))


def prints(world: World, rng: np.random.Generator) -> World:
    """What was meant for its author is printed."""

    def act(dynamics: Around, state: Held, action: Action) -> Outcome:
        sys.stdout.write(f"debug {action.name}\n")
        return _sound(dynamics, state, action)

    return _acting(world, act)


def grows(world: World, rng: np.random.Generator) -> World:
    """The state keeps everything that ever was."""
    size = int(rng.integers(3000, 6000))

    def act(dynamics: Around, state: Held, action: Action) -> Outcome:
        state.extra = [*(state.extra or ()), *range(size)]
        return _sound(dynamics, state, action)

    return _acting(world, act)


def level_changed(world: World, rng: np.random.Generator) -> World:
    """Playing a level changes the level."""
    lists = [key for key, value in world.shipped["test"][0].data.items() if isinstance(value, list) and value]
    if not lists:
        raise UnfitError("a level has no list")
    key = lists[int(rng.integers(len(lists)))]

    class Changing(Around):
        def start(self, level: LevelData) -> Held:
            state = super().start(level)
            level[key].append(level[key].pop(0))
            level[key].append(level[key][0])
            return state

    return twin(world, Changing(world.dynamics))


def pay_contradicts(world: World, rng: np.random.Generator) -> World:
    """Rewards are not what the text says: half of them, twice as many, or a loss with every step."""
    factor, loss = [(0.5, 0.0), (2.0, 0.0), (1.0, 1.0)][int(rng.integers(3))]

    def act(dynamics: Around, state: Held, action: Action) -> Outcome:
        outcome = _sound(dynamics, state, action)
        return replace(outcome, reward=factor * outcome.reward - loss)

    return _acting(world, act)


RULES: Mapping[str, Fault] = {
    "refused actions pay": refused_pays,
    "idling pays": idling_pays,
    "goal is never paid": goal_unpaid,
    "goal out of reach": goal_blocked,
    "random rewards": rewards_random,
    "rewards drawn from a seed": rewards_drawn,
    "hang": hangs,
    "crash on parameters": crashes_on_parameters,
    "crash at depth": crashes_at_depth,
    "chance without a seed": chance_unseeded,
    "farmable cycle": farmable,
    "copies share state": copies_shared,
    "resets share state": resets_shared,
    "refusal changes the state": refusal_changes,
    "ends too early": ends_early,
    "does not end": never_ends,
    "prints": prints,
    "grows": grows,
    "play changes the level": level_changed,
    "pay contradicts the text": pay_contradicts,
}
"""By the words that tables show."""
