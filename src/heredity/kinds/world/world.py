"""A world: its description, its code and its levels, loaded from its folder."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from heredity._core.errors import ConfigError, HeredityError, UnknownNameError, described
from heredity._core.ids import canonical_json, digest_json, generator
from heredity._core.plugins import Group, is_path
from heredity.kinds.world.compose.recipe import Recipe
from heredity.kinds.world.contract import Dynamics, Levels, UpperBound
from heredity.kinds.world.description import Description, read_description, read_stored
from heredity.kinds.world.episode import Episode

WORLDS = Group[ModuleType](
    "heredity.worlds",
    "package of worlds",
    "a package that holds a folder for each world",
    lambda package: hasattr(package, "__path__"),
)
"""Packages with folders of worlds."""

SPLITS = {"test": 10, "validation": 5}
"""Number of levels of each split that a world ships."""
DIFFICULTIES = (1, 2, 3)
CODE = ("dynamics.py", "levels.py", "env_main.py")
"""Files with the code of a whole world, which does not run from a plain folder."""


@dataclass(frozen=True)
class Level:
    """A level of a world.

    Attributes:
        id: `"test-01"`, or `"seed-7-2"` for a generated one.
        seed: seed it was generated from.
        difficulty: 1 to 3.
        data: input of the dynamics' `start`.
        upper_bound: the most reward possible; `reference`: the reference solution's reward.
    """

    id: str
    seed: int
    difficulty: int
    data: Mapping[str, Any]
    upper_bound: UpperBound
    reference: float

    def to_json(self) -> dict[str, Any]:
        """Return it as in `levels.json`."""
        upper_bound = {
            "value": self.upper_bound.value,
            "kind": self.upper_bound.kind,
            "reason": self.upper_bound.reason,
        }
        head = {"id": self.id, "seed": self.seed, "difficulty": self.difficulty}
        return {**head, "data": dict(self.data), "bound": upper_bound, "reference": self.reference}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Level:
        """Read the output of `to_json`."""
        given: dict[str, Any] = dict(value)
        given["upper_bound"] = UpperBound(**given.pop("bound"))
        given["data"] = MappingProxyType(given["data"])
        return cls(**given)


class World:
    """A world: its description, dynamics and levels.

    Attributes:
        folder: its folder.
        description: its `world.yaml`.
        dynamics: its rules; by default those in its `world.yaml`.
        levels: generates levels and bounds; by default from its `world.yaml`.
    """

    def __init__(
        self,
        folder: Path,
        dynamics: Dynamics[Any] | None = None,
        levels: Levels | None = None,
        description: Description | None = None,
    ) -> None:
        self.folder = folder
        self.description: Description = description or read_description(folder / "world.yaml")
        if dynamics is None or levels is None:
            dynamics, levels = from_rules(self.description, folder)
        self.dynamics, self.levels = dynamics, levels
        if self.description.meta.name != folder.name:
            raise ConfigError(f"{folder}/world.yaml names {self.description.meta.name!r}; expected its folder's name")

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.name

    @property
    def sources(self) -> Mapping[str, bytes]:
        """Its files, which its scores depend on."""
        return {path.name: path.read_bytes() for path in sorted(self.folder.glob("*.*")) if path.is_file()}

    @cached_property
    def shipped(self) -> Mapping[str, tuple[Level, ...]]:
        """The levels in `levels.json`: split to levels."""
        stored = read_stored(self.folder / "levels.json", tuple(SPLITS))
        return {split: tuple(map(Level.from_json, stored[split])) for split in SPLITS}

    def level(self, name: str) -> Level:
        """Return a shipped level by its name.

        Raises:
            UnknownNameError: if the level is unknown.
        """
        by_name = {level.id: level for levels in self.shipped.values() for level in levels}
        if name not in by_name:
            raise UnknownNameError(f"level of {self.name}", name, by_name)
        return by_name[name]

    def make(self, seed: int, difficulty: int, name: str = "") -> Level:
        """Generate the level of a seed, with its bound and the reference solution's reward.

        Raises:
            ConfigError: if the reference solution exceeds the bound, or fails a binary world, so the world is wrong.
        """
        made = self.levels.generate(generator(seed, "world", self.name, difficulty), difficulty)
        data: dict[str, Any] = json.loads(canonical_json(made))
        upper_bound, reference = self.levels.upper_bound(data), self.play(data)
        if reference > upper_bound.value + 1e-9 or (self.description.meta.reward == "binary" and reference != 1.0):
            raise ConfigError(
                f"{self.name}, seed {seed}, difficulty {difficulty}: the reference solution gets {reference:g} of"
                f" {upper_bound.value:g}; the generator, the bound or the solution is wrong"
            )
        return Level(name or f"seed-{seed}-{difficulty}", seed, difficulty, data, upper_bound, reference)

    def play(self, data: Mapping[str, Any]) -> float:
        """Return the reference solution's reward on a level."""
        episode = self.start(data)
        for action in self.levels.solve(data):
            if episode.done:
                break
            episode.step(action.to_json())
        while not episode.done:
            episode.step(None)
        return episode.total

    def start(self, data: Mapping[str, Any]) -> Episode:
        """Start a level."""
        return Episode(self.description, self.dynamics, data)

    def make_shipped(self) -> dict[str, list[Level]]:
        """Generate the shipped levels, all different; deterministic."""
        seen: set[str] = set()
        made: dict[str, list[Level]] = {}
        for split, count in SPLITS.items():
            base = {"test": 1000, "validation": 2000}[split]
            made[split] = []
            seed = base
            while len(made[split]) < count:
                index = len(made[split])
                level = self.make(seed, DIFFICULTIES[index * len(DIFFICULTIES) // count], f"{split}-{index + 1:02d}")
                seed += 1
                digest = digest_json(level.data)
                if digest not in seen:
                    seen.add(digest)
                    made[split].append(level)
                elif seed > base + 500:
                    raise ConfigError(f"{self.name} generates too few different levels; extend its generator")
        return made

    def levels_text(self) -> str:
        """Return the contents of `levels.json`."""
        return levels_text(self.make_shipped())


def levels_text(shipped: Mapping[str, Sequence[Level]]) -> str:
    """Return a world's levels as a `levels.json`."""
    rows = {split: [json.dumps(level.to_json(), sort_keys=True) for level in shipped[split]] for split in SPLITS}
    parts = [f' "{split}": [\n  ' + ",\n  ".join(lines) + "\n ]" for split, lines in rows.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def from_rules(description: Description, folder: Path) -> tuple[Dynamics[Any], Levels]:
    """Return the dynamics and levels defined by a description's rules.

    Raises:
        ConfigError: if it has none, or they are not in the language of rules.
    """
    from heredity.kinds.world.dsl.dynamics import Compiled, RulesDynamics, RulesLevels

    if description.rules is None:
        raise ConfigError(f"{folder} has neither dynamics.py nor `rules` in its world.yaml; write one of them")
    try:
        dynamics = RulesDynamics(Compiled(description, description.rules, folder))
    except ConfigError as error:
        raise ConfigError(f"{folder / 'world.yaml'}: {error}") from error
    return dynamics, RulesLevels(dynamics)


def in_rules(folder: Path) -> bool:
    """Return True if a folder is a world without code, which is safe to run from any author."""
    return (folder / "world.yaml").is_file() and not any((folder / name).exists() for name in CODE)


def world(name: str) -> World:
    """Return a world by name: installed, composed such as `composed-7`, or the path of a folder with YAML rules only.

    Raises:
        UnknownNameError: if the name is unknown.
        ConfigError: if it is faulty.
    """
    return _world(str(Path(name).resolve()) if is_path(name) else name)


@cache
def _world(name: str) -> World:
    if is_path(name):
        return World(Path(name))
    if (recipe := Recipe.from_name(name)) is not None:
        from heredity.kinds.world.compose.composing import ComposedWorld

        return ComposedWorld(recipe)
    places, faults = _installed()
    if name in faults:
        raise ConfigError(faults[name])
    if name not in places:
        raise UnknownNameError("world", name, places, or_path=True)
    package, folder = places[name]
    if not (folder / "dynamics.py").exists():
        return World(folder)
    try:
        rules = importlib.import_module(f"{package}.{name}.dynamics")
        levels = importlib.import_module(f"{package}.{name}.levels")
        return World(folder, rules.DYNAMICS, levels.LEVELS)
    except HeredityError:
        raise
    # A world's code may raise anything on import.
    except Exception as error:
        raise ConfigError(
            f"the world {name!r} ({folder}) failed to load: {described(error)}; repair or uninstall {package}"
        ) from error


@cache
def world_names() -> tuple[str, ...]:
    """Return the names of all installed worlds, faulty ones included, sorted."""
    return tuple(sorted(_installed()[0]))


@cache
def descriptions() -> Mapping[str, Description]:
    """Return the description of each installed world whose `world.yaml` can be read, by name; no world's code is imported."""
    readable: dict[str, Description] = {}
    for name, (_, folder) in _installed()[0].items():
        with suppress(ConfigError):
            readable[name] = read_description(folder / "world.yaml")
    return readable


def sound_worlds() -> tuple[Mapping[str, World], Mapping[str, str]]:
    """Return the installed worlds by name, and the errors of those that cannot be used, instead of raising them."""
    places, faults = _installed()
    sound, wrong = dict[str, World](), dict(faults)
    for name in sorted(places):
        try:
            sound[name] = world(name)
        except ConfigError as error:
            wrong[name] = str(error)
    return sound, wrong


@cache
def _installed() -> tuple[Mapping[str, tuple[str, Path]], Mapping[str, str]]:
    """Return the package and folder of each world by name, and the errors of worlds and packages by name."""
    places: dict[str, tuple[str, Path]] = {}
    faults: dict[str, str] = {}
    for entry in WORLDS.names():
        try:
            package = WORLDS.load(entry)
        except ConfigError as error:
            faults[f"package {entry}"] = str(error)
            continue
        for folder in sorted(file.parent for home in package.__path__ for file in Path(home).glob("*/world.yaml")):
            other, _ = places.setdefault(folder.name, (package.__name__, folder))
            if other != package.__name__:
                packages = f"{other} and {package.__name__}"
                faults[folder.name] = f"two packages have a world {folder.name!r}: {packages}; uninstall one of them"
    return places, faults
