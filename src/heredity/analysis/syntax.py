"""Facts from the syntax tree of a Python source, without running it.

The *topology* of a source is its syntax tree without numeric constants (signs included), docstrings, comments and
layout (EvoPolicyGym, section 5.1): two sources of one topology differ only in their parameters.

Sources come from untrusted programs, so their size and nesting are not trusted. A source that cannot be parsed within
bounds is reported as unparsable and never raises.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from heredity._core.ids import digest_bytes, digest_json
from heredity.resources import Candidate, SourceTree
from heredity.resources.candidate import AGENT
from heredity.results.run import Features

ENTRY = "policy.py"


@dataclass(frozen=True)
class Bundle:
    """A policy bundle.

    Attributes:
        sources: path to content of its Python modules.
        facts: path to syntax facts of each module.
        data: path to digest of all other files of the candidate.
    """

    sources: Mapping[str, bytes]
    facts: Mapping[str, SourceFacts]
    data: Mapping[str, str]

    @cached_property
    def digest(self) -> str:
        """Identity of the bundle: all bytes of its modules and data."""
        return digest_json([{path: digest_bytes(s) for path, s in self.sources.items()}, dict(self.data)])

    @cached_property
    def topology(self) -> str:
        """Identity of its structure: the topologies of its modules, by path; data files are parameters and excluded."""
        return digest_json({path: facts.topology for path, facts in self.facts.items()})

    @cached_property
    def lines(self) -> Mapping[str, list[str]]:
        """Lines of each module."""
        return {path: source.decode("utf-8", "replace").splitlines() for path, source in self.sources.items()}

    @cached_property
    def features(self) -> Features:
        """Features of its code, counted over its modules.

        `branches` are `if` and `elif`, conditional expressions, `case`s and conditions of comprehensions; `loops` are
        `for`, `while` and each `for` of a comprehension; `state` are distinct names that keep something between calls.
        """
        facts = list(self.facts.values())
        return Features(
            functions=_total([f.functions for f in facts]),
            branches=_total([f.branches for f in facts]),
            loops=_total([f.loops for f in facts]),
            state=_total([f.state for f in facts]),
            lines=sum(map(len, self.lines.values())),
        )


def code_features(tree: SourceTree) -> Features:
    """Return the features of one policy program."""
    return read_bundle(Candidate.program(tree), SourceReader()).features


def read_bundle(candidate: Candidate, reader: SourceReader) -> Bundle:
    """Return the bundle of a candidate.

    Parts other than the policy program (prompts, weights) count as data. Without `policy.py` a program begins in any
    of the modules at its top.
    """
    tree = candidate.parts.get(AGENT, SourceTree({}))
    sources: dict[str, bytes] = {}
    facts: dict[str, SourceFacts] = {}
    queue = [ENTRY] if ENTRY in tree else [path for path in tree if path.endswith(".py") and "/" not in path]
    while queue:
        path = queue.pop()
        if path in sources:
            continue
        sources[path] = tree[path]
        facts[path] = reader.read(tree[path])
        queue.extend(file for level, name in facts[path].imports for file in _local_files(tree, path, level, name))
    data = {path: digest_bytes(content) for path, content in tree.items() if not path.endswith(".py")}
    data |= {f"{name}/": part.digest for name, part in candidate.parts.items() if name != AGENT}
    return Bundle(dict(sorted(sources.items())), dict(sorted(facts.items())), data)


def _local_files(tree: SourceTree, importer: str, level: int, name: str) -> Iterator[str]:
    """Yield the files of the tree that importing a module runs: its packages' `__init__.py` and itself."""
    package = importer.split("/")[:-1]
    if level > len(package) + 1:
        return
    path = "/".join(package[: len(package) - level + 1]) if level else ""
    for word in name.split(".") if name else [""]:
        path = "/".join(p for p in (path, word) if p)
        for file in (f"{path}.py" if path else "", f"{path}/__init__.py" if path else "__init__.py"):
            if file in tree:
                yield file


def _total(counts: list[int | None]) -> int | None:
    present = [c for c in counts if c is not None]
    return sum(present) if counts and len(present) == len(counts) else None


_STATE_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_OWN_SCOPES = (*_STATE_FUNCTIONS, ast.Lambda, ast.ClassDef)
_CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__"})
_MUTATORS = frozenset(
    {"add", "append", "appendleft", "clear", "discard", "difference_update", "extend", "extendleft", "fill", "insert"}
    | {"intersection_update", "pop", "popitem", "popleft", "push", "put", "remove", "reverse", "rotate", "setdefault"}
    | {"sort", "symmetric_difference_update", "update"}
)


@dataclass(frozen=True, slots=True)
class _Place:
    """Position of a statement in the program.

    Attributes:
        owner: the class whose instance `instance` names, or "".
        instance: name of the instance in a method (by custom `self`), or "".
        constructing: whether this is a constructor, whose assignments are initial values rather than state.
        function: dotted name of the enclosing function, "" at module level.
        hidden: names bound by enclosing functions, which hide those of the module.
    """

    owner: str = ""
    instance: str = ""
    constructing: bool = False
    function: str = ""
    hidden: frozenset[str] = frozenset()


def persistent_state(tree: ast.Module) -> set[tuple[str, str]]:
    """Return the names in which a module keeps state between calls, as (scope, name).

    These count: attributes of the instance that a method other than a constructor assigns or mutates; names of the
    module that a function rebinds (`global`) or mutates; names that an inner function rebinds (`nonlocal`). Mutating
    means assigning to an item or an attribute, or calling a method such as `append`.
    """
    nodes = _own_nodes(tree.body)
    return set(_scan(nodes, _Place(), frozenset(_bound(nodes))))


def _scan(nodes: Iterable[ast.AST], scope: _Place, shared: frozenset[str]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, _STATE_FUNCTIONS):
            inner = _own_nodes(node.body)
            yield from _scan(inner, _inside(node, inner, scope), shared)
        elif isinstance(node, ast.ClassDef):
            inside = _Place(owner=node.name, function=scope.function, hidden=scope.hidden)
            yield from _scan(_own_nodes(node.body), inside, shared)
        elif isinstance(node, ast.Lambda):
            yield from _scan(_own_nodes([node.body]), _with_hidden(scope, _arguments(node.args)), shared)
        elif isinstance(node, ast.Global):
            yield from (("module", name) for name in node.names if scope.function)
        elif isinstance(node, ast.Nonlocal):
            around = f"{scope.owner}.{scope.function.rpartition('.')[0]}"
            yield from ((around, name) for name in node.names)
        else:
            for changed in _changed(node):
                yield from _attribute_to_scope(changed, scope, shared)


def _inside(node: ast.FunctionDef | ast.AsyncFunctionDef, own: Iterable[ast.AST], scope: _Place) -> _Place:
    names = _arguments(node.args)
    rebound = {n for g in own if isinstance(g, ast.Global | ast.Nonlocal) for n in g.names}
    hidden = scope.hidden | ((frozenset(names) | frozenset(_bound(own))) - rebound)
    function = f"{scope.function}.{node.name}" if scope.function else node.name
    # A function directly in a class is a method; one inside a method still sees the instance unless it hides it.
    if scope.owner and not scope.instance:
        static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list)
        instance = names[0] if names and not static else ""
        return _Place(scope.owner, instance, node.name in _CONSTRUCTORS, function, hidden)
    instance = "" if scope.instance in names else scope.instance
    return _Place(scope.owner, instance, False, function, hidden)


def _with_hidden(scope: _Place, names: Iterable[str]) -> _Place:
    hidden = scope.hidden | frozenset(names)
    return _Place(scope.owner, scope.instance, scope.constructing, scope.function, hidden)


def _attribute_to_scope(target: ast.expr, scope: _Place, shared: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Return the state that mutating `target` changes: walk from `self.a.b[0]` down to `self.a`."""
    attribute = ""
    while isinstance(target, ast.Attribute | ast.Subscript):
        attribute = target.attr if isinstance(target, ast.Attribute) else attribute
        target = target.value
    if not isinstance(target, ast.Name) or not scope.function:
        return
    if scope.instance and target.id == scope.instance:
        if attribute and not scope.constructing:
            yield scope.owner, attribute
    elif target.id in shared and target.id not in scope.hidden:
        yield "module", target.id


def _changed(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the targets that a statement or a call mutates; names that it only binds are excluded."""
    if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        yield node
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MUTATORS:
        yield node.func.value


def _own_nodes(body: Iterable[ast.AST]) -> list[ast.AST]:
    """Walk nodes, stopping at those that open a new scope (which are listed, not entered)."""
    nodes: list[ast.AST] = []
    stack = list(body)
    while stack:
        node = stack.pop()
        nodes.append(node)
        if isinstance(node, _OWN_SCOPES):
            continue
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, ast.AST):
                stack.append(value)
            elif isinstance(value, list):
                stack.extend(child for child in value if isinstance(child, ast.AST))
    return nodes


def _bound(own: Iterable[ast.AST]) -> Iterator[str]:
    for node in own:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, (*_STATE_FUNCTIONS, ast.ClassDef, ast.ExceptHandler)) and node.name:
            yield node.name


def _arguments(arguments: ast.arguments) -> list[str]:
    named = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return [a.arg for a in (*named, arguments.vararg, arguments.kwarg) if a is not None]


MAX_SOURCE_BYTES = 1 << 20
"""Larger sources count as unparsable: a syntax tree takes about a hundred times the memory of its source."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.comprehension)
_BRANCHES = (ast.If, ast.IfExp, ast.match_case)
_SCOPES = frozenset({ast.Module, ast.ClassDef, *_FUNCTIONS})
_MAYBE_NUMBERS = frozenset({ast.Constant, ast.UnaryOp})
_IGNORED_FIELDS = frozenset({"ctx", "type_comment", "kind", "type_ignores"})
_IMPORTERS = frozenset({"import_module", "__import__"})

# Strings and comments are kept; the remaining matches are numbers that are not part of a name.
_NUMBERS = re.compile(
    r"""(?:'{3}(?:\\.|[^\\])*?'{3}|\"{3}(?:\\.|[^\\])*?\"{3}|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|\#[^\n]*)
    |(?<![\w.])(?:0[xX][0-9a-fA-F]{1,300}
        |(?:(?:0|[1-9][0-9]{0,300})?\.[0-9]{1,300}|(?:0|[1-9][0-9]{0,300})\.?)(?:[eE][+-]?[0-9]{1,9})?)(?![\w.])""",
    re.VERBOSE | re.DOTALL,
)
# From Python 3.12 on, quotes nest inside these, so a regular expression cannot find their ends.
_NESTING_STRINGS = re.compile(r"""(?<!\w)[rR]?[fFtT][rR]?['"]""")


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """Facts about one source.

    Attributes:
        topology: digest of its topology; of its bytes when it cannot be parsed.
        imports: modules it names, as (level, dotted name): level 0 is absolute, 1 the source's own package, and so on.
        functions: number of `def` and `async def`; None if it cannot be parsed, like the next three.
        branches: `if` and `elif`, conditional expressions, `case`s, and conditions of comprehensions.
        loops: `for`, `while`, and each `for` of a comprehension.
        state: names that outlive a call (see `heredity.analysis.syntax`).
    """

    topology: str
    imports: tuple[tuple[int, str], ...] = ()
    functions: int | None = None
    branches: int | None = None
    loops: int | None = None
    state: int | None = None


class SourceReader:
    """Reads sources and caches the facts, also for sources that differ only in numbers.

    Memory grows with the number of different topologies; make one for each analysis.
    """

    def __init__(self) -> None:
        self._facts: dict[str, SourceFacts] = {}

    def read(self, source: bytes) -> SourceFacts:
        """Return the facts of a source; an unparsable source has only a topology."""
        if len(source) > MAX_SOURCE_BYTES:
            return SourceFacts(digest_bytes(source))
        # Sources that differ only in numbers have trees that differ only in constants: one parse serves all.
        text = source.decode("utf-8", "surrogateescape")
        key = text if _NESTING_STRINGS.search(text) else _NUMBERS.sub(_mask_number, text)
        facts = self._facts.get(key)
        if facts is None:
            facts = _facts(source)
            if facts.functions is None:
                return facts
            self._facts[key] = facts
        return facts


def _mask_number(match: re.Match[str]) -> str:
    token = match[0]
    return token if token[0] in "'\"#" else "0"


def _facts(source: bytes) -> SourceFacts:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
        state = len(persistent_state(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return SourceFacts(digest_bytes(source))
    digest, nodes = topology(tree)
    count = Counter(map(type, nodes))
    conditions = sum(len(n.ifs) for n in nodes if isinstance(n, ast.comprehension))
    return SourceFacts(
        topology=digest,
        imports=tuple(dict.fromkeys(_imports(nodes))),
        functions=sum(count[kind] for kind in _FUNCTIONS),
        branches=sum(count[kind] for kind in _BRANCHES) + conditions,
        loops=sum(count[kind] for kind in _LOOPS),
        state=state,
    )


def topology(tree: ast.AST) -> tuple[str, list[ast.AST]]:
    """Return the digest of a tree without numeric constants, docstrings and positions, and the nodes it covers."""
    words: list[str] = []
    nodes: list[ast.AST] = []
    stack: list[Any] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.AST):
            kind = type(node)
            if kind in _MAYBE_NUMBERS and _is_number(node):
                words.append("number")
                continue
            nodes.append(node)
            words.append(kind.__name__)
            for field in _fields_backwards(kind):
                value = getattr(node, field, None)
                stack.append(_body_without_docstring(value) if field == "body" and kind in _SCOPES else value)
        elif isinstance(node, list):
            words.append(f"[{len(node)}")
            stack += reversed(node)
        else:
            words.append(repr(node))
    return digest_bytes("\n".join(words).encode("utf-8", "surrogatepass")), nodes


@cache
def _fields_backwards(kind: type[ast.AST]) -> tuple[str, ...]:
    return tuple(field for field in reversed(kind._fields) if field not in _IGNORED_FIELDS)


def _is_number(node: ast.AST) -> bool:
    while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) in (int, float, complex)


def _body_without_docstring(body: Any) -> list[ast.stmt]:
    first = body[0] if body else None
    text = first.value if isinstance(first, ast.Expr) else None
    return body[1:] if isinstance(text, ast.Constant) and isinstance(text.value, str) else body


def _imports(nodes: list[ast.AST]) -> Iterator[tuple[int, str]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            yield node.level, base
            yield from ((node.level, f"{base}.{alias.name}" if base else alias.name) for alias in node.names)
        elif isinstance(node, ast.Call) and node.args and _called_name(node) in _IMPORTERS:
            name = node.args[0]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                bare = name.value.lstrip(".")
                yield len(name.value) - len(bare), bare


def _called_name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
