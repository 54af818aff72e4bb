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
"""An expression; YAML parses some of them as numbers or flags."""

MOST_PARTS = 200
"""Variables and functions of a world."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Shape(_Part):
    """The type of a value.

    Attributes:
        type: the kind of value. A `cell` is [row, column]; a `grid` a list of texts; a `list` or a `table` holds
            anything.
        low: minimum of a number, included; `high`: maximum.
        of: the options of a choice.
        most: maximum number of entries of a list or table, characters of a text, rows and columns of a grid.
        optional: True if it may be None.
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
            raise ValueError("a choice needs `of`, the options")
        return self


class Variable(Shape):
    """A variable of the state.

    Attributes:
        start: its initial value, an expression over `level` and earlier variables.
        fixed: True if it never changes.
    """

    start: Text
    fixed: bool = False


class Hook(_Part):
    """A Python function for anything rules cannot express. It runs in the sandbox, and its result is checked.

    It is a pure function: the same inputs always give the same result. `random` and numpy's global generator are seeded
    from them before each call.

    Attributes:
        file: the module next to the `world.yaml` that defines it, under the hook's name.
        takes: names of its positional parameters.
        reads: additional inputs: names of state variables; `level` is the complete level.
        returns: type of its result.
    """

    file: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}\.py$")] = "hooks.py"
    takes: tuple[Name, ...] = ()
    reads: tuple[Name, ...] = ()
    returns: Shape

    @model_validator(mode="after")
    def _apart(self) -> Hook:
        names = [*self.takes, *self.reads]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"{', '.join(twice)} is given twice; list each input of a hook once")
        return self


class Function(_Part):
    """A function defined by the world: statements that end with a `return`.

    Attributes:
        takes: names of its parameters.
        do: its statements.
    """

    takes: tuple[Name, ...] = ()
    do: str


class Bound(_Part):
    """The upper bound of a level, in place of a search.

    Attributes:
        value: an expression over `level`.
        reason: why nothing can score higher.
    """

    value: Text
    reason: str


class LevelRules(_Part):
    """Rules that make, bound and solve levels.

    Attributes:
        make: statements with draws that return the level, a table; `difficulty` is 1, 2 or 3. A failed `require`
            redraws.
        bound: the upper bound; None to search.
        solve: statements that return a list of actions, each [name, {parameter: value}]; None to search.
        most: maximum number of states in a search.
        exact: redraw a level that search does not settle within that limit, instead of calling its bound declared.
    """

    make: str
    bound: Bound | None = None
    solve: str | None = None
    most: Annotated[int, Field(ge=1, le=60_000)] = 60_000
    exact: bool = False


class Rules(_Part):
    """`rules`: makes a description executable.

    Attributes:
        constants: named values for rules.
        state: the variables, in order of initialization.
        functions: functions defined by the world.
        hooks: Python functions, called like those.
        actions: statements for each action of the description; parameters are available by name.
        after: statements that run after every accepted action that did not end the episode: opponents, drift, clocks.
        refused: statements that let time pass after a refused action; it never pays.
        observe: expressions for the placeholders of the skin's template; `let` are statements that run first, whose
            names they may use.
        let: see `observe`.
        finish: an expression: the payment at the horizon.
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
