"""Static analysis of a folder of Python code: reachable functions and live branches.

Every file is treated as started from its top. Names are followed from there: a function is reached if reached code
mentions it (a method, if such code mentions its name and its class). Branches with a constant condition and statements
after a `return` are left out. No code is run and nothing is assumed about it; files that cannot be parsed within limits
are listed as unreadable.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from heredity._core.outside import python_tree
from heredity.analysis.syntax import MAX_SOURCE_BYTES

Function = ast.FunctionDef | ast.AsyncFunctionDef
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_EXITS = frozenset({"exit", "_exit", "quit", "abort"})
_UNKNOWN = object()


@dataclass(slots=True, eq=False)
class Module:
    """One readable source file.

    Attributes:
        file: its path in the folder.
        name: its import name.
        lines: its source, line by line.
        tree: its syntax.
        imports: name here to dotted name.
        stars: modules imported with `*`.
        definitions: name to functions and classes, methods left out.
        once: names bound exactly once in the file, to their values.
        bound: every name bound in the file.
    """

    file: str
    name: str
    lines: Sequence[str]
    tree: ast.Module
    imports: dict[str, str] = field(default_factory=dict[str, str])
    stars: list[str] = field(default_factory=list[str])
    definitions: dict[str, list[Function | ast.ClassDef]] = field(
        default_factory=dict[str, "list[Function | ast.ClassDef]"]
    )
    once: dict[str, ast.expr] = field(default_factory=dict[str, ast.expr])
    bound: Counter[str] = field(default_factory=Counter[str])

    def line(self, node: ast.AST) -> str:
        """Return the first source line of a node, without its indent."""
        number = getattr(node, "lineno", 1)
        return self.lines[number - 1].strip() if 0 < number <= len(self.lines) else ""


@dataclass(frozen=True, eq=False)
class Unit:
    """A unit of reachability: the body of a file, of a class, or of a function.

    Attributes:
        module: its file.
        body: its statements.
        node: the function or class; None for a file.
    """

    module: Module
    body: Sequence[ast.stmt]
    node: Function | ast.ClassDef | None = None

    @cached_property
    def live(self) -> tuple[ast.AST, ...]:
        """Its syntax, without dead branches and without the bodies of functions and classes inside."""
        nodes: list[ast.AST] = []
        stack: list[ast.AST] = list(reversed(_until_end(self.body)))
        while stack:
            nodes.append(node := stack.pop())
            stack += reversed(list(self._below(node)))
        return tuple(nodes)

    def _below(self, node: ast.AST) -> Iterable[ast.AST]:
        if isinstance(node, Function):
            defaults = [d for d in (*node.args.defaults, *node.args.kw_defaults) if d is not None]
            return [*node.decorator_list, *defaults]
        if isinstance(node, ast.ClassDef):
            return node.decorator_list
        if isinstance(node, ast.If | ast.IfExp | ast.While):
            truth = _truth(node.test, self.module)
            body = _nodes(node.body) if truth is not False else []
            other = _nodes(node.orelse) if truth is not True or isinstance(node, ast.While) else []
            return [node.test, *body, *other]
        return [child for _, value in ast.iter_fields(node) for child in _nodes(value)]


def _nodes(value: object) -> list[ast.AST]:
    if isinstance(value, list):
        return _until_end([child for child in value if isinstance(child, ast.AST)])
    return [value] if isinstance(value, ast.AST) else []


def _until_end(statements: Sequence[ast.AST]) -> list[ast.AST]:
    reached: list[ast.AST] = []
    for statement in statements:
        reached.append(statement)
        if isinstance(statement, _ENDS) or _exits(statement):
            break
    return reached


def _exits(statement: ast.AST) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return False
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in _EXITS


def _truth(test: ast.expr, module: Module) -> bool | None:
    value = _value(test, module)
    return None if value is _UNKNOWN else bool(value)


def _value(node: ast.expr, module: Module, depth: int = 0) -> object:
    """Return the value of a constant expression; a file is assumed to be started, not imported."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name) and depth < 8:
        if node.id == "__name__":
            return "__main__"
        if node.id == "TYPE_CHECKING":
            return False
        return _value(module.once[node.id], module, depth + 1) if node.id in module.once else _UNKNOWN
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        value = _value(node.operand, module, depth)
        return _UNKNOWN if value is _UNKNOWN else not value
    if isinstance(node, ast.BoolOp):
        values = [_value(operand, module, depth) for operand in node.values]
        deciding = isinstance(node.op, ast.Or)
        if any(value is not _UNKNOWN and bool(value) is deciding for value in values):
            return deciding
        return _UNKNOWN if _UNKNOWN in values else not deciding
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = _value(node.left, module, depth), _value(node.comparators[0], module, depth)
        if _UNKNOWN not in (left, right) and isinstance(node.ops[0], ast.Eq | ast.NotEq):
            return (left == right) is isinstance(node.ops[0], ast.Eq)
    return _UNKNOWN


def _module(file: str, source: bytes) -> Module:
    if len(source) > MAX_SOURCE_BYTES:
        raise ValueError(f"{file} is larger than {MAX_SOURCE_BYTES} bytes")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = python_tree(source, shallow=True)
    path = PurePosixPath(file).with_suffix("")
    name = ".".join(path.parent.parts if path.name == "__init__" else path.parts)
    made = Module(file, name, source.decode("utf-8", "replace").splitlines(), tree)
    _index(made)
    return made


def _index(module: Module) -> None:
    """Record a file's imports, definitions and bindings."""
    methods = {id(inner) for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef) for inner in node.body}
    single: dict[str, ast.expr] = {}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                module.imports[name] = alias.name if alias.asname else name
        elif isinstance(node, ast.ImportFrom):
            _index_from(module, node)
        elif isinstance(node, Function | ast.ClassDef) and id(node) not in methods:
            module.definitions.setdefault(node.name, []).append(node)
            module.bound[node.name] += 1
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            single[node.targets[0].id] = node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            single[node.target.id] = node.value
        elif isinstance(node, ast.arg):
            module.bound[node.arg] += 1
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            module.bound[node.id] += 1
    module.once = {name: value for name, value in single.items() if module.bound[name] == 1}


def _index_from(module: Module, node: ast.ImportFrom) -> None:
    base = node.module or ""
    if node.level:
        package = module.name.split(".")[: -node.level]
        base = ".".join([*package, *([base] if base else [])])
    for alias in node.names:
        if alias.name == "*":
            module.stars.append(base)
        else:
            module.imports[alias.asname or alias.name] = f"{base}.{alias.name}" if base else alias.name


class Program:
    """The Python code of a folder, and its reachable units.

    Attributes:
        modules: the readable files.
        unreadable: paths of the unreadable files.
        units: the reachable units.

    Args:
        files: path to content; other suffixes than `.py` are left out.
    """

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.modules: list[Module] = []
        self.unreadable: list[str] = []
        self.units: list[Unit] = []
        for file in sorted(name for name in files if name.endswith(".py")):
            try:
                self.modules.append(_module(file, files[file]))
            except ValueError:
                self.unreadable.append(file)
        self._seen: set[int] = set()
        self._attributes: set[str] = set()
        self._classes = defaultdict[str, list[tuple[Module, ast.ClassDef]]](list)
        self._methods = defaultdict[str, list[tuple[Module, Function]]](list)
        for module in self.modules:
            self._reach(Unit(module, module.tree.body), id(module))
        for unit in self.units:  # Grows during iteration.
            self._follow(unit)

    def resolve(self, module: Module, node: ast.expr, depth: int = 0) -> str:
        """Return the dotted name of an expression, such as `trl.GRPOTrainer`; `""` if it is not a name.

        A name defined in the file is `FILE:NAME`.
        """
        if isinstance(node, ast.Attribute):
            base = self.resolve(module, node.value, depth)
            return f"{base}.{node.attr}" if base else ""
        if not isinstance(node, ast.Name) or depth > 8:
            return ""
        if node.id in module.imports:
            return module.imports[node.id]
        if node.id in module.definitions:
            return f"{module.file}:{node.id}"
        if isinstance(bound := module.once.get(node.id), ast.Name | ast.Attribute):
            return self.resolve(module, bound, depth + 1)
        return f"{module.stars[0]}.{node.id}" if module.stars and not module.bound[node.id] else ""

    def definitions(self, module: Module, node: ast.expr) -> Sequence[tuple[Module, Function | ast.ClassDef]]:
        """Return the folder's functions and classes that an expression may refer to, with their files."""
        if isinstance(node, ast.Name) and node.id in module.definitions:
            return [(module, defined) for defined in module.definitions[node.id]]
        base, _, name = self.resolve(module, node).rpartition(".")
        defined = [(m, d) for m in self._files_named(base) for d in m.definitions.get(name, ())]
        if defined or not isinstance(node, ast.Attribute):
            return defined
        return self._methods[node.attr]

    def bases(self, module: Module, name: str) -> list[str]:
        """Return the dotted names of a class's bases from other packages."""
        ancestors, seen, waiting = list[str](), set[str](), [(module, name)]
        while waiting:
            module, name = waiting.pop()
            if name in seen:
                continue
            above = [
                (owner, self.resolve(owner, base))
                for owner, made in self._classes[re.split("[.:]", name)[-1]]
                if name in (f"{owner.file}:{made.name}", f"{owner.name}.{made.name}", f"{module.name}.{made.name}")
                for base in made.bases
            ]
            if name and seen and not above:
                ancestors.append(name)
            seen.add(name)
            waiting += reversed(above)
        return ancestors

    def _files_named(self, dotted: str) -> list[Module]:
        """Return the files imported under a name: their full name or, as scripts see each other, the last part."""
        return [m for m in self.modules if dotted and (m.name == dotted or m.name.rpartition(".")[2] == dotted)]

    def _reach(self, unit: Unit, key: int) -> None:
        if key not in self._seen:
            self._seen.add(key)
            self.units.append(unit)

    def _follow(self, unit: Unit) -> None:
        for node in unit.live:
            if isinstance(node, ast.Attribute) and node.attr not in self._attributes:
                self._attributes.add(node.attr)
                for module, method in self._methods[node.attr]:
                    self._reach_definition(module, method)
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                for module, definition in self.definitions(unit.module, node):
                    self._reach_definition(module, definition)

    def _reach_definition(self, module: Module, definition: Function | ast.ClassDef) -> None:
        if isinstance(definition, Function):
            self._reach(Unit(module, definition.body, definition), id(definition))
        elif id(definition) not in self._seen:
            bases = [ast.Expr(base) for base in (*definition.bases, *(k.value for k in definition.keywords))]
            self._classes[definition.name].append((module, definition))
            self._reach(Unit(module, [*bases, *definition.body], definition), id(definition))
            self._reach_methods(module, definition)

    def _reach_methods(self, module: Module, owner: ast.ClassDef) -> None:
        outside = any(not self.definitions(module, base) for base in owner.bases)
        for method in owner.body:
            if isinstance(method, Function):
                self._methods[method.name].append((module, method))
                # A base class from another package calls the overridden methods.
                if outside or method.name.startswith("__") or method.name in self._attributes:
                    self._reach_definition(module, method)
