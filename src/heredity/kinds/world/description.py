"""`world.yaml`: the description of a world, checked against its schema."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from heredity._core.errors import ConfigError
from heredity._core.outside import json_value, read_text, yaml_value
from heredity._core.refusals import reading
from heredity.kinds.world.contract import MAX_STEPS
from heredity.kinds.world.dsl.schema import Rules


class _Stored(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class _StoredBound(_Stored):
    value: float
    kind: Literal["exact", "proven", "declared"]
    reason: str


class _StoredLevel(_Stored):
    id: str
    seed: int
    difficulty: Literal[1, 2, 3]
    data: dict[str, Any]
    bound: _StoredBound
    reference: float


_STORED = TypeAdapter(dict[str, list[_StoredLevel]])


def read_stored(path: Path, splits: Sequence[str]) -> Mapping[str, list[dict[str, Any]]]:
    """Read a `levels.json`: split to levels as JSON values.

    Raises:
        ConfigError: if it cannot be read, or holds something else than the levels of each split; the message names the field.
    """
    with reading(path, "JSON", "regenerate or restore it"):
        stored = json_value(read_text(path))
        _STORED.validate_python(stored)
    missing = [split for split in splits if not stored.get(split)]
    if missing:
        raise ConfigError(f"{path} has no levels of {' and '.join(missing)}; expected some of each; regenerate it")
    return stored


CAPABILITIES = ("navigation", "memory", "inversion", "control", "pattern", "planning", "adversarial")
"""The columns of AutoEnv's table A7, in order."""


_FAR = 10**15
_PLACE = re.compile(r"[<>^]?[+]?[0-9]{0,2}(\.[0-9])?[dgfsx%]?")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Meta(_Part):
    """`meta`: the world's identity, and optionally its row of the paper's tables A6 and A7.

    Attributes:
        name: the folder's name.
        title: the name for people.
        paper: number and name of the row; omitted by a world without one.
        reward: whether only success pays, or rewards add up.
        observation: whether everything relevant is visible.
        semantics: whether words have their usual meaning.
        capabilities: capabilities that it requires.
        summary: one line.
    """

    name: str
    title: str
    paper: tuple[int, str] | None = None
    reward: Literal["binary", "accumulative"]
    observation: Literal["full", "partial"]
    semantics: Literal["aligned", "inverse"]
    capabilities: tuple[
        Literal["navigation", "memory", "inversion", "control", "pattern", "planning", "adversarial"], ...
    ]
    summary: str


class Parameter(_Part):
    """A parameter of an action.

    Attributes:
        type: `integer`, `number`, `choice` or `text`.
        low: minimum of a number, included.
        high: maximum, included.
        of: the words to choose from.
        max_length: of a text, in characters.
        description: for the agent.
    """

    type: Literal["integer", "number", "choice", "text"]
    low: float | None = None
    high: float | None = None
    of: tuple[str, ...] = ()
    max_length: int = 200
    description: str = ""

    @model_validator(mode="after")
    def _complete(self) -> Parameter:
        if self.type in ("integer", "number") and (self.low is None or self.high is None or self.low > self.high):
            raise ValueError("a number needs low and high, low at most high")
        if any(end is not None and not abs(end) <= _FAR for end in (self.low, self.high)):
            raise ValueError(f"low and high are numbers up to {_FAR:g}")
        if self.type == "choice" and not self.of:
            raise ValueError("a choice needs `of`, the words to choose from")
        return self


class ActionDescription(_Part):
    """An action.

    Attributes:
        description: its effect, in words for the agent.
        params: its parameters by name.
        idle: true if it does nothing and must not pay.
    """

    description: str
    params: Annotated[dict[str, Parameter], Field(max_length=12)] = Field(default_factory=dict[str, Parameter])
    idle: bool = False


class SkinDescription(_Part):
    """`skin`: the text template of an observation, and the meaning of its symbols.

    Attributes:
        text: the template; `{name}` is replaced by the value that `observe` returned under that name. `{t}`, `{steps}`
            and `{message}` (the result of the last action) are always available.
        legend: symbol to meaning, for grids; pictures use it to name their colours.
        colours: symbol to `#rrggbb`.
        swap: pairs of grid symbols that the inverse skin exchanges.
        mirror: names of numbers that the inverse skin shows as `low + high - value`, with their low and high; names of
            gauges too.
    """

    text: str
    legend: dict[str, str] = Field(default_factory=dict[str, str])
    colours: dict[str, Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$")]] = Field(default_factory=dict[str, str])
    swap: tuple[tuple[str, str], ...] = ()
    mirror: dict[str, tuple[float, float]] = Field(default_factory=dict[str, tuple[float, float]])

    @model_validator(mode="after")
    def _plain(self) -> SkinDescription:
        for _, field_name, form, conversion in string.Formatter().parse(self.text):
            if field_name is not None and (
                not field_name.isidentifier() or conversion or not _PLACE.fullmatch(form or "")
            ):
                raise ValueError(f"text: {{{field_name}}} is no plain place; write such as {{name}} or {{name:>3}}")
        return self


class Description(_Part):
    """A whole `world.yaml`.

    Attributes:
        meta: its identity.
        instruction: the agent's instruction.
        state: the variables of the state, each with meaning, unit and range.
        actions: by name.
        observation: the exposed and the hidden parts (in words).
        reward: the reward, in words; and the range of one step's reward.
        termination: when an episode ends, in words.
        max_steps: the horizon; a level's `steps` takes precedence.
        skin: the text skin.
        generator: the effect of difficulty, in words.
        rules: the rules in YAML; None for a world whose rules are written in Python.
    """

    meta: Meta
    instruction: str
    state: dict[str, str]
    actions: Annotated[dict[str, ActionDescription], Field(max_length=200)]
    observation: str
    reward: str
    termination: str
    max_steps: Annotated[int, Field(ge=1, le=MAX_STEPS)]
    skin: SkinDescription
    generator: str
    rules: Rules | None = None


def read_description(path: Path) -> Description:
    """Read a `world.yaml`.

    Raises:
        ConfigError: if it cannot be read, is not YAML, or does not fit the schema; the message names the field.
    """
    with reading(path, "YAML", "correct it there", model=Description):
        return Description.model_validate(yaml_value(read_text(path)))
