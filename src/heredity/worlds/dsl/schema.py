"""The schema of `rules` in a `world.yaml`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

NAME = r"^[a-z][a-z0-9_]{0,39}$"
Name = Annotated[str, Field(pattern=NAME)]
Text = Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, int | float) else value)]
"""An expression; YAML reads some of them as numbers or flags."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Variable(_Part):
    """A variable of the state.

    Attributes:
        type: what it holds. A `cell` is [row, column]; a `grid` a list of texts; a `list` or a `table` holds anything.
        start: what it begins with, an expression over `level` and the variables before it.
        low: least value of a number, included; `high`: greatest.
        of: what a choice is chosen from.
        most: entries of a list or table, characters of a text, rows and columns of a grid.
        optional: whether it may be None.
        fixed: whether it never changes.
    """

    type: Literal["integer", "number", "flag", "text", "choice", "cell", "grid", "list", "table"]
    start: Text
    low: float = -1_000_000
    high: float = 1_000_000
    of: tuple[str | int, ...] = ()
    most: Annotated[int, Field(ge=1, le=4000)] = 1000
    optional: bool = False
    fixed: bool = False

    @model_validator(mode="after")
    def _complete(self) -> Variable:
        if self.low > self.high:
            raise ValueError("low is more than high")
        if self.type == "choice" and not self.of:
            raise ValueError("a choice needs `of`, what to choose from")
        return self


class Function(_Part):
    """A function of the world's own: statements that end with a `return`.

    Attributes:
        takes: names of its parameters.
        do: its statements.
    """

    takes: tuple[Name, ...] = ()
    do: str


class Bound(_Part):
    """What can be had on a level, where search does not find it: an expression over `level`, and why nothing more can be had."""

    value: Text
    reason: str


class LevelRules(_Part):
    """How levels are made, bounded and solved.

    Attributes:
        make: statements with draws that return the level, a table; `difficulty` is 1, 2 or 3. A failed `require` draws anew.
        bound: the most that can be had; None for a search over all that can happen.
        solve: statements that return a list of actions, each [name, {parameter: value}]; None for a search.
        most: how many situations a search looks at.
        exact: whether a level that search does not settle by then is drawn anew, instead of its bound being called declared.
    """

    make: str
    bound: Bound | None = None
    solve: str | None = None
    most: Annotated[int, Field(ge=1, le=60_000)] = 60_000
    exact: bool = False


class Rules(_Part):
    """`rules`: what makes a description a world that runs.

    Attributes:
        constants: values by name, which rules use.
        state: the variables, in the order in which they begin.
        functions: the world's own.
        actions: statements for each action of the description, with its parameters by name.
        refused: statements that let time pass after a refused action; it never pays.
        observe: expressions for the places of the skin's template; `let` are statements before, whose names they may use.
        let: see `observe`.
        finish: an expression: what is paid when the last step of the horizon has passed.
        levels: how levels are made.
    """

    constants: dict[Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{0,39}$")], Any] = Field(
        default_factory=dict[str, Any]
    )
    state: dict[Name, Variable]
    functions: dict[Name, Function] = Field(default_factory=dict[str, Function])
    actions: dict[str, str]
    refused: str = ""
    let: str = ""
    observe: dict[str, Text]
    finish: Text = ""
    levels: LevelRules
