"""The schema of `rules` in a `world.yaml`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

NAME = r"^[a-z][a-z0-9_]{0,39}$"
Name = Annotated[str, Field(pattern=NAME)]
Text = Annotated[
    str,
    BeforeValidator(lambda value: str(value) if isinstance(value, int | float) else value),
    WithJsonSchema({"type": ["string", "number", "boolean"]}),
]
"""An expression; YAML reads some of them as numbers or flags."""

MOST_PARTS = 200
"""Variables of a world, and its functions."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Shape(_Part):
    """What a value is.

    Attributes:
        type: what it holds. A `cell` is [row, column]; a `grid` a list of texts; a `list` or a `table` holds anything.
        low: least value of a number, included; `high`: greatest.
        of: what a choice is chosen from.
        most: entries of a list or table, characters of a text, rows and columns of a grid.
        optional: whether it may be None.
    """

    type: Literal["integer", "number", "flag", "text", "choice", "cell", "grid", "list", "table"]
    low: float = -1_000_000
    high: float = 1_000_000
    of: tuple[str | int, ...] = ()
    most: Annotated[int, Field(ge=1, le=4000)] = 1000
    optional: bool = False

    @model_validator(mode="after")
    def _complete(self) -> Shape:
        if self.low > self.high:
            raise ValueError("low is more than high")
        if self.type == "choice" and not self.of:
            raise ValueError("a choice needs `of`, what to choose from")
        return self


class Variable(Shape):
    """A variable of the state.

    Attributes:
        start: what it begins with, an expression over `level` and the variables before it.
        fixed: whether it never changes.
    """

    start: Text
    fixed: bool = False


class Hook(_Part):
    """A function in Python for what rules cannot say. It runs in the sandbox, and what it returns is checked.

    It is a function of what it is given and of nothing else: the same values always give the same result. `random` and numpy's
    global generator are seeded by them before each call.

    Attributes:
        file: the module beside the `world.yaml` that defines it, under the hook's own name.
        takes: names of its parameters, which a rule gives it by place.
        reads: variables of the state that it is given besides, by their names; `level` is all of the level.
        returns: what it returns.
    """

    file: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}\.py$")] = "hooks.py"
    takes: tuple[Name, ...] = ()
    reads: tuple[Name, ...] = ()
    returns: Shape

    @model_validator(mode="after")
    def _apart(self) -> Hook:
        names = [*self.takes, *self.reads]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"{', '.join(twice)} is given twice; name everything that a hook takes or reads once")
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
        hooks: functions in Python, which rules call as those.
        actions: statements for each action of the description, with its parameters by name.
        after: statements that follow every action that was taken and has not ended the episode: opponents, drift, clocks.
        refused: statements that let time pass after a refused action; it never pays.
        observe: expressions for the places of the skin's template; `let` are statements before, whose names they may use.
        let: see `observe`.
        finish: an expression: what is paid when the last step of the horizon has passed.
        levels: how levels are made.
    """

    constants: dict[Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{0,39}$")], Any] = Field(
        default_factory=dict[str, Any]
    )
    state: Annotated[dict[Name, Variable], Field(max_length=MOST_PARTS)]
    functions: Annotated[dict[Name, Function], Field(max_length=MOST_PARTS)] = Field(
        default_factory=dict[str, Function]
    )
    hooks: Annotated[dict[Name, Hook], Field(max_length=MOST_PARTS)] = Field(default_factory=dict[str, Hook])
    actions: dict[str, str]
    after: str = ""
    refused: str = ""
    let: str = ""
    observe: dict[str, Text]
    finish: Text = ""
    levels: LevelRules
