"""What a solution begins as, read: the function in a starter or a prompt, its parameters, and their types where they are stated."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from heredity.errors import ConfigError
from heredity.outside import python_tree
from heredity.tasks.code.signature import ANY, LINKED, TREE, Function, Parameter, Signature, Type

_NAMES = {"int": "int", "float": "float", "str": "string", "bool": "bool"}


@dataclass(frozen=True, slots=True)
class Header:
    """A function that is to be written.

    Attributes:
        name: its name.
        parameters: names of its parameters, `self` left out.
        types: of them and of what it returns; None where one is not stated, or none of ours.
        before: what stands before it in the text: imports and other functions.
    """

    name: str
    parameters: tuple[str, ...]
    types: tuple[Type, ...] | None
    before: str = ""

    def method(self) -> Signature:
        """Return it as a method of `Solution`: in every language where types are stated, else in Python."""
        return Signature((self._function(self.types),))

    def alone(self, preamble: str, starter: str) -> Signature:
        """Return it as a function by itself, in Python."""
        return Signature((self._function(None),), form="function", preamble=preamble, starter=starter)

    def _function(self, types: tuple[Type, ...] | None) -> Function:
        types_of = types or (Type(ANY),) * (len(self.parameters) + 1)
        return Function(self.name, tuple(map(Parameter, self.parameters, types_of)), types_of[-1])


def header(text: str, name: str = "") -> Header:
    """Read a starter: a function, or the method of a class, which need not have a body.

    Args:
        text: Python.
        name: which function; the last of the text, where it is empty.

    Raises:
        ConfigError: if there is none.
    """
    module = _parsed(text)
    functions = [(node, node) for node in module.body if isinstance(node, ast.FunctionDef)]
    for owner in module.body:
        if isinstance(owner, ast.ClassDef):
            functions += [(node, owner) for node in owner.body if isinstance(node, ast.FunctionDef)]
    fitting = [pair for pair in functions if not name or pair[0].name == name]
    if not fitting:
        raise ConfigError(
            f"there is no function {name or 'at all'} in {text[:80]!r}; give the head of the function that is asked for"
        )
    node, owner = fitting[-1]
    arguments = [argument for argument in node.args.args if not (owner is not node and argument.arg == "self")]
    if node.args.vararg or node.args.kwarg or node.args.kwonlyargs or node.args.posonlyargs:
        raise ConfigError(f"the function {node.name} takes arguments by *, / or **; name each of them")
    types = [_type(annotation) for annotation in (*(argument.annotation for argument in arguments), node.returns)]
    annotated = tuple(kind for kind in types if kind is not None)
    before = "\n".join(text.splitlines()[: owner.lineno - 1])
    names = tuple(argument.arg for argument in arguments)
    return Header(node.name, names, annotated if len(annotated) == len(types) else None, before)


def _parsed(text: str) -> ast.Module:
    for ending in ("", "\n        pass\n", "\n    pass\n"):
        try:
            return python_tree(text.rstrip() + ending if ending else text)
        except ValueError as error:
            failed = error
    raise ConfigError(f"it is no Python: {failed}; give the head of a function")


def _type(node: ast.expr | None) -> Type | None:
    """Return the type of an annotation; None of none, and of those that other languages have nothing for."""
    match node:
        case ast.Name(id=name) if name in _NAMES:
            return Type(_NAMES[name])
        case ast.Constant(value=str() as text):
            try:
                return _type(python_tree(text, "eval").body)
            except ValueError:
                return None
        case ast.Subscript(value=ast.Name(id="Optional"), slice=ast.Name(id="TreeNode" | "ListNode" as name)):
            return Type(TREE if name == "TreeNode" else LINKED)
        case ast.BinOp(
            left=ast.Name(id="TreeNode" | "ListNode" as name), op=ast.BitOr(), right=ast.Constant(value=None)
        ):
            return Type(TREE if name == "TreeNode" else LINKED)
        case ast.Subscript(value=ast.Name(id="List" | "list"), slice=inner):
            item = _type(inner)
            return (
                Type.parse(f"list[{item}]")
                if item is not None and _depth(item) < 3 and item.name not in (TREE, LINKED)
                else None
            )
        case _:
            return None


def _depth(kind: Type) -> int:
    return 0 if kind.item is None else 1 + _depth(kind.item)
