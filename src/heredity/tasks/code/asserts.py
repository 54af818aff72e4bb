"""Cases out of asserted calls: `assert candidate([1, 2]) == 3` is the case `[1, 2]` with the answer 3.

Nothing of a test is run: what is expected stays with the host, and a solution is only asked for its answer. So a statement that is
no such assertion cannot be judged, and whoever reads the file is told which.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from heredity.errors import ConfigError
from heredity.outside import python_tree

_MOST_ITEMS = 1_000_000
_REMEDY = "write assert NAME(arguments) == value, with literals, or take the row out"


@dataclass(frozen=True, slots=True)
class Asserted:
    """A call, and what it has to return.

    Attributes:
        name: of what is called.
        arguments: their values, by place.
        named: those that are given by name.
        answer: what is expected.
        close: whether floats may be a little apart.
    """

    name: str
    arguments: tuple[Any, ...]
    named: dict[str, Any]
    answer: Any
    close: bool = False

    def case(self, parameters: Sequence[str]) -> list[Any]:
        """Return its arguments in the order of a function's parameters.

        Raises:
            ConfigError: if one is missing, or there are others.
        """
        values = dict(zip(parameters, self.arguments, strict=False)) | self.named
        if len(self.arguments) > len(parameters) or values.keys() != {*parameters}:
            raise ConfigError(
                f"a call of {self.name} gives {len(self.arguments)} arguments and {list(self.named)}; {', '.join(parameters)} are "
                "asked for"
            )
        return [values[name] for name in parameters]


def asserted(text: str, names: Sequence[str]) -> list[Asserted]:
    """Return the assertions of a test, in their order: of its function `check`, or else of the text itself.

    Args:
        text: Python.
        names: what may be called; any name, where it is empty.

    Raises:
        ConfigError: if it is no Python, or has a statement that is none of those above.
    """
    try:
        module = python_tree(text, shallow=True)
    except ValueError as error:
        raise ConfigError(f"it is no Python: {error}; {_REMEDY}") from error
    checks = [node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == "check"]
    return [one for node in (checks[0].body if checks else module.body) for one in _of(node, names)]


def value_of(node: ast.AST) -> Any:
    """Return the value of a literal, or of a sum, a product, a set or a list of such.

    Raises:
        ConfigError: if it is none.
    """
    try:
        return ast.literal_eval(node)  # pyright: ignore[reportArgumentType]
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        pass
    match node:
        case ast.BinOp(left=left, op=ast.Mult() | ast.Add(), right=right):
            return _combined(value_of(left), value_of(right), product=isinstance(node.op, ast.Mult))
        case ast.Call(func=ast.Name(id="set" | "tuple" | "list" | "float" as made), args=[inner], keywords=[]):
            try:
                return {"set": set, "tuple": tuple, "list": list, "float": float}[made](value_of(inner))
            except (TypeError, ValueError) as error:
                raise ConfigError(f"line {node.lineno}: {made}(…): {error}; {_REMEDY}") from error
        case ast.UnaryOp(op=ast.USub(), operand=inner) if isinstance(value := value_of(inner), int | float):
            return -value
        case ast.List(elts=items):
            return [value_of(item) for item in items]
        case ast.Tuple(elts=items):
            return tuple(value_of(item) for item in items)
        case _:
            raise ConfigError(f"{ast.unparse(node)[:80]!r} is no literal; {_REMEDY}")


def _combined(left: Any, right: Any, *, product: bool) -> Any:
    sizes = [
        len(one) if isinstance(one, str | list | tuple) else one if isinstance(one, int) else 1 for one in (left, right)
    ]
    if product and not all(isinstance(one, int | float) for one in (left, right)) and sizes[0] * sizes[1] > _MOST_ITEMS:
        raise ConfigError(f"a product of {sizes[0] * sizes[1]} items; at most {_MOST_ITEMS} are taken")
    try:
        return left * right if product else left + right
    except (TypeError, OverflowError) as error:
        raise ConfigError(f"{left!r:.40} and {right!r:.40}: {error}; {_REMEDY}") from error


def _of(node: ast.stmt, names: Sequence[str]) -> Iterator[Asserted]:
    match node:
        case ast.Assert(test=ast.Constant(value=True)) | ast.Pass() | ast.Expr(value=ast.Constant()):
            return
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
            return
        case ast.Assert(test=test):
            assertion = _assertion(test, names)
            if assertion is not None:
                yield assertion
                return
        case _:
            pass
    raise ConfigError(f"line {node.lineno}: {ast.unparse(node).splitlines()[0][:80]!r} cannot be judged; {_REMEDY}")


def _assertion(test: ast.expr, names: Sequence[str]) -> Asserted | None:
    match test:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]):
            for call, other in ((left, right), (right, left)):
                if _is_call(call, names):
                    return _called(call, value_of(other))
        case ast.Compare(left=ast.Call(func=function, args=[inner]), ops=[ast.Lt() | ast.LtE()], comparators=[bound]):
            if (
                ast.unparse(function) in ("abs", "math.fabs")
                and isinstance(inner, ast.BinOp)
                and isinstance(inner.op, ast.Sub)
            ):
                return _near(inner.left, inner.right, value_of(bound), names)
        case ast.Call(func=function, args=[left, right]) if ast.unparse(function) in ("math.isclose", "isclose"):
            return _near(left, right, 0.0, names)
        case ast.UnaryOp(op=ast.Not(), operand=call) if _is_call(call, names):
            return _called(call, False)
        case _ if _is_call(test, names):
            return _called(test, True)
        case _:
            pass
    return None


def _near(left: ast.expr, right: ast.expr, bound: Any, names: Sequence[str]) -> Asserted | None:
    if not isinstance(bound, int | float) or bound > 0.01:
        return None
    for call, other in ((left, right), (right, left)):
        if _is_call(call, names):
            return _called(call, value_of(other), close=True)
    return None


def _is_call(node: ast.expr, names: Sequence[str]) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and (
            node.func.id in names
            if names
            else node.func.id not in ("set", "sorted", "abs", "list", "tuple", "len", "float")
        )
    )


def _called(node: ast.expr, answer: Any, *, close: bool = False) -> Asserted:
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    named = {keyword.arg: value_of(keyword.value) for keyword in node.keywords if keyword.arg}
    if len(named) < len(node.keywords):
        raise ConfigError(f"line {node.lineno}: {ast.unparse(node)[:80]!r} gives arguments by **; {_REMEDY}")
    return Asserted(node.func.id, tuple(map(value_of, node.args)), named, answer, close)
