"""Composes worlds from mechanics drawn by a seed, in memory or written as a folder."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import yaml
from pydantic import BaseModel, ConfigDict, Field

from heredity._core.ids import generator
from heredity._core.outside import yaml_value
from heredity.kinds.world.compose.recipe import CHOICES, Recipe
from heredity.kinds.world.description import CAPABILITIES, Description, SkinDescription
from heredity.kinds.world.world import SPLITS, Level, World, levels_text

FOLDER = Path(__file__).with_name("mechanics")
COMMON = "common"
"""File of the mechanics common to all stages."""
_MECHANICS_NOUN = re.compile(r"(\b[Aa] )?\$(\w+)")
_EITHER = re.compile(r"«([^«»|]*)\|([^«»]*)»")


class Told(BaseModel):
    """Output of a mechanic when nothing is hidden."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    let: str = ""
    observe: dict[str, str] = Field(default_factory=dict[str, str])
    line: str = ""


class Mechanic(BaseModel):
    """A mechanic, or the stage of a family of worlds.

    Attributes:
        stage: True if it is the base of the others.
        goal: True if it defines the reward (a stage without a goal needs exactly one mechanic with one).
        reward: the kind of reward it supports; None for both.
        barrier: True if it is an obstacle.
        hidden: True if it hides something, so it needs partial observation.
        inverse: True if it makes words mean the opposite (its constants are lists from which one is drawn).
        loops: True if it needs more than one path.
        deed: the main action of a stage, `$deed` in the texts of common mechanics; their checks run before it.
        mechanic: its name; the stage's own name if it adds none.
        hides: replaces `told` if something may be hidden.
        make: statements of `levels.make`; `level`: the parts that the level keeps.
        check: statements before any change, `enter` after the main action, `tick` after every action.
        state: variables with `words`; `actions` with their rule `do`; `observe`, `let`, `line`: the observed values and
            their format.
        last: statements of `let` that follow those of the others; `view`: the expression of the visible grid.
        pays: the reward in words; `gain`: an expression that multiplies rewards, in the place of `<gain>`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    stage: bool = False
    goal: bool = False
    reward: Literal["binary", "accumulative"] | None = None
    barrier: bool = False
    hidden: bool = False
    inverse: bool = False
    loops: bool = False
    deed: str = ""
    mechanic: str = ""
    capabilities: tuple[str, ...] = ()
    instruction: str = ""
    observation: str = ""
    hides: str = ""
    told: Told = Told()
    pays: str = ""
    gain: str = "1"
    termination: str = ""
    generator: str = ""
    steps: str = ""
    constants: dict[str, Any] = Field(default_factory=dict[str, Any])
    state: dict[str, dict[str, Any]] = Field(default_factory=dict[str, dict[str, Any]])
    functions: dict[str, dict[str, Any]] = Field(default_factory=dict[str, dict[str, Any]])
    actions: dict[str, dict[str, Any]] = Field(default_factory=dict[str, dict[str, Any]])
    make: str = ""
    level: dict[str, str | int] = Field(default_factory=dict[str, str | int])
    check: str = ""
    enter: str = ""
    tick: str = ""
    let: str = ""
    last: str = ""
    view: str = ""
    observe: dict[str, str | int] = Field(default_factory=dict[str, str | int])
    line: str = ""
    legend: dict[str, str] = Field(default_factory=dict[str, str])
    colours: dict[str, str] = Field(default_factory=dict[str, str])
    swap: tuple[tuple[str, str], ...] = SkinDescription(text="").swap
    mirror: dict[str, tuple[float | str, float | str]] = Field(
        default_factory=dict[str, tuple[float | str, float | str]]
    )


@cache
def families() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """Return the mechanics as written: family to name to fields, the common ones in each."""
    files = {path.stem: yaml_value(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.yaml"))}
    return {name: {**own, **files[COMMON]} for name, own in files.items() if name not in (COMMON, "themes")}


@cache
def common() -> frozenset[str]:
    """Return the names of the mechanics common to all stages."""
    return frozenset(yaml_value((FOLDER / f"{COMMON}.yaml").read_text(encoding="utf-8")))


@cache
def themes() -> Mapping[str, Mapping[str, str]]:
    """Return the vocabularies: name to the word for each noun."""
    return yaml_value((FOLDER / "themes.yaml").read_text(encoding="utf-8"))


@cache
def mechanics(family: str) -> Mapping[str, Mechanic]:
    """Return the mechanics of a family, with nouns not yet filled in."""
    return {name: Mechanic.model_validate(fields) for name, fields in families()[family].items()}


def worded(family: str, name: str, nouns: Mapping[str, str], reward: str) -> Mechanic:
    """Return a mechanic in the words of a vocabulary, for a kind of reward."""

    def noun(match: re.Match[str]) -> str:
        article, word = match.group(1) or "", match.group(2)
        value = nouns[word] if word in nouns else nouns[word.lower()][:1].upper() + nouns[word.lower()][1:]
        return (article.strip() + "n " if article and value[0].lower() in "aeiou" else article) + value

    def put(value: Any) -> Any:
        if isinstance(value, str):
            chosen = _EITHER.sub(lambda match: match.group(1 if reward == "accumulative" else 2), value)
            return _MECHANICS_NOUN.sub(noun, chosen)
        if isinstance(value, dict):
            return {put(key): put(inner) for key, inner in value.items()}  # pyright: ignore[reportUnknownVariableType]
        return [put(inner) for inner in value] if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType]

    return Mechanic.model_validate(put(families()[family][name]))


MOST_STATES = 4000
"""Maximum number of states in the search for a level's exact bound."""
_OFTEN = ("circle", "duel", "ferry", "shelf", "vessels", "waters", "workshop")
_WEIGHTS = {**dict.fromkeys(_OFTEN, 3), "grid": 5, "hall": 2, "plots": 2, "trade": 2, "works": 2}
"""Relative frequency of each stage."""
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
"""Numbers in the rules of a family, as `$name`; the seed draws one of each."""
_SLACKS = (2, 4, 8, 14, 24)
"""Steps granted in addition to those of the solution."""
_COMMON_SLACK = 6
"""Extra steps for each common mechanic, since these take steps too."""
_SHARES = {"semantics": (0.75, 0.25)}
"""Relative frequency of each of `CHOICES` if not uniform."""
_EARN = re.compile(r"^( *)earn\((.*)\)$", re.MULTILINE)
_NOUN = re.compile(r"\$(\w+)")
_SLOT = re.compile(r"^( *)<(check|enter|tick)>$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Composition:
    """A composed world.

    Attributes:
        description: its description, with rules.
        mechanics: its mechanics, in words.
        theme: the vocabulary of its texts.
    """

    description: Description
    mechanics: tuple[str, ...]
    theme: str


def compose(recipe: Recipe) -> Composition:
    """Compose a world. The same recipe gives the same world.

    Raises:
        ConfigError: if the result does not fit the schema.
    """
    rng = generator(recipe.seed, "compose")
    drawn = {key: str(rng.choice(words, p=_SHARES.get(key))) for key, words in CHOICES.items()}
    chosen = {key: getattr(recipe, key) or value for key, value in drawn.items()}
    weights = np.array([_WEIGHTS[name] for name in families()], float)
    family = tuple(families())[int(rng.choice(len(weights), p=weights / weights.sum()))]
    theme = tuple(themes())[int(rng.integers(len(themes())))]
    names = _draw_mechanics(rng, family, chosen)
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
    parts = {name: _draw_constants(rng, part) for name, part in parts.items()}
    called = tuple(part.mechanic for part in parts.values() if part.mechanic)
    return Composition(_described(recipe, chosen, parts, nouns, called), called, theme)


def _draw_mechanics(rng: np.random.Generator, family: str, chosen: Mapping[str, str]) -> list[str]:
    """Draw a world's mechanics: the stage, the reward, and others that obstruct or complicate it."""
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
    """Return the numbers in the rules, sizes and lengths, by the world's difficulty."""
    level = int(chosen["difficulty"])
    loops = 0.6 if any(mechanics(family)[name].loops for name in names) else float(rng.choice([0.0, 0.1, 0.2]))
    slack, more = int(rng.choice(_SLACKS)), int(rng.integers(2))
    slack += _COMMON_SLACK * len(common() & {*names})
    variants = {**_VARIANTS.get(family, {}), **_VARIANTS[COMMON]}
    drawn = {name: choices[int(rng.integers(len(choices)))] for name, choices in variants.items()}
    few = 1 + (level > 1)
    sizes = {"loops": f"{loops:g}", "few": few, "some": few + more, "tempo": 5 - level, "slack": slack}
    return {name: str(value) for name, value in {**sizes, **drawn}.items()}


def _draw_constants(rng: np.random.Generator, part: Mechanic) -> Mechanic:
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
    """Return the rules, and the description of each state variable."""
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
            name: _replace_earn(_fill_slots(action["do"], slots).replace("<gain>", gain), reward)
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


def _fill_slots(rule: str, slots: Mapping[str, str]) -> str:
    """Insert the contributions of other mechanics into a rule."""

    def put(match: re.Match[str]) -> str:
        return "\n".join(match.group(1) + line for line in slots[match.group(2)].splitlines())

    return _SLOT.sub(put, rule)


def _replace_earn(rule: str, reward: str) -> str:
    """Replace `earn` by payment, or by progress towards the success that pays."""
    if reward == "accumulative":
        return _EARN.sub(r"\1pay(\2)", rule)
    lines = (
        r"\1score += \2",
        r"\1if score >= level.need and score - (\2) < level.need:",
        r"\1  pay(1)",
        r'\1  end("You have done it.")',
    )
    return _EARN.sub("\n".join(lines), rule)


class ComposedWorld(World):
    """A world defined by its name alone; its shipped levels are generated on access.

    Args:
        recipe: the recipe of the world.

    Attributes:
        composition: the parts it is composed of.

    Raises:
        ConfigError: if its rules are invalid.
    """

    def __init__(self, recipe: Recipe) -> None:
        self.composition: Composition = compose(recipe)
        super().__init__(Path(recipe.name), description=self.composition.description)

    @cached_property
    def shipped(self) -> Mapping[str, tuple[Level, ...]]:
        """Its shipped levels."""
        made = self.make_shipped()
        return {split: tuple(made[split]) for split in SPLITS}

    @property
    def sources(self) -> Mapping[str, bytes]:
        """Everything that its scores depend on: its description, rules included."""
        return {"world.yaml": description_text(self.description).encode()}

    def write(self, folder: Path) -> None:
        """Write it as a world folder, `world.yaml` and `levels.json`, named after the folder."""
        named = self.description.model_copy(
            update={"meta": self.description.meta.model_copy(update={"name": folder.resolve().name})}
        )
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "world.yaml").write_text(description_text(named), encoding="utf-8")
        same = named.meta.name == self.name  # Levels are drawn by a world's name.
        text = levels_text(self.shipped) if same else World(folder.resolve()).levels_text()
        (folder / "levels.json").write_text(text, encoding="utf-8")


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_FAST: type[yaml.SafeDumper] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_DUMPER = cast("type[yaml.SafeDumper]", type("_Dumper", (_FAST,), {}))
"""YAML dumper that writes rules as blocks of lines."""
_DUMPER.add_representer(str, _text)


def description_text(description: Description) -> str:
    """Return a description as a `world.yaml`."""
    return yaml_text(json.loads(description.model_dump_json(exclude_defaults=True)))


def yaml_text(value: object) -> str:
    """Return a value as YAML, with texts of several lines as blocks."""
    return yaml.dump(value, Dumper=_DUMPER, sort_keys=False, allow_unicode=True, width=120)
