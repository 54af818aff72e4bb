"""`world.yaml`: the description of a world, checked against its schema."""

from __future__ import annotations

import re
import string
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from heredity.outside import read_text, yaml_value
from heredity.refusals import reading
from heredity.worlds.contract import MAX_STEPS
from heredity.worlds.dsl.schema import Rules

CAPABILITIES = ("navigation", "memory", "inversion", "control", "pattern", "planning", "adversarial")
"""The columns of AutoEnv's table A7, in order."""


_FAR = 10**15
_PLACE = re.compile(r"[<>^]?[+]?[0-9]{0,2}(\.[0-9])?[dgfsx%]?")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Meta(_Part):
    """`meta`: what the world is, and perhaps which row of the paper's tables A6 and A7 it stands for.

    Attributes:
        name: the folder's name.
        title: for people.
        paper: number and name of the row; left out of a world that stands for none.
        reward: whether success alone pays, or rewards add up.
        observation: whether everything that matters is seen.
        semantics: whether words mean what they say.
        capabilities: what it asks of an agent.
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
        low: least value of a number, included.
        high: greatest value, included.
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
    """An action: what it does, as the agent is told, its parameters, and whether it is `idle`: it does nothing and must not pay."""

    description: str
    params: Annotated[dict[str, Parameter], Field(max_length=12)] = Field(default_factory=dict[str, Parameter])
    idle: bool = False


class SkinDescription(_Part):
    """`skin`: how an observation becomes text, and what its symbols mean.

    Attributes:
        text: the template; `{name}` is replaced by what `observe` returned under that name. `{t}`, `{steps}` and `{message}`
            (what the last action led to) are always there.
        legend: symbol to meaning, for grids; also what pictures name their colours by.
        colours: symbol to `#rrggbb`.
        swap: what the inverse skin exchanges: pairs of symbols in the grid.
        mirror: names of numbers that the inverse skin shows as `low + high - value`, with their low and high; names of gauges too.
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
        meta: what it is.
        instruction: what the agent is told at the beginning.
        state: the template of the state: each variable and what it is, with unit and range.
        actions: by name.
        observation: what is exposed and what is not, in words.
        reward: what pays, in words; and the range of one step's reward.
        termination: when an episode ends, in words.
        max_steps: the horizon; a level's `steps` comes before it.
        skin: the text skin.
        generator: what difficulty changes, in words.
        rules: what makes it run without any code; None for a world whose rules are written in Python.
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
