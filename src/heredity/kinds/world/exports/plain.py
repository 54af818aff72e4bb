"""A world's description as plain classes, for exported worlds: reads a validated description without the schema.

The classes have the names and fields of those in `heredity.kinds.world.description` and
`heredity.kinds.world.dsl.schema`, which they replace without pydantic. `read_stored` replaces that of
`heredity.kinds.world.description`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml


@dataclass(frozen=True)
class Meta:
    """The world's identity."""

    name: str
    title: str
    paper: Any
    reward: Literal["binary", "accumulative"]
    observation: str
    semantics: str
    capabilities: tuple[str, ...]
    summary: str


@dataclass(frozen=True)
class Parameter:
    """A parameter of an action."""

    type: str
    low: float | None
    high: float | None
    of: tuple[str, ...]
    max_length: int
    description: str


@dataclass(frozen=True)
class ActionDescription:
    """An action."""

    description: str
    params: Mapping[str, Parameter]
    idle: bool


@dataclass(frozen=True)
class SkinDescription:
    """The text template of observations, and the colours of pictures."""

    text: str
    legend: Mapping[str, str]
    colours: Mapping[str, str]
    swap: tuple[tuple[str, str], ...]
    mirror: Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Variable:
    """A variable of the state of a world in rules."""

    type: str
    start: str
    low: float
    high: float
    of: tuple[str | int, ...]
    most: int
    optional: bool
    fixed: bool


@dataclass(frozen=True)
class Function:
    """A function of a world in rules."""

    takes: tuple[str, ...]
    do: str


@dataclass(frozen=True)
class Shape:
    """The type of a hook's result."""

    type: str
    low: float
    high: float
    of: tuple[str | int, ...]
    most: int
    optional: bool


@dataclass(frozen=True)
class Hook:
    """A Python function of a world in rules."""

    file: str
    takes: tuple[str, ...]
    reads: tuple[str, ...]
    returns: Shape


@dataclass(frozen=True)
class Bound:
    """A stated bound."""

    value: str
    reason: str


@dataclass(frozen=True)
class LevelRules:
    """Rules that make, bound and solve levels."""

    make: str
    bound: Bound | None
    solve: str | None
    most: int
    exact: bool


@dataclass(frozen=True)
class Rules:
    """The executable rules of a world."""

    constants: Mapping[str, Any]
    state: Mapping[str, Variable]
    functions: Mapping[str, Function]
    hooks: Mapping[str, Hook]
    actions: Mapping[str, str]
    after: str
    refused: str
    let: str
    observe: Mapping[str, str]
    finish: str
    levels: LevelRules


@dataclass(frozen=True)
class Description:
    """A whole description."""

    meta: Meta
    instruction: str
    state: Mapping[str, str]
    actions: Mapping[str, ActionDescription]
    observation: str
    reward: str
    termination: str
    max_steps: int
    skin: SkinDescription
    generator: str
    rules: Rules | None


def read_description(path: Path) -> Description:
    """Read a `world.yaml` that has all fields."""
    return description_of(yaml.safe_load(path.read_text(encoding="utf-8")))


def read_stored(path: Path, splits: Sequence[str]) -> Mapping[str, list[dict[str, Any]]]:
    """Read an exported `levels.json`: split to levels as JSON values."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    return {split: stored[split] for split in splits}


def description_of(value: Mapping[str, Any]) -> Description:
    """Return a description from its value, with every field present."""
    given = dict(value)
    given["meta"] = Meta(**_tuples(given["meta"]))
    given["actions"] = {name: _action(action) for name, action in given["actions"].items()}
    skin: dict[str, Any] = dict(given["skin"])
    skin["swap"] = tuple(map(tuple, skin["swap"]))
    given["skin"] = SkinDescription(**skin)
    given["rules"] = None if given["rules"] is None else _rules(given["rules"])
    return Description(**given)


def _action(value: Mapping[str, Any]) -> ActionDescription:
    params = {name: Parameter(**_tuples(parameter)) for name, parameter in value["params"].items()}
    return ActionDescription(value["description"], params, value["idle"])


def _rules(value: Mapping[str, Any]) -> Rules:
    given, levels = dict(value), dict(value["levels"])
    given["state"] = {name: Variable(**_tuples(variable)) for name, variable in value["state"].items()}
    given["functions"] = {name: Function(**_tuples(function)) for name, function in value["functions"].items()}
    given["hooks"] = {name: _hook(hook) for name, hook in value["hooks"].items()}
    levels["bound"] = None if levels["bound"] is None else Bound(**levels["bound"])
    given["levels"] = LevelRules(**levels)
    return Rules(**given)


def _hook(value: Mapping[str, Any]) -> Hook:
    returns = Shape(**_tuples(value["returns"]))
    return Hook(value["file"], tuple(value["takes"]), tuple(value["reads"]), returns)


def _tuples(value: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(inner) if isinstance(inner, list) else inner for key, inner in value.items()}
