"""What the syntax tree of one Python source says, without running it.

The *topology* of a source is its syntax tree without numeric constants (signs included), docstrings, comments and
layout (EvoPolicyGym, section 5.1): two sources of one topology differ in their parameters only.

Sources come from untrusted programs, so nothing here trusts their size or nesting: what cannot be parsed within bounds
is reported as unparsable, never raised.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from heredity.analysis.state import persistent_state
from heredity.ids import digest_bytes

MAX_SOURCE_BYTES = 1 << 20
"""Larger sources count as unparsable: a syntax tree takes about a hundred times the memory of its source."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.comprehension)
_BRANCHES = (ast.If, ast.IfExp, ast.match_case)
_SCOPES = frozenset({ast.Module, ast.ClassDef, *_FUNCTIONS})
_MAYBE_NUMBERS = frozenset({ast.Constant, ast.UnaryOp})
_IGNORED_FIELDS = frozenset({"ctx", "type_comment", "kind", "type_ignores"})
_IMPORTERS = frozenset({"import_module", "__import__"})

# A string or a comment is kept as it is; what is left to match is a number that is not part of a name.
_NUMBERS = re.compile(
    r"""(?:'{3}(?:\\.|[^\\])*?'{3}|\"{3}(?:\\.|[^\\])*?\"{3}|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|\#[^\n]*)
    |(?<![\w.])(?:0[xX][0-9a-fA-F]{1,300}
        |(?:(?:0|[1-9][0-9]{0,300})?\.[0-9]{1,300}|(?:0|[1-9][0-9]{0,300})\.?)(?:[eE][+-]?[0-9]{1,9})?)(?![\w.])""",
    re.VERBOSE | re.DOTALL,
)
# From Python 3.12 on, quotes nest inside these, so where they begin and end is not for a regular expression to say.
_NESTING_STRINGS = re.compile(r"""(?<!\w)[rR]?[fFtT][rR]?['"]""")


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """What is known of one source.

    Attributes:
        topology: digest of its topology; of its bytes when it cannot be parsed.
        imports: modules it names, as (level, dotted name): level 0 is absolute, 1 the source's own package, and so on.
        functions: `def` and `async def`; None when it cannot be parsed, like the next three.
        branches: `if` and `elif`, conditional expressions, `case`s, and conditions of comprehensions.
        loops: `for`, `while`, and each `for` of a comprehension.
        state: names that outlive a call (see `heredity.analysis.state`).
    """

    topology: str
    imports: tuple[tuple[int, str], ...] = ()
    functions: int | None = None
    branches: int | None = None
    loops: int | None = None
    state: int | None = None


class SourceReader:
    """Reads sources and remembers what it found, also for sources that differ in numbers only.

    Memory grows with the number of different topologies; make one for each analysis.
    """

    def __init__(self) -> None:
        self._facts: dict[str, SourceFacts] = {}

    def read(self, source: bytes) -> SourceFacts:
        """Return the facts of a source; a source that cannot be parsed has a topology and nothing else."""
        if len(source) > MAX_SOURCE_BYTES:
            return SourceFacts(digest_bytes(source))
        # Sources that are equal but for numbers have trees that are equal but for constants: one parse serves all.
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
