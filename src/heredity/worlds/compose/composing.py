"""A world's description, put together from mechanics that a seed draws."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heredity.ids import generator
from heredity.worlds.compose.mechanics import COMMON, Mechanic, Told, common, families, mechanics, themes, worded
from heredity.worlds.compose.recipe import CHOICES, Recipe
from heredity.worlds.description import CAPABILITIES, Description

MOST_STATES = 4000
"""Situations that may be looked at for a level's exact bound."""
_OFTEN = ("circle", "duel", "ferry", "shelf", "vessels", "waters", "workshop")
_WEIGHTS = {**dict.fromkeys(_OFTEN, 3), "grid": 5, "hall": 2, "plots": 2, "trade": 2, "works": 2}
"""How often each stage is drawn, in proportion."""
_VARIANTS: Mapping[str, Mapping[str, Sequence[object]]] = {
    "circle": {"rooms": (6, 8, 10, 12), "hands": (1, 2, 3), "days": (3, 4, 5), "worth": (1, 4, 9, 20)},
    "common": {
        "wick": (4, 5, 7),
        "often": (1, 2, 3),
        "dues": (3, 4, 6),
        "beats": (3, 4, 5),
        "burden": (3, 4, 6),
    },
    "duel": {"own": (5, 8, 12), "foe": (5, 8, 12), "prize": (1, 3, 8), "doses": (1, 2, 3)},
    "ferry": {"crowd": (4,), "fare": (1, 4, 12), "tides": (3, 4), "load": (3, 4, 5)},
    "grid": {"side": (7, 7, 9), "wild": (3, 5, 8)},
    "hall": {"cards": (6, 8, 10), "worth": (1, 4, 9, 20)},
    "shelf": {"row": (4, 5), "worth": (1, 3, 10)},
    "trade": {"hold": (2, 3, 4)},
    "vessels": {"sizes": ("[2, 3, 4]", "[3, 4, 5]", "[3, 5, 7, 8]", "[4, 6, 7, 9]"), "worth": (1, 4, 9, 20)},
    "waters": {"most": (7, 9, 11), "hauls": (3, 4, 6), "mends": (1, 2), "wage": (1, 2)},
    "works": {"dial": (3, 4, 5), "levers": (3, 4), "worth": (2, 5, 12)},
    "workshop": {"hold": (4, 5), "orders": (1, 2, 3), "burns": (4, 6), "worth": (1, 4, 9, 20)},
}
"""Numbers that stand in the rules of a family, as `$name`; the seed draws one of each."""
_SLACKS = (2, 4, 8, 14, 24)
"""Steps that a world gives besides those that it takes."""
_COMMON_SLACK = 6
"""Those that it gives for each mechanic that stands on every stage, since these take steps of their own."""
_SHARES = {"semantics": (0.75, 0.25)}
"""How often each of `CHOICES` is drawn where they are not drawn alike."""
_EARN = re.compile(r"^( *)earn\((.*)\)$", re.MULTILINE)
_NOUN = re.compile(r"\$(\w+)")
_SLOT = re.compile(r"^( *)<(check|enter|tick)>$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Composition:
    """A world that was put together.

    Attributes:
        description: its description, with rules.
        mechanics: what it is made of, in words.
        theme: the vocabulary of its texts.
    """

    description: Description
    mechanics: tuple[str, ...]
    theme: str


def compose(recipe: Recipe) -> Composition:
    """Put a world together. The same recipe gives the same world.

    Raises:
        ConfigError: if what is put together does not fit the schema.
    """
    rng = generator(recipe.seed, "compose")
    drawn = {key: str(rng.choice(words, p=_SHARES.get(key))) for key, words in CHOICES.items()}
    chosen = {key: getattr(recipe, key) or value for key, value in drawn.items()}
    weights = np.array([_WEIGHTS[name] for name in families()], float)
    family = tuple(families())[int(rng.choice(len(weights), p=weights / weights.sum()))]
    theme = tuple(themes())[int(rng.integers(len(themes())))]
    names = _chosen(rng, family, chosen)
    nouns: dict[str, str] = {**themes()[theme], **_sizes(rng, chosen, family, names)}
    deed = next(part.deed for part in mechanics(family).values() if part.stage)
    nouns["deed"] = _NOUN.sub(lambda match: nouns[match.group(1)], deed)
    barriers = [name for name in names if mechanics(family)[name].barrier]
    parts: dict[str, Mechanic] = {}
    for name in names:
        slot = (
            {"slot": str(len(barriers) - barriers.index(name)), "slots": str(len(barriers) + 1)}
            if name in barriers
            else {}
        )
        parts[name] = worded(family, name, {**nouns, **slot}, chosen["reward"])
    parts = {name: _drawn_constants(rng, part) for name, part in parts.items()}
    called = tuple(part.mechanic for part in parts.values() if part.mechanic)
    return Composition(_described(recipe, chosen, parts, nouns, called), called, theme)


def _chosen(rng: np.random.Generator, family: str, chosen: Mapping[str, str]) -> list[str]:
    """Draw which mechanics a world is made of: the stage, what pays, and others that stand in the way or make it harder."""
    by_name = mechanics(family)
    fits = [
        name
        for name, part in by_name.items()
        if part.reward in (None, chosen["reward"]) and not (part.hidden and chosen["observation"] == "full")
    ]
    order = [fits[int(i)] for i in rng.permutation(len(fits))]
    count = {"1": 2, "2": 2 + int(rng.integers(2)), "3": 3 + int(rng.integers(2))}[chosen["difficulty"]]
    names = [name for name in by_name if by_name[name].stage]
    if goals := [name for name in order if by_name[name].goal]:
        names.append(goals[0])
    if chosen["semantics"] == "inverse":
        names.append(next(name for name in order if by_name[name].inverse))
    others = [name for name in order if not (by_name[name].stage or by_name[name].goal or by_name[name].inverse)]
    if chosen["observation"] == "partial" and not any(_hides(by_name[name]) for name in names):
        first = next(name for name in others if _hides(by_name[name]))
        others = [first, *(name for name in others if name != first)]
    for name in others:
        if sum(bool(by_name[n].mechanic) and not by_name[n].inverse for n in names) >= count and (
            chosen["observation"] == "full" or any(_hides(by_name[n]) for n in names)
        ):
            break
        if not (by_name[name].barrier and sum(by_name[n].barrier for n in names) == 2):
            names.append(name)
    return [name for name in names if not by_name[name].barrier] + [name for name in names if by_name[name].barrier]


def _hides(part: Mechanic) -> bool:
    return part.hidden or bool(part.hides)


def _sizes(rng: np.random.Generator, chosen: Mapping[str, str], family: str, names: Sequence[str]) -> dict[str, str]:
    """Return what numbers stand in the rules: how large and how long, by the world's difficulty."""
    level = int(chosen["difficulty"])
    loops = 0.6 if any(mechanics(family)[name].loops for name in names) else float(rng.choice([0.0, 0.1, 0.2]))
    slack, more = int(rng.choice(_SLACKS)), int(rng.integers(2))
    slack += _COMMON_SLACK * len(common() & {*names})
    variants = {**_VARIANTS.get(family, {}), **_VARIANTS[COMMON]}
    drawn = {name: choices[int(rng.integers(len(choices)))] for name, choices in variants.items()}
    few = 1 + (level > 1)
    sizes = {"loops": f"{loops:g}", "few": few, "some": few + more, "tempo": 5 - level, "slack": slack}
    return {name: str(value) for name, value in {**sizes, **drawn}.items()}


def _drawn_constants(rng: np.random.Generator, part: Mechanic) -> Mechanic:
    if not part.inverse:
        return part
    one = {name: values[int(rng.integers(len(values)))] for name, values in part.constants.items()}
    return part.model_copy(update={"constants": one})


def _described(
    recipe: Recipe,
    chosen: Mapping[str, str],
    parts: Mapping[str, Mechanic],
    nouns: Mapping[str, str],
    called: Sequence[str],
) -> Description:
    every = list(parts.values())
    partial = chosen["observation"] == "partial"
    messages_shown = [] if partial else [part.told for part in every]
    hiding = [part.hides for part in every if part.hides] if partial else []
    told_of = [text for part in every for text in (part.instruction, part.hides if partial else "") if text]
    rules, words = _rules(every, messages_shown, chosen["reward"])
    actions = {
        name: {key: value for key, value in action.items() if key != "do"}
        for name, action in _merged(every, "actions").items()
    }
    asks = {word for part in every for word in part.capabilities}
    lines = [*(part.line for part in every), *(part.line for part in messages_shown), "{message}"]
    return Description.model_validate(
        {
            "meta": {
                "name": recipe.name,
                "title": f"{nouns['place'].capitalize()}: {', '.join(called)}",
                **{key: chosen[key] for key in ("reward", "observation", "semantics")},
                "capabilities": [word for word in CAPABILITIES if word in asks],
                "summary": f"In {'an' if nouns['place'][0] in 'aeiou' else 'a'} {nouns['place']}: {'; '.join(called)}.",
            },
            "instruction": " ".join(told_of),
            "state": words,
            "actions": actions,
            "observation": " ".join([*(part.observation for part in every if part.observation), *hiding]),
            "reward": " ".join(part.pays for part in every if part.pays),
            "termination": " ".join(part.termination for part in every if part.termination),
            "max_steps": 60,
            "skin": {
                "text": "\n".join(filter(None, lines)),
                **{key: _merged(every, key) for key in ("legend", "colours", "mirror")},
                "swap": [pair for part in every for pair in part.swap],
            },
            "generator": " ".join(part.generator for part in every if part.generator),
            "rules": rules,
        }
    )


def _rules(
    every: Sequence[Mechanic], messages_shown: Sequence[Told], reward: str
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the rules, and what each variable of the state is in words."""
    state = {key: dict(value) for part in every for key, value in part.state.items()}
    words = {key: value.pop("words") for key, value in state.items()}
    if reward == "binary":
        state["score"] = {"type": "integer", "start": "0"}
        words["score"] = "what was earned so far"
    slots = {key: _joined(getattr(part, key) for part in every) for key in ("check", "enter", "tick")}
    gain = next((part.gain for part in every if part.gain != "1"), "1")
    view = next((part.view for part in every if part.view), "shown")
    observe = {
        key: str(value) for part in (*every, *messages_shown) for key, value in part.observe.items() if value != ""
    }
    level = ", ".join(f'"{key}": {value}' for part in every for key, value in part.level.items())
    rules = {
        "constants": _merged(every, "constants"),
        "state": state,
        "functions": _merged(every, "functions"),
        "actions": {
            name: _paid(_put(action["do"], slots).replace("<gain>", gain), reward)
            for name, action in _merged(every, "actions").items()
        },
        "let": _joined(
            [*(part.let for part in every), *(part.last for part in every), *(part.let for part in messages_shown)]
        ),
        "observe": {key: view if value == "<view>" else value for key, value in observe.items()},
        "levels": {
            "most": MOST_STATES,
            "exact": True,
            "make": _joined(part.make for part in every) + f"return {{{level}}}\n",
        },
    }
    return rules, words


def _merged(parts: Sequence[Mechanic], key: str) -> dict[str, Any]:
    return {name: value for part in parts for name, value in getattr(part, key).items()}


def _joined(texts: Any) -> str:
    return "".join(text if text.endswith("\n") else text + "\n" for text in texts if text)


def _put(rule: str, slots: Mapping[str, str]) -> str:
    """Put what other mechanics do in its place in a rule."""

    def put(match: re.Match[str]) -> str:
        return "\n".join(match.group(1) + line for line in slots[match.group(2)].splitlines())

    return _SLOT.sub(put, rule)


def _paid(rule: str, reward: str) -> str:
    """Put payment in the place of `earn`, or what counts towards the success that pays."""
    if reward == "accumulative":
        return _EARN.sub(r"\1pay(\2)", rule)
    lines = (
        r"\1score += \2",
        r"\1if score >= level.need and score - (\2) < level.need:",
        r"\1  pay(1)",
        r'\1  end("You have done it.")',
    )
    return _EARN.sub("\n".join(lines), rule)
