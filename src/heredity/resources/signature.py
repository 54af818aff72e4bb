"""Argument schema of a tool: from its manifest, or else from the signature of `run`."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from heredity._core.errors import ConfigError
from heredity.resources.tree import SourceTree
from heredity.resources.versions import Manifest

_CODE = "tool.py"
_ANNOTATIONS = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
}

SKILL_FILE: Mapping[str, Any] = {
    "file": {
        "type": "string",
        "description": "file of the skill to read, such as references/forms.md; else its SKILL.md",
    }
}
"""Schema of the argument of a skill that has more files than its SKILL.md."""


def parameters_of(label: str, part: SourceTree, manifest: Manifest) -> Mapping[str, Any]:
    """Return the JSON schema of a tool's arguments. The tool is not executed.

    Args:
        label: `tool/NAME`, for errors.
        part: its files, with `tool.py`.
        manifest: its manifest; `arguments` in it take precedence over the signature.

    Raises:
        ConfigError: if neither defines the arguments.
    """
    if manifest.arguments:
        return dict(manifest.arguments)
    if _CODE not in part:
        properties = SKILL_FILE if len(part) > 1 else {}
        return {"type": "object", "properties": properties, "additionalProperties": False}
    run = _function(part)
    if run is None:
        raise ConfigError(f"{_CODE} of {label} defines no function run(…) at its top; add it")
    arguments = run.args
    if arguments.posonlyargs or arguments.vararg:
        raise ConfigError(f"run of {label} takes arguments by place; they are given by name, so remove / and *args")
    plain = arguments.args
    optional = {a.arg for a in plain[len(plain) - len(arguments.defaults) :]} | {
        a.arg for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default is not None
    }
    named = [*plain, *arguments.kwonlyargs]
    return {
        "type": "object",
        "properties": {a.arg: _schema(a.annotation) for a in named},
        "required": [a.arg for a in named if a.arg not in optional],
        "additionalProperties": arguments.kwarg is not None,
    }


def _function(part: SourceTree) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    functions = [n for n in ast.parse(part[_CODE]).body if isinstance(n, kinds) and n.name == "run"]
    return functions[-1] if functions else None


def _schema(annotation: ast.expr | None) -> dict[str, Any]:
    """Return the schema of a plain annotation, `list[int]` as a list; anything else is left open."""
    outer = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    kind = _ANNOTATIONS.get(outer.id) if isinstance(outer, ast.Name) else None
    if kind == "array":
        # Some providers refuse a list without a schema of its items.
        inner = annotation.slice if isinstance(annotation, ast.Subscript) else None
        return {"type": kind, "items": _schema(inner)}
    return {"type": kind} if kind else {}
