"""The language of rules: statements and expressions in Python's notation; every rule terminates.

It has no `while`, no recursion, no attributes except those of `level`, only declared names, and only numbers, flags,
texts, lists and tables as values. Values are immutable: assigning to an index makes another list. Loops iterate over
existing lists, every pass is counted, and products and texts are limited in size. A rule by any author can therefore
run in this process: it cannot reach anything, hang or fill the memory.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from heredity._core.errors import ConfigError, nearest
from heredity.kinds.world.dsl.bounded import DRAWS, MAX_NUMBER
from heredity.kinds.world.dsl.functions import DOUBLING, FUNCTIONS, LONG


@dataclass(frozen=True)
class Scope:
    """The names that a rule may use.

    Attributes:
        state: variables of the state; those in `fixed` cannot be assigned.
        fixed: see `state`.
        constants: names of constants.
        functions: names of the world's functions, with their parameters.
        hooks: names of its Python functions, each with its parameters and with the variables it reads.
        names: other names: parameters of the action, `level`.
        draws: True if random draws are allowed: only when levels are made.
        refuses: True if an action can still be refused.
    """

    state: frozenset[str] = frozenset()
    fixed: frozenset[str] = frozenset()
    constants: frozenset[str] = frozenset()
    functions: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, "tuple[str, ...]"])
    hooks: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = field(
        default_factory=dict[str, "tuple[tuple[str, ...], tuple[str, ...]]"]
    )
    names: frozenset[str] = frozenset()
    draws: bool = False
    refuses: bool = True

    def own(self, name: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """Return the parameters of a function defined by the world, and the variables it reads; None if it is unknown."""
        return (self.functions[name], ()) if name in self.functions else self.hooks.get(name)


@dataclass(frozen=True)
class Rule:
    """A checked rule.

    Attributes:
        path: its path in the file, such as `rules.actions.move`.
        tree: the syntax tree to compile.
        calls: the world's functions that it calls.
        changes: True if it assigns to the state.
        reads: variables of the state that it depends on, except those it only adds to.
    """

    path: str
    tree: ast.FunctionDef
    calls: frozenset[str]
    changes: bool
    reads: frozenset[str]


def calling(name: str, *arguments: ast.expr) -> ast.Call:
    """Return a call of a function by its name."""
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def as_load(target: ast.expr) -> ast.expr:
    """Return an expression that reads the target of an assignment."""
    return ast.parse(ast.unparse(target), mode="eval").body


def is_number(node: ast.expr) -> bool:
    """Return True if an expression is certainly a number, so that a sum with it needs no check; others may be texts or lists."""
    if isinstance(node, ast.BinOp):
        return not isinstance(node.op, ast.BitOr)
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def returns(body: list[ast.stmt]) -> bool:
    """Return True if statements end with a return."""
    return bool(body) and isinstance(body[-1], ast.Return)


def refuses(body: list[ast.stmt]) -> bool:
    """Return True if statements contain a refusal."""
    return any(isinstance(n, ast.Name) and n.id == "refuse" for s in body for n in ast.walk(s))


MAX_SOURCE = 8000
"""Maximum length of a rule, in characters."""

MAX_DEPTH = 40
"""Maximum nesting of expressions and statements."""

EFFECTS = ("refuse", "pay", "end", "say")
"""Functions with effects that statements may call; `refuse` must come before any change."""

_SPEC = re.compile(r"[<>^]?[+]?[0-9]{0,2}(\.[0-9])?[dgfsx%]?")
_OPERATORS = (
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod),
    *(ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift),
)
_PLAIN = (
    *(ast.UnaryOp, ast.UAdd, ast.USub, ast.Not, ast.Invert, ast.BoolOp, ast.And, ast.Or, ast.Compare, ast.IfExp),
    *(ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn, ast.Is, ast.IsNot),
    *(ast.List, ast.Tuple, ast.Dict, ast.Slice, ast.Load, ast.Store, ast.Pass, ast.Break, ast.Continue, *_OPERATORS),
)
_TOGETHER: Mapping[str, int] = {"numbered": 1, "pairs": 2}
"""Functions over several lists whose result a loop may unpack without materializing it."""
_CHECKED: Mapping[type[ast.operator], str] = {
    ast.Add: "__add",
    ast.Mult: "__mul",
    ast.LShift: "__shl",
    ast.Mod: "__mod",
}


def statements(text: str, path: str, scope: Scope, parameters: Iterable[str] = (), *, effects: bool = True) -> Rule:
    """Check a rule made of statements.

    Args:
        text: the rule.
        path: its location, for errors.
        scope: the names it may use.
        parameters: names of its parameters.
        effects: allow changes of the state and `EFFECTS`; otherwise it needs a `return`.

    Raises:
        ConfigError: if it is not in the language; the message has path and line.
    """
    body = _parsed(text, path, "exec").body
    return _Check(path, scope, frozenset(parameters), effects=effects).rule(body, tuple(parameters))


def expression(text: str, path: str, scope: Scope, parameters: Iterable[str] = ()) -> Rule:
    """Check a rule that is one expression. Raises like `statements`."""
    value = _parsed(text, path, "eval").body
    returned = ast.copy_location(ast.Return(value), value)
    return _Check(path, scope, frozenset(parameters), effects=False).rule([returned], tuple(parameters))


def _parsed(text: str, path: str, mode: str) -> Any:
    if len(text) > MAX_SOURCE:
        raise ConfigError(
            f"{path} has {len(text)} characters; expected at most {MAX_SOURCE}: make functions of its parts"
        )
    try:
        return ast.parse(text.strip() if mode == "eval" else text, mode=mode)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
        raise ConfigError(f"{path}{line}: {getattr(error, 'msg', error)}; write it as Python is") from error


class _Check:
    """Visits a rule once: rejects syntax outside the language, and replaces operators and names by calls."""

    def __init__(self, path: str, scope: Scope, parameters: frozenset[str], *, effects: bool) -> None:
        self.path, self.scope, self.effects = path, scope, effects
        self.locals = set(parameters)
        self.calls: set[str] = set()
        self.reads: set[str] = set()
        self.changed = False
        self.depth = 0
        self.held = 0

    def rule(self, body: list[ast.stmt], parameters: tuple[str, ...]) -> Rule:
        made = self.block(body) or [ast.Pass()]
        arguments = [ast.arg("__s"), ast.arg("level"), ast.arg("__turn"), *map(ast.arg, parameters)]
        signature = ast.arguments([], arguments, None, [], [], None, [])
        tree = ast.FunctionDef("rule", signature, made, [], lineno=1, col_offset=0)
        return Rule(self.path, tree, frozenset(self.calls), self.changed, frozenset(self.reads))

    def wrong(self, node: ast.AST, message: str) -> ConfigError:
        line = getattr(node, "lineno", 0)
        return ConfigError(f"{self.path}, line {line}: {message}")

    # --- statements

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return [made for statement in body for made in self.statement(statement)]

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.wrong(node, f"more than {MAX_DEPTH} nested statements; move parts into functions")
        made = self._statement(node)
        self.depth -= 1
        return [ast.copy_location(one, node) for one in made]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        match node:
            case ast.Assign(targets=[target], value=value):
                made = self.expr(value)
                return self.assigned(target, made)
            case ast.AugAssign(target=target, op=op, value=value):
                # The target is read before it is written.
                before = set(self.reads)
                now = self.expr(as_load(target))
                if isinstance(target, ast.Name):
                    self.reads = before
                return self.assigned(target, self.binary(node, now, op, self.expr(value)))
            case ast.If():
                test = self.expr(node.test)
                before = self.changed
                body = self.block(node.body)
                after, self.changed = self.changed and not returns(node.body), before
                other = self.block(node.orelse)
                self.changed = after or (self.changed and not returns(node.orelse)) or before
                return [ast.If(test, body or [ast.Pass()], other)]
            case ast.For(orelse=[]):
                through = self.through(node.target, node.iter, *node.body)
                if self.holds_state(node.target):
                    raise self.wrong(node, "the loop variable has the name of a state variable; choose another")
                self.bind(node.target)
                # A change made in one pass is visible in the next.
                before = self.changed
                body = self.block(node.body)
                if self.changed and not before and refuses(node.body):
                    raise self.wrong(
                        node, "refuse is in a loop that changes the state; check for refusal before the loop"
                    )
                return [ast.For(node.target, through, body or [ast.Pass()], [], None)]
            case ast.Expr(value=ast.Call() as call):
                return [ast.Expr(self.effect(call))] if self.is_effect(call) else [ast.Expr(self.expr(call))]
            case ast.Return(value=value) if value is not None and not self.effects:
                return [ast.Return(self.expr(value))]
            case ast.Return(value=None) if self.effects:
                return [ast.Return(None)]
            case ast.Pass() | ast.Break() | ast.Continue():
                return [node]
            case _:
                raise self.wrong(
                    node,
                    f"{type(node).__name__.lower()} is not a statement of rules; use =, +=, if, for, {', '.join(EFFECTS)}",
                )

    def through(self, target: ast.expr, values: ast.expr, *body: ast.AST) -> ast.expr:
        """Return the iterable of a loop and the cost of each pass, which grows with its body."""
        cost = ast.Constant(1 + sum(1 for part in body for _ in ast.walk(part)) // 20)
        turn = ast.Name("__turn", ast.Load())
        match target, values:
            case ast.Tuple(), ast.Call(func=ast.Name(id="numbered" | "pairs" as name), args=given) if (
                len(given) == _TOGETHER[name]
            ):
                return calling(f"__{name}", turn, cost, *self.arguments(values))
            case _:
                return calling("__it", turn, self.expr(values), cost)

    def assigned(self, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        """Return an assignment to a variable of the state (if the value fits), to a local name, or to an index of a list."""
        places: list[ast.expr] = []
        while isinstance(target, ast.Subscript):
            places.insert(0, self.expr(target.slice))
            target = target.value
        if places:
            if not isinstance(target, ast.Name):
                raise self.wrong(target, "only indices of variables can be assigned")
            now = self.name(ast.Name(target.id, ast.Load(), lineno=target.lineno), target.id)
            value = calling("__put", now, ast.Tuple(places, ast.Load()), value)
        if isinstance(target, ast.Name) and target.id in self.scope.state and target.id not in self.locals:
            self.change(target, target.id)
            name = ast.Attribute(ast.Name("__s", ast.Load()), target.id, ast.Store())
            return [ast.Assign([name], calling("__fit_" + target.id, value))]
        if isinstance(target, ast.Tuple) and self.holds_state(target):
            self.held += len(target.elts)
            parts = [f"__u_{self.held - number}" for number in range(len(target.elts))]
            made: list[ast.stmt] = [
                ast.Assign([ast.Tuple([ast.Name(p, ast.Store()) for p in parts], ast.Store())], value)
            ]
            for inner, part in zip(target.elts, parts, strict=True):
                made += self.assigned(inner, ast.Name(part, ast.Load()))
            return made
        self.bind(target)
        if isinstance(target, ast.Name):
            target.ctx = ast.Store()
        return [ast.Assign([target], value)]

    def holds_state(self, target: ast.expr) -> bool:
        names = {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}
        return bool((names & self.scope.state) - self.locals)

    def change(self, node: ast.AST, name: str) -> None:
        if not self.effects:
            raise self.wrong(node, f"{name} is part of the state, which only actions change")
        if name in self.scope.fixed:
            raise self.wrong(node, f"{name} is fixed; remove `fixed`, or do not change it")
        self.changed = True

    def bind(self, target: ast.expr) -> None:
        if isinstance(target, ast.Tuple):
            for part in target.elts:
                self.bind(part)
        elif isinstance(target, ast.Name):
            taken = target.id in {"level", *EFFECTS, *FUNCTIONS, *self.scope.constants} or self.scope.own(target.id)
            if taken or target.id.startswith("_"):
                raise self.wrong(target, f"{target.id} cannot be assigned; choose another name")
            self.locals.add(target.id)
        else:
            raise self.wrong(target, "only names and indices of lists can be assigned")

    def is_effect(self, call: ast.Call) -> bool:
        return isinstance(call.func, ast.Name) and call.func.id in EFFECTS

    def effect(self, call: ast.Call) -> ast.expr:
        assert isinstance(call.func, ast.Name)
        name = call.func.id
        if not self.effects:
            raise self.wrong(call, f"{name} is only allowed in actions")
        if name == "refuse" and (self.changed or not self.scope.refuses):
            message = "refuse comes after a change; a refused action changes nothing, so refuse first"
            raise self.wrong(call, message)
        self.changed = self.changed or name in ("pay", "end")
        turn: ast.expr = ast.Name("__turn", ast.Load())
        return calling("__" + name, turn, *self.arguments(call))

    # --- expressions

    def arguments(self, call: ast.Call) -> list[ast.expr]:
        if call.keywords or any(isinstance(a, ast.Starred) for a in call.args):
            raise self.wrong(call, "arguments are positional; remove names and stars")
        return [self.expr(argument) for argument in call.args]

    def expr(self, node: ast.expr) -> ast.expr:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.wrong(node, f"more than {MAX_DEPTH} nested expressions; move parts into functions")
        made = ast.copy_location(self._expr(node), node)
        self.depth -= 1
        return made

    def _expr(self, node: ast.expr) -> ast.expr:
        match node:
            case ast.Constant(value=int() | float() as value) if not abs(value) <= MAX_NUMBER:
                raise self.wrong(node, f"a number beyond {MAX_NUMBER:g}; use a smaller one")
            case ast.Constant(value=bool() | int() | float() | str() | None):
                return node
            case ast.Name(id=name):
                return self.name(node, name)
            case ast.Attribute(value=ast.Name(id="level"), attr=key) if "level" in self.scope.names:
                return ast.Subscript(ast.Name("level", ast.Load()), ast.Constant(key), ast.Load())
            case ast.Call():
                return self.call(node)
            case ast.BinOp():
                return self.binary(node, self.expr(node.left), node.op, self.expr(node.right))
            case ast.JoinedStr():
                return calling("__text", *map(self.formatted, node.values))
            case ast.ListComp() | ast.DictComp():
                return self.comprehension(node)
            case ast.GeneratorExp():
                raise self.wrong(node, "write lists in brackets: [x for x in …]")
            case ast.Subscript():
                return ast.Subscript(self.expr(node.value), self.expr(node.slice), ast.Load())
            case _:
                return self.plain(node)

    def plain(self, node: ast.expr) -> ast.expr:
        if not isinstance(node, _PLAIN):
            raise self.wrong(node, f"{type(node).__name__} is not in the language of rules")
        if isinstance(node, ast.List | ast.Tuple):
            made = ast.Tuple([self.expr(part) for part in node.elts], ast.Load())
            return made if all(isinstance(part, ast.Constant) for part in made.elts) else calling("__list", made)
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                setattr(node, name, self.expr(value))
            elif isinstance(value, list):
                parts: list[Any] = value
                if any(part is None for part in parts):
                    raise self.wrong(node, "tables have no **")
                setattr(node, name, [self.expr(p) if isinstance(p, ast.expr) else p for p in parts])
        return calling("__whole", node) if isinstance(node, ast.Dict) else node

    def name(self, node: ast.Name, name: str) -> ast.expr:
        if name in self.locals:
            return node
        if name in self.scope.state:
            self.reads.add(name)
            return ast.Attribute(ast.Name("__s", ast.Load()), name, ast.Load())
        if name in self.scope.constants:
            return ast.Name("__k_" + name, ast.Load())
        if name in self.scope.names and name != "level":
            return node
        names = {*self.locals, *self.scope.state, *self.scope.constants, *self.scope.names}
        raise self.wrong(
            node, f"there is no {name!r} here{_meant(name, names)}; known: {', '.join(sorted(names)) or 'no names'}"
        )

    def call(self, node: ast.Call) -> ast.expr:
        if not isinstance(node.func, ast.Name):
            raise self.wrong(node, "only functions can be called, by their names")
        name, given = node.func.id, self.arguments(node)
        turn: ast.expr = ast.Name("__turn", ast.Load())
        if (own := self.scope.own(name)) is not None:
            wanted, reads = own
            if len(given) != len(wanted):
                takes = f"{name} takes {len(wanted)} arguments ({', '.join(wanted) or 'none'})"
                raise self.wrong(node, f"{takes}, and is given {len(given)}")
            if name in self.scope.hooks:
                return calling("__hook_" + name, turn, *given, *(self.read(node, name, variable) for variable in reads))
            self.calls.add(name)
            state: ast.expr = ast.Name("__s", ast.Load())
            return calling("__own_" + name, state, ast.Name("level", ast.Load()), turn, *given)
        if name in DRAWS:
            if not self.scope.draws:
                raise self.wrong(node, f"{name} is called only where levels are made")
            return calling("__" + name, turn, *given)
        if name not in FUNCTIONS:
            names = {*FUNCTIONS, *self.scope.functions, *self.scope.hooks}
            raise self.wrong(node, f"there is no function {name!r}{_meant(name, names)}")
        built_in = ast.Name("__b_" + name, ast.Load())  # parameters of actions may have the names of functions
        if name in DOUBLING:
            return calling("__doubled", turn, built_in, *given)
        if name in LONG:
            return calling("__counted", turn, built_in, *given)
        return calling(built_in.id, *given)

    def read(self, node: ast.Call, hook: str, variable: str) -> ast.expr:
        """Return an expression for a variable that a hook reads."""
        if variable == "level" and "level" in self.scope.names:
            return ast.Name("level", ast.Load())
        if variable not in self.scope.state:
            raise self.wrong(node, f"{hook} reads {variable!r}, which is not available here; pass it as a parameter")
        self.reads.add(variable)
        return ast.Attribute(ast.Name("__s", ast.Load()), variable, ast.Load())

    def binary(self, node: ast.AST, left: ast.expr, op: ast.operator, right: ast.expr) -> ast.expr:
        if not isinstance(op, _OPERATORS):
            raise self.wrong(node, f"the operator {type(op).__name__} is not in the language of rules")
        checked = _CHECKED.get(type(op))
        small = is_number(left) or (is_number(right) and checked != "__mod")
        if checked is None or (small and checked in ("__add", "__mod")):
            return ast.BinOp(left, op, right)
        return calling(checked, left, right)

    def formatted(self, part: ast.expr) -> ast.expr:
        if not isinstance(part, ast.FormattedValue):
            return part
        spec = part.format_spec
        if spec is not None:
            texts = (
                [v.value for v in spec.values if isinstance(v, ast.Constant)] if isinstance(spec, ast.JoinedStr) else []
            )
            if len(texts) != 1 or not _SPEC.fullmatch(str(texts[0])):
                raise self.wrong(part, "the format after the colon is not supported; use one such as +d, 5.1f or >3")
            return ast.JoinedStr([ast.FormattedValue(self.expr(part.value), -1, spec)])
        return self.expr(part.value)

    def comprehension(self, node: ast.ListComp | ast.DictComp) -> ast.expr:
        outer = set(self.locals)
        for part in node.generators:
            if part.is_async:
                raise self.wrong(node, "lists are made with `for` alone")
            part.iter = self.through(part.target, part.iter, node)
            self.bind(part.target)
            part.ifs = [self.expr(test) for test in part.ifs]
        if isinstance(node, ast.ListComp):
            node.elt = self.expr(node.elt)
        else:
            node.key, node.value = self.expr(node.key), self.expr(node.value)
        self.locals = outer
        return calling("__list" if isinstance(node, ast.ListComp) else "__whole", node)


def _meant(name: str, names: Iterable[str]) -> str:
    close = nearest(name, names)
    return f" (did you mean {' or '.join(close)}?)" if close else ""
