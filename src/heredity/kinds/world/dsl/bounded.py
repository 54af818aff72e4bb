"""Bounded implementations of operators, loops and effects of rules: sizes are limited, and every pass is counted."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from heredity._core.errors import ConfigError, HeredityError, RefusedError
from heredity.kinds.world.mechanics import grids

if TYPE_CHECKING:
    from heredity.kinds.world.dsl.schema import Shape

MAX_CELLS = 160_000
"""Maximum rows and columns of a grid."""


MAX_NUMBER = 10**15
MAX_LENGTH = 4000
"""Maximum length of a list, a table or a text."""
MAX_WEIGHT = 4000
"""Maximum number of values in a list, nested ones included."""
MAX_DEPTH = 12
"""Maximum nesting depth of lists and tables."""
MAX_PASSES = 20_000
"""Maximum passes through loops, and steps of long functions, in one turn."""
MAX_LEVEL_PASSES = 50 * MAX_PASSES
"""The same when a level is made, bounded or solved."""

SEARCH_PASSES = 10 * MAX_PASSES
"""Passes charged for a search while a level is made; there are at most four."""


class RuleError(HeredityError):
    """A rule that failed at run time: an index out of range, too long a text, too many passes."""


class RejectedError(HeredityError):
    """A level that its generator rejects; it is redrawn."""


class Turn:
    """The result of a turn: payment, end of the episode, messages; and its remaining budget.

    Attributes:
        most: maximum number of passes.
        rng: source of chance when levels are made.
    """

    __slots__ = ("done", "message", "most", "passes", "reward", "rng")

    def __init__(self, most: int = MAX_PASSES, rng: np.random.Generator | None = None) -> None:
        self.most, self.passes, self.reward, self.done, self.message, self.rng = most, most, 0.0, False, "", rng

    def count(self, passes: int) -> None:
        """Count passes through a loop.

        Raises:
            RuleError: if there are too many.
        """
        self.passes -= passes
        if self.passes < 0:
            raise RuleError(f"more than {self.most} passes through loops in one turn; make the lists shorter")


# --- replacements of operators and effects


def _it(turn: Turn, values: Any, cost: int) -> Any:
    if type(values) is not tuple:
        if not isinstance(values, dict | str):
            raise RuleError(f"{value_text(values)} is not a list to loop over")
        values = tuple(values)
    turn.passes -= (len(values) + 1) * cost
    if turn.passes < 0:
        turn.count(0)
    return values


def _numbered(turn: Turn, cost: int, values: Any) -> Any:
    return enumerate(_it(turn, values, cost))


def _pairs(turn: Turn, cost: int, one: Any, other: Any) -> Any:
    return zip(_it(turn, one, cost), _it(turn, other, cost), strict=False)


def _counted(turn: Turn, function: Callable[..., Any], values: Any, *others: Any) -> Any:
    """Call a function that iterates over its first argument: a list, a table, or a grid with all its cells."""
    kind = type(values)
    size = len(values) if kind in _LONG or kind is dict else 1
    if size and kind is tuple and type(values[0]) in _LONG:
        size += _letters(values) if type(values[0]) is str else size * len(values[0])
    turn.passes -= size
    if turn.passes < 0:
        turn.count(0)
    return function(values, *others)


def _letters(values: tuple[Any, ...]) -> int:
    if _TEXT.issuperset(map(type, values)):
        return sum(map(len, values))
    return sum([len(v) for v in values if type(v) is str])


def _doubled(turn: Turn, function: Callable[..., Any], values: Sequence[Any]) -> Any:
    """Call a function whose cost doubles with each entry of its list."""
    turn.count(len(values) << min(len(values), 50))
    return function(values)


def whole(made: Any) -> Any:
    """Return a new list, table or text if its length, weight and depth are within the limits."""
    if len(made) > MAX_LENGTH:
        raise RuleError(f"a list, table or text of {len(made)} is longer than {MAX_LENGTH}")
    if type(made) is not str:
        _weigh(made, 0, MAX_WEIGHT)
    return made


def _weigh(value: Any, depth: int, left: int) -> int:
    """Subtract a value's weight from a weight and return the rest."""
    inside = value.values() if type(value) is dict else value
    left -= len(inside)
    if left < 0:
        raise RuleError(f"a list of lists with more than {MAX_WEIGHT} values")
    if not PLAIN.issuperset(map(type, inside)):
        if depth == MAX_DEPTH:
            raise RuleError(f"more than {MAX_DEPTH} nested lists and tables")
        for inner in inside:
            if type(inner) is tuple or type(inner) is dict:
                left = _weigh(inner, depth + 1, left)
    return left


PLAIN = frozenset({int, float, str, bool, type(None)})
_NUMBERS = frozenset({int, float, bool})
_LONG = frozenset({str, tuple})
_TEXT = frozenset({str})


def listed(values: list[Any] | tuple[Any, ...]) -> tuple[Any, ...]:
    """Return values as a list of the language. Raises like `whole`."""
    made = tuple(values)
    return made if len(made) <= MAX_LENGTH and PLAIN.issuperset(map(type, made)) else whole(made)


def bounded_number(made: Any) -> Any:
    """Return a number if its magnitude is at most `MAX_NUMBER`."""
    if not abs(made) <= MAX_NUMBER:
        raise RuleError(f"{value_text(made)} is beyond {MAX_NUMBER:g}")
    return made


def _add(a: Any, b: Any) -> Any:
    made = a + b
    if type(made) in _NUMBERS and -MAX_NUMBER <= made <= MAX_NUMBER:
        return made
    return whole(made) if type(made) in _LONG else bounded_number(made)


def _mul(a: Any, b: Any) -> Any:
    if type(a) in _NUMBERS and type(b) in _NUMBERS:
        made = a * b
        return made if -MAX_NUMBER <= made <= MAX_NUMBER else bounded_number(made)
    for one, other in ((a, b), (b, a)):
        if type(one) in _LONG:
            if not isinstance(other, int) or len(one) * other > MAX_LENGTH:
                raise RuleError(f"{value_text(other)} times {value_text(one)} is longer than {MAX_LENGTH}")
            return whole(one * other)
    return bounded_number(a * b)


def _mod(a: Any, b: Any) -> Any:
    if type(a) not in _NUMBERS:
        raise RuleError(f"{value_text(a)} % {value_text(b)}: % needs numbers")
    return a % b


def _shl(a: int, b: int) -> int:
    if not 0 <= b <= 50 or abs(a) >> (50 - b):
        raise RuleError(f"{value_text(a)} << {value_text(b)} is beyond {MAX_NUMBER:g}")
    return a << b


def _assign(held: Any, places: tuple[Any, ...], value: Any) -> Any:
    step: Any = places[0]
    rest: tuple[Any, ...] = places[1:]
    if type(step) is tuple and len(step) == 2 and not isinstance(held, Mapping):
        step, rest = step[0], (step[1], *rest)
    inner = _assign(held[step], rest, value) if rest else value
    if isinstance(held, Mapping):
        return whole({**held, step: inner})
    if not isinstance(step, int) or not -len(held) <= step < len(held):
        raise RuleError(f"there is no index {value_text(step)} in a list of {len(held)}")
    step %= len(held)
    if isinstance(held, str):
        if not isinstance(inner, str) or len(inner) != 1:
            raise RuleError(f"{value_text(inner)} is not a single character")
        return held[:step] + inner + held[step + 1 :]
    return listed((*held[:step], inner, *held[step + 1 :]))


def text_of(value: Any) -> str:
    """Format a value for messages."""
    if type(value) is float:
        return f"{value:g}"
    return whole(", ".join(map(text_of, value))) if type(value) is tuple else str(value)


def _text(*parts: Any) -> str:
    made = "".join([part if type(part) is str else text_of(part) for part in parts])
    return made if len(made) <= MAX_LENGTH else whole(made)


def value_text(value: Any) -> str:
    """Format a value for errors."""
    return f"{value!r:.60}" if not isinstance(value, int) or abs(value) < MAX_NUMBER**2 else "a huge number"


def _refuse(turn: Turn, message: str) -> NoReturn:
    raise RefusedError(message)


def _pay(turn: Turn, amount: Any) -> None:
    if not (type(amount) in _NUMBERS and -MAX_NUMBER <= amount <= MAX_NUMBER):
        raise RuleError(f"{value_text(amount)} cannot be paid")
    turn.reward += amount


def _end(turn: Turn, message: str = "") -> None:
    turn.done = True
    _say(turn, message)


def _say(turn: Turn, message: str) -> None:
    if message:
        turn.message = whole(f"{turn.message} {message}" if turn.message else message)


# --- chance, when levels are made


def _rng(turn: Turn) -> np.random.Generator:
    assert turn.rng is not None, "rules that draw are only compiled for levels"
    turn.count(1)
    return turn.rng


def _draw(turn: Turn, low: int, high: int) -> int:
    return int(_rng(turn).integers(low, high + 1))


def _choose(turn: Turn, values: Sequence[Any]) -> Any:
    return values[int(_rng(turn).integers(len(values)))]


def _shuffle(turn: Turn, values: Sequence[Any]) -> tuple[Any, ...]:
    turn.count(len(values))
    return tuple(values[int(i)] for i in _rng(turn).permutation(len(values)))


def _chance(turn: Turn, share: float) -> bool:
    return bool(_rng(turn).random() < share)


def _maze(turn: Turn, rows: int, columns: int, loops: float) -> tuple[str, ...]:
    if not (5 <= rows <= 99 and 5 <= columns <= 99 and rows % 2 and columns % 2):
        raise RuleError(f"a maze of {value_text(rows)} by {value_text(columns)}; sides are odd, 5 to 99")
    turn.count(rows * columns)
    return tuple(grids.maze(_rng(turn), rows, columns, loops))


class Making(Turn):
    """The turn in which a level is made: `solve` searches for the best actions on a draft of it."""

    __slots__ = ("solve",)

    def __init__(self, rng: np.random.Generator, solve: Callable[[Mapping[str, Any]], Any]) -> None:
        super().__init__(MAX_LEVEL_PASSES, rng)
        self.solve = solve


def _solution(turn: Turn, level: Mapping[str, Any]) -> Any:
    assert isinstance(turn, Making), "rules that search are only compiled for levels"
    turn.count(SEARCH_PASSES)
    return turn.solve(level)


def _require(turn: Turn, holds: bool) -> None:
    if not holds:
        raise RejectedError("rejected")


CHECKED: Mapping[str, Callable[..., Any]] = {
    "__it": _it, "__counted": _counted, "__add": _add, "__mul": _mul, "__shl": _shl, "__put": _assign, "__text": _text,
    "__refuse": _refuse, "__pay": _pay, "__end": _end, "__say": _say, "__draw": _draw, "__choose": _choose,
    "__shuffle": _shuffle, "__chance": _chance, "__maze": _maze, "__solution": _solution, "__require": _require,
    "__list": listed, "__whole": whole, "__mod": _mod, "__doubled": _doubled,
    "__numbered": _numbered, "__pairs": _pairs,
}  # fmt: skip
DRAWS = ("draw", "choose", "shuffle", "chance", "maze", "require", "solution")


def fitting(name: str, variable: Shape) -> Callable[[Any], Any]:
    """Return a function that returns valid values of a variable and raises `RuleError` for others."""
    fits, optional = _fits(variable), variable.optional

    def fitted(value: Any) -> Any:
        if fits(value) or (optional and value is None):
            return value
        raise RuleError(f"{name} is {value!r:.60}; expected {_expected(variable)}")

    return fitted


def _expected(variable: Shape) -> str:
    match variable.type:
        case "integer" | "number":
            article = "an" if variable.type == "integer" else "a"
            return f"{article} {variable.type} from {variable.low:g} to {variable.high:g}"
        case "choice":
            return f"one of {', '.join(map(str, variable.of))}"
        case _:
            return f"a {variable.type} of at most {variable.most}"


def _fits(variable: Shape) -> Callable[[Any], bool]:
    low, high, most = variable.low, variable.high, variable.most

    def of_texts(value: Any) -> bool:
        whole = type(value) is tuple and len(value) <= most and all(type(v) is str and len(v) <= most for v in value)
        return whole and sum(map(len, value)) <= MAX_CELLS

    match variable.type:
        case "integer":
            return lambda value: type(value) is int and low <= value <= high
        case "number":
            return lambda value: type(value) in (int, float) and low <= value <= high
        case "flag":
            return lambda value: type(value) is bool
        case "choice":
            return lambda value: value in variable.of
        case "cell":
            return lambda value: type(value) is tuple and len(value) == 2 and type(value[0]) is type(value[1]) is int
        case "grid":
            return of_texts
        case "text" | "list" | "table":
            kind = {"text": str, "list": tuple, "table": dict}[variable.type]
            return lambda value: isinstance(value, kind) and len(value) <= most


def frozen(value: Any, path: str) -> Any:
    """Return a JSON value with tuples in place of lists, recursively.

    Raises:
        ConfigError: if it is not a JSON value, is too large or too deep, or has a number out of range.
    """
    made = _frozen(value, path, 0)
    try:
        return whole(made) if isinstance(made, tuple | dict | str) else made
    except RuleError as error:
        raise ConfigError(f"{path}: {error}") from error


def _frozen(value: Any, path: str, depth: int) -> Any:
    if isinstance(value, list | tuple):
        return tuple(_frozen(inner, path, depth + 1) for inner in value) if depth < 20 else ()
    if isinstance(value, Mapping):
        return (
            {
                key if isinstance(key, int | str) else str(key): _frozen(inner, path, depth + 1)
                for key, inner in value.items()
            }
            if depth < 20
            else {}
        )
    if isinstance(value, int | float) and not abs(value) <= MAX_NUMBER:
        raise ConfigError(f"{path} has a number beyond {MAX_NUMBER:g}; use a smaller one")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ConfigError(f"{path} holds {value!r:.60}, which is not a JSON value; put texts in quotes")


def thawed(value: Any) -> Any:
    """Return a value with lists in place of tuples, recursively."""
    if type(value) is tuple:
        return list(value) if PLAIN.issuperset(map(type, value)) else [thawed(inner) for inner in value]
    if type(value) is dict:
        return {key: inner if type(inner) in PLAIN else thawed(inner) for key, inner in value.items()}
    return value


def weight(value: Any) -> int:
    """Return the approximate size of a value in bytes; numbers are ignored next to the list that holds them."""
    if type(value) is tuple:
        return 8 * len(value) + sum(map(weight, value))
    if type(value) is dict:
        return 100 * len(value) + sum(map(weight, value.values()))
    return len(value) if type(value) is str else 0


class HookError(RuleError):
    """A failure in a hook.

    Attributes:
        traceback: the author's lines, where it was raised.
    """

    def __init__(self, message: str, traceback: str = "") -> None:
        self.traceback = traceback
        super().__init__(message)


class SlowHookError(HookError):
    """A hook that timed out, or hooks whose allowance is exhausted."""


class UnansweredHookError(SlowHookError):
    """A hook that waits or gets no CPU time, so its speed cannot be judged."""


class Allowance:
    """Seconds that hooks may use together, over many turns.

    Args:
        seconds: the limit; CPU time by default, so that machine load has no effect.
        clock: use wall-clock time instead, for callers that wait for the results of hooks.
    """

    def __init__(self, seconds: float, *, clock: bool = False) -> None:
        self.seconds = self.left = seconds
        self.clock = clock


_ALLOWANCE: ContextVar[Allowance | None] = ContextVar("allowance", default=None)


@contextlib.contextmanager
def spending(allowance: Allowance) -> Generator[None]:
    """Charge the hooks called inside to an allowance; once it is exhausted they raise `SlowHookError`."""
    token = _ALLOWANCE.set(allowance)
    try:
        yield
    finally:
        _ALLOWANCE.reset(token)


def allowance() -> Allowance | None:
    """Return the active allowance; None if there is none."""
    return _ALLOWANCE.get()
