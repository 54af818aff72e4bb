"""Mutants: worlds with one planted fault of any kind, in levels, descriptions or observations."""

from __future__ import annotations

import copy
import json
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from heredity._core.errors import HeredityError, RefusedError
from heredity._core.ids import digest_json, generator
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Levels, Outcome, UpperBound
from heredity.kinds.world.gates.contract import Subject
from heredity.kinds.world.gates.plays import Explorer, drawn, given, play, rng_of
from heredity.kinds.world.gates.states import state_key
from heredity.kinds.world.verify import plain_actions
from heredity.kinds.world.world import SPLITS, Level, World


class UnfitError(HeredityError):
    """A fault that does not fit a world."""


@dataclass(slots=True)
class Held:
    """A state with a wrapper's data: steps taken, the last accepted action's name, whether the fault affects the level."""

    inner: Any
    t: int = 0
    last: str = ""
    struck: bool = True
    extra: Any = None


class Around(Dynamics[Held]):
    """Dynamics that delegate everything."""

    def __init__(self, inner: Dynamics[Any]) -> None:
        self.inner = inner

    def start(self, level: LevelData) -> Held:
        """Return the initial state of a level."""
        return Held(self.inner.start(level))

    def act(self, state: Held, action: Action) -> Outcome:
        """Apply an action."""
        outcome = self.inner.act(state.inner, action)
        state.t += 1
        state.last = action.name
        return outcome

    def refuse(self, state: Held) -> Outcome:
        """Let time pass after a refused action."""
        state.t += 1
        return self.inner.refuse(state.inner)

    def observe(self, state: Held) -> dict[str, Any]:
        """Return the exposed values."""
        return self.inner.observe(state.inner)

    def finish(self, state: Held) -> float:
        """Return the payment at the horizon."""
        return self.inner.finish(state.inner)


class AroundLevels(Levels):
    """Levels that delegate everything."""

    def __init__(self, inner: Levels) -> None:
        self.inner = inner

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a level."""
        return self.inner.generate(rng, difficulty)

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return its bound."""
        return self.inner.upper_bound(level)

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return its solution."""
        return self.inner.solve(level)


class SeedlessLevels(AroundLevels):
    """Levels that ignore the generator passed to them."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a random level."""
        return self.inner.generate(np.random.default_rng(random.getrandbits(64)), difficulty)


def twin(world: World, dynamics: Dynamics[Any] | None = None, levels: Levels | None = None) -> World:
    """Return a copy of a world, with new levels and optionally other dynamics."""
    made = copy.copy(world)
    made.dynamics, made.levels = dynamics or world.dynamics, levels or world.levels
    set_shipped(made, {split: [_copied(level) for level in levels] for split, levels in world.shipped.items()})
    return made


def set_shipped(world: World, shipped: Mapping[str, Sequence[Level]]) -> None:
    """Replace a world's shipped levels."""
    world.__dict__["shipped"] = {split: tuple(levels) for split, levels in shipped.items()}


def changed_levels(world: World, change: Callable[[Level], Level]) -> World:
    """Return a world with each level changed."""
    made = twin(world)
    set_shipped(made, {split: [change(level) for level in levels] for split, levels in made.shipped.items()})
    return made


def described(world: World, **fields: Any) -> World:
    """Return a world with another description."""
    made = twin(world)
    made.description = world.description.model_copy(update=fields)
    return made


def _copied(level: Level) -> Level:
    data = MappingProxyType(copy.deepcopy(dict(level.data)))
    return Level(level.id, level.seed, level.difficulty, data, level.upper_bound, level.reference)


Fault = Callable[[World, np.random.Generator], World]
Changed = Callable[[Around, Held, Action], Outcome]


def _acting(world: World, act: Changed) -> World:
    """Return a world with another `act`, which receives the wrapper; its `inner` is the sound dynamics."""

    class Acting(Around):
        def act(self, state: Held, action: Action) -> Outcome:
            return act(self, state, action)

    return twin(world, Acting(world.dynamics))


def _sound(dynamics: Around, state: Held, action: Action) -> Outcome:
    return Around.act(dynamics, state, action)


def _pay(world: World, rng: np.random.Generator) -> float:
    return 1.0 if world.description.meta.reward == "binary" else float(rng.integers(1, 4))


def _depth(world: World, rng: np.random.Generator) -> int:
    """Return a number of steps that an episode may reach."""
    level = world.shipped["test"][0]
    return max(1, int(len(world.levels.solve(level.data)) * rng.uniform(0.3, 0.8)))


def refused_pays(world: World, rng: np.random.Generator) -> World:
    """Make impossible actions pay."""
    pay = _pay(world, rng)

    def act(dynamics: Around, state: Held, action: Action) -> Outcome:
        try:
            return _sound(dynamics, state, action)
        except RefusedError as error:
            return Outcome(pay, message=str(error))

    return _acting(world, act)


def idling_pays(world: World, rng: np.random.Generator) -> World:
    """Make actions without a visible effect pay."""
    pay = _pay(world, rng)

    def act(dynamics: Around, state: Held, action: Action) -> Outcome:
        before = dynamics.observe(state)
        outcome = _sound(dynamics, state, action)
        idle = dynamics.observe(state) == before or world.description.actions[action.name].idle
        return replace(outcome, reward=outcome.reward + pay) if idle and not outcome.done else outcome

    return _acting(world, act)


def goal_unpaid(world: World, rng: np.random.Generator) -> World:
    """Never pay anything."""
    return _acting(world, lambda d, s, a: replace(o := _sound(d, s, a), reward=min(0.0, o.reward)))


def goal_blocked(world: World, rng: np.random.Generator) -> World:
    """Refuse an action that the goal needs, on some levels."""
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
    """Make payments random, without a seed."""
    share, pay = float(rng.uniform(0.05, 0.3)), _pay(world, rng)

    def act(dynamics: Around, state: Held, action: Action) -> Outcome:
        outcome = _sound(dynamics, state, action)
        return replace(outcome, reward=outcome.reward + pay * (random.random() < share))

    return _acting(world, act)


def rewards_drawn(world: World, rng: np.random.Generator) -> World:
    """Draw the payment of every step from a seed, regardless of the action."""
    seed, most = int(rng.integers(1 << 31)), int(rng.integers(2, 6))

    def act(dynamics: Around, state: Held, action: Action) -> Outcome:
        outcome = _sound(dynamics, state, action)
        return replace(outcome, reward=float(np.random.default_rng([seed, state.t]).integers(most)))

    return _acting(world, act)


def hangs(world: World, rng: np.random.Generator) -> World:
    """Make an action hang after a number of steps."""
    depth = _depth(world, rng)

    def act(dynamics: Around, state: Held, action: Action) -> Outcome:
        while state.t >= depth:
            pass
        return _sound(dynamics, state, action)

    return _acting(world, act)


def crashes_on_parameters(world: World, rng: np.random.Generator) -> World:
    """Crash on a value at the end of a parameter's range."""
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
    """Crash late in a long episode, as if a list were too short."""
    depth = _depth(world, rng)

    def act(dynamics: Around, state: Held, action: Action) -> Outcome:
        if state.t >= depth:
            raise IndexError("list index out of range")
        return _sound(dynamics, state, action)

    return _acting(world, act)


def chance_unseeded(world: World, rng: np.random.Generator) -> World:
    """Make actions fail at random, without a seed."""
    share = float(rng.uniform(0.05, 0.3))

    def act(dynamics: Around, state: Held, action: Action) -> Outcome:
        if random.random() < share:
            return Outcome(message="It slips.")
        return _sound(dynamics, state, action)

    return _acting(world, act)


def farmable(world: World, rng: np.random.Generator) -> World:
    """Make an alternating pair of actions pay every time."""
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
    """Let copies share the original state."""

    class One(Held):
        __slots__ = ()

        def __deepcopy__(self, memo: object) -> One:
            return self

    class Shared(Around):
        def start(self, level: LevelData) -> Held:
            return One(self.inner.start(level))

    return twin(world, Shared(world.dynamics))


def resets_shared(world: World, rng: np.random.Generator) -> World:
    """Let a level continue from the end of the last episode."""
    kept: dict[str, Held] = {}

    class Kept(Around):
        def start(self, level: LevelData) -> Held:
            return kept.setdefault(digest_json(dict(level)), super().start(level))

    return twin(world, Kept(world.dynamics))


def refusal_changes(world: World, rng: np.random.Generator) -> World:
    """Apply part of an action before refusing it."""
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
    """End the episode before the goal can be reached."""
    depth = _depth(world, rng)
    return _acting(world, lambda d, s, a: replace(o := _sound(d, s, a), done=o.done or s.t >= depth))


def never_ends(world: World, rng: np.random.Generator) -> World:
    """Continue after success in a binary world."""
    if world.description.meta.reward != "binary":
        raise UnfitError("rewards add up")
    return _acting(world, lambda d, s, a: replace(_sound(d, s, a), done=False))


def prints(world: World, rng: np.random.Generator) -> World:
    """Print debug output."""

    def act(dynamics: Around, state: Held, action: Action) -> Outcome:
        sys.stdout.write(f"debug {action.name}\n")
        return _sound(dynamics, state, action)

    return _acting(world, act)


def grows(world: World, rng: np.random.Generator) -> World:
    """Keep the whole history in the state."""
    size = int(rng.integers(3000, 6000))

    def act(dynamics: Around, state: Held, action: Action) -> Outcome:
        state.extra = [*(state.extra or ()), *range(size)]
        return _sound(dynamics, state, action)

    return _acting(world, act)


def level_changed(world: World, rng: np.random.Generator) -> World:
    """Change the level while playing it."""
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
    """Contradict the text about rewards: pay half, twice as much, or a loss with every step."""
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
"""Faults of dynamics, by the name used in tables."""


def bound_low(world: World, rng: np.random.Generator) -> World:
    """Lower the bounds below the reachable reward."""
    share = float(rng.uniform(0.5, 0.95))
    return changed_levels(
        world,
        lambda level: replace(level, upper_bound=replace(level.upper_bound, value=share * level.upper_bound.value)),
    )


def bound_high(world: World, rng: np.random.Generator) -> World:
    """Raise the bounds above the reachable reward: slightly and called exact, or much and declared."""
    kind, times = ("exact", rng.uniform(1.1, 2.0)) if rng.random() < 0.5 else ("declared", rng.uniform(2.0, 4.0))
    return changed_levels(
        world,
        lambda level: replace(
            level, upper_bound=replace(level.upper_bound, value=float(times) * level.upper_bound.value, kind=kind)
        ),
    )


def duplicates(world: World, rng: np.random.Generator) -> World:
    """Repeat some levels, unchanged or with another number in an unused field."""
    made, field = twin(world), rng.random() < 0.5
    test = list(made.shipped["test"])
    to, of = (int(i) for i in rng.permutation(len(test))[:2])
    data = {**test[of].data, **({"number": to} if field else {})}
    test[to] = replace(test[of], id=test[to].id, data=data)
    set_shipped(made, {**made.shipped, "test": test})
    return made


def seed_ignored(world: World, rng: np.random.Generator) -> World:
    """Draw levels at random, without a seed."""
    return twin(world, levels=SeedlessLevels(world.levels))


def hidden_shown(world: World, rng: np.random.Generator) -> World:
    """Show hidden parts: printed into the text, revealed in errors, or exposed next to the text."""
    if world.description.meta.observation == "full":
        raise UnfitError("nothing is hidden")
    how = ("text", "words", "errors", "exposed", "message")[int(rng.integers(5))]

    class Showing(Around):
        def start(self, level: LevelData) -> Held:
            return replace(super().start(level), extra=json.dumps(dict(level)))

        def observe(self, state: Held) -> dict[str, Any]:
            words = state.extra.translate(str.maketrans("", "", '[]{}"'))
            return {**super().observe(state), "debug": words if how == "words" else state.extra}

        def act(self, state: Held, action: Action) -> Outcome:
            try:
                outcome = super().act(state, action)
            except RefusedError as error:
                raise RefusedError(f"{error} ({state.extra})" if how == "errors" else str(error)) from error
            return replace(outcome, message=f"{outcome.message} {state.extra}") if how == "message" else outcome

    if how in ("errors", "message"):
        Showing.observe = Around.observe
    made = twin(world, Showing(world.dynamics))
    if how in ("text", "words"):
        skin = world.description.skin
        made.description = world.description.model_copy(
            update={"skin": skin.model_copy(update={"text": skin.text + "\n{debug}"})}
        )
    return made


def mislabelled(world: World, rng: np.random.Generator) -> World:
    """Show a number under another's name or with a delay, or put an unexplained symbol into the grid."""
    omega = world.start(world.shipped["test"][0].data).observe()
    numbers = [name for name, value in omega.items() if type(value) in (int, float) and name not in ("t", "steps")]
    ways = [way for way, fits in {"exchanged": len(numbers) > 1, "symbol": bool(omega.get("grid"))}.items() if fits]
    if not ways:
        raise UnfitError("no two numbers and no grid are shown")
    way = ways[int(rng.integers(len(ways)))]
    one, other = (numbers[int(i)] for i in rng.permutation(len(numbers))[:2]) if way == "exchanged" else ("", "")

    class Mislabelled(Around):
        def observe(self, state: Held) -> dict[str, Any]:
            omega = super().observe(state)
            if way == "exchanged":
                return {**omega, one: omega[other], other: omega[one]}
            return {**omega, "grid": ["&" + row[1:] for row in omega["grid"]]}

    return twin(world, Mislabelled(world.dynamics))


def unreadable(world: World, rng: np.random.Generator) -> World:
    """Expose a value that is not JSON, or unprintable text."""
    value: Any = float("nan") if rng.random() < 0.5 else "\x1b[31m"

    class Odd(Around):
        def observe(self, state: Held) -> dict[str, Any]:
            return {**super().observe(state), "odd": value}

    made = twin(world, Odd(world.dynamics))
    skin = world.description.skin.model_copy(update={"text": world.description.skin.text + "\n{odd}"})
    made.description = world.description.model_copy(update={"skin": skin})
    return made


def action_missing(world: World, rng: np.random.Generator) -> World:
    """Omit an action that the goal needs, or its description."""
    names = sorted({action.name for action in world.levels.solve(world.shipped["test"][0].data)})
    name, actions = names[int(rng.integers(len(names)))], dict(world.description.actions)
    if rng.random() < 0.5 and len(actions) > 1:
        del actions[name]
    else:
        actions[name] = actions[name].model_copy(update={"description": ""})
    return described(world, actions=actions)


def kind_contradicts(world: World, rng: np.random.Generator) -> World:
    """Call a world with accumulating rewards binary."""
    if world.description.meta.reward == "binary":
        raise UnfitError("it is binary")
    return described(world, meta=world.description.meta.model_copy(update={"reward": "binary"}))


def given_away(world: World, rng: np.random.Generator) -> World:
    """State in the instruction that words mean the opposite."""
    if world.description.meta.semantics != "inverse":
        raise UnfitError("words mean what they say")
    sentences = (
        "Beware: signs mean the opposite of what they say.",
        "All meanings are inverted.",
        "The names are misleading.",
    )
    return described(world, instruction=f"{world.description.instruction} {sentences[int(rng.integers(3))]}")


def near_copy(world: World, rng: np.random.Generator) -> World:
    """Copy a world of the library with another name and renamed, reordered actions."""
    order = [list(world.description.actions)[int(i)] for i in rng.permutation(len(world.description.actions))]
    back = {f"deed_{number}": name for number, name in enumerate(order)}
    names = {name: word for word, name in back.items()}

    class Renamed(Around):
        def act(self, state: Held, action: Action) -> Outcome:
            return super().act(state, Action(back[action.name], action.params))

    class RenamedLevels(AroundLevels):
        def solve(self, level: LevelData) -> list[Action]:
            return [Action(names[action.name], action.params) for action in self.inner.solve(level)]

    made = twin(world, Renamed(world.dynamics), RenamedLevels(world.levels))
    meta = world.description.meta.model_copy(update={"name": f"{world.name}_again"})
    actions = {word: world.description.actions[name] for word, name in back.items()}
    made.description = world.description.model_copy(update={"meta": meta, "actions": actions})
    made.folder = Path(f"{world.name}_again")
    set_shipped(made, made.make_shipped())
    return made


KINDS: Mapping[str, Fault] = {
    **RULES,
    "bound too low": bound_low,
    "bound too high": bound_high,
    "duplicate levels": duplicates,
    "levels without a seed": seed_ignored,
    "hidden state shown": hidden_shown,
    "mislabelled observation": mislabelled,
    "unreadable observation": unreadable,
    "action missing": action_missing,
    "kind of reward contradicts": kind_contradicts,
    "inverse words given away": given_away,
    "near copy": near_copy,
}
"""All kinds of faults."""

_SELDOM = (
    "refused actions pay",
    "refusal changes the state",
    "idling pays",
    "random rewards",
    "farmable cycle",
    "mislabelled observation",
    "hidden state shown",
)
"""Kinds that may have no effect in a world."""
_LEVELS = 4


def mutant(world: World, kind: str, seed: int) -> World:
    """Return a world with one fault.

    Args:
        world: a sound one; it is not changed.
        kind: one of `KINDS`.
        seed: draws the place of the fault.

    Raises:
        UnfitError: if the world cannot have this fault, or the fault changes nothing for players.
    """
    made = KINDS[kind](world, generator(seed, "mutant", kind, world.name))
    if kind in _SELDOM and not _differs(world, made):
        raise UnfitError(f"{kind} changes nothing in {world.name}")
    return made


def _differs(world: World, made: World) -> bool:
    """Return True if blind, exploring or knowing players notice a difference on some levels."""
    sound, faulty = (Subject(one, [level for split in SPLITS for level in one.shipped[split]]) for one in (world, made))
    for level, other in zip(sound.some(_LEVELS), faulty.some(_LEVELS), strict=True):
        policies: list[Callable[[Any], object]] = [
            drawn(sound, level, "differs"),
            Explorer(world.description, rng_of(sound, level, "differs")),
            given([action.to_json() for action in world.levels.solve(level.data)]),
        ]
        for policy in policies:
            one = play(sound, level, policy)
            again = play(faulty, other, given(one.actions), len(one.actions))
            if (one.steps, one.shown, one.error) != (again.steps, again.shown, again.error) or _exposes(
                world, made, level
            ):
                return True
    return False


def _exposes(world: World, made: World, level: Level) -> bool:
    return set(world.start(level.data).observe()) != set(made.start(level.data).observe())
