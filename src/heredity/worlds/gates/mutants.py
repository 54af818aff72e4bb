"""Faults of levels, descriptions and observations; and mutants, worlds with one fault of any kind."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from heredity.ids import generator
from heredity.worlds.contract import Action, LevelData, Outcome, RefusedError
from heredity.worlds.gates.contract import Subject
from heredity.worlds.gates.faults import RULES, Fault
from heredity.worlds.gates.plays import Explorer, drawn, given, play, rng_of
from heredity.worlds.gates.wrapping import (
    Around,
    AroundLevels,
    Held,
    SeedlessLevels,
    UnfitError,
    changed_levels,
    described,
    set_shipped,
    twin,
)
from heredity.worlds.world import SPLITS, Level, World


def bound_low(world: World, rng: np.random.Generator) -> World:
    """Bounds are less than what can be had."""
    share = float(rng.uniform(0.5, 0.95))
    return changed_levels(
        world,
        lambda level: replace(level, upper_bound=replace(level.upper_bound, value=share * level.upper_bound.value)),
    )


def bound_high(world: World, rng: np.random.Generator) -> World:
    """Bounds are more than can be had: a little and called exact, or much and declared."""
    kind, times = ("exact", rng.uniform(1.1, 2.0)) if rng.random() < 0.5 else ("declared", rng.uniform(2.0, 4.0))
    return changed_levels(
        world,
        lambda level: replace(
            level, upper_bound=replace(level.upper_bound, value=float(times) * level.upper_bound.value, kind=kind)
        ),
    )


def duplicates(world: World, rng: np.random.Generator) -> World:
    """Some levels are others once more, plainly or with another number in a field that nothing reads."""
    made, field = twin(world), rng.random() < 0.5
    test = list(made.shipped["test"])
    to, of = (int(i) for i in rng.permutation(len(test))[:2])
    data = {**test[of].data, **({"number": to} if field else {})}
    test[to] = replace(test[of], id=test[to].id, data=data)
    set_shipped(made, {**made.shipped, "test": test})
    return made


def seed_ignored(world: World, rng: np.random.Generator) -> World:
    """Levels are drawn by chance that no seed fixes."""
    return twin(world, levels=SeedlessLevels(world.levels))


def hidden_shown(world: World, rng: np.random.Generator) -> World:
    """What is hidden is shown: printed into the text, told in errors, or exposed beside the text."""
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
    """A number is shown under another's name, late, or a symbol that the legend does not explain stands in the grid."""
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
    """What is exposed is no JSON, or no printable text."""
    value: Any = float("nan") if rng.random() < 0.5 else "\x1b[31m"

    class Odd(Around):
        def observe(self, state: Held) -> dict[str, Any]:
            return {**super().observe(state), "odd": value}

    made = twin(world, Odd(world.dynamics))
    skin = world.description.skin.model_copy(update={"text": world.description.skin.text + "\n{odd}"})
    made.description = world.description.model_copy(update={"skin": skin})
    return made


def action_missing(world: World, rng: np.random.Generator) -> World:
    """An action that the goal needs is not described, or nothing is said of what it does."""
    names = sorted({action.name for action in world.levels.solve(world.shipped["test"][0].data)})
    name, actions = names[int(rng.integers(len(names)))], dict(world.description.actions)
    if rng.random() < 0.5 and len(actions) > 1:
        del actions[name]
    else:
        actions[name] = actions[name].model_copy(update={"description": ""})
    return described(world, actions=actions)


def kind_contradicts(world: World, rng: np.random.Generator) -> World:
    """A world whose rewards add up is called binary."""
    if world.description.meta.reward == "binary":
        raise UnfitError("it is binary")
    return described(world, meta=world.description.meta.model_copy(update={"reward": "binary"}))


def given_away(world: World, rng: np.random.Generator) -> World:
    """The instruction says that words mean the opposite."""
    if world.description.meta.semantics != "inverse":
        raise UnfitError("words mean what they say")
    sentences = (
        "Beware: signs mean the opposite of what they say.",
        "All meanings are inverted.",
        "The names are misleading.",
    )
    return described(world, instruction=f"{world.description.instruction} {sentences[int(rng.integers(3))]}")


def near_copy(world: World, rng: np.random.Generator) -> World:
    """A world of the library under other words: its name and its actions are called something else, in another order."""
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
"""Kinds that may come to nothing in a world."""
_LEVELS = 4


def mutant(world: World, kind: str, seed: int) -> World:
    """Return a world with one fault.

    Args:
        world: a sound one; it is left as it is.
        kind: one of `KINDS`.
        seed: draws where the fault is.

    Raises:
        UnfitError: if the world cannot have this fault, or nothing that players did on it came out otherwise by it.
    """
    made = KINDS[kind](world, generator(seed, "mutant", kind, world.name))
    if kind in _SELDOM and not _differs(world, made):
        raise UnfitError(f"{kind} changes nothing in {world.name}")
    return made


def _differs(world: World, made: World) -> bool:
    """Whether blind, exploring or knowing players notice a difference on some levels."""
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
