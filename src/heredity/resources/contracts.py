"""Contracts: a resource's purpose, input and guarantees, as a SKILL.md for people and models.

A contract is front matter (name, description, and optionally license, compatibility, metadata and allowed-tools) and
a text. Front matter is YAML whose scalars are always texts: `version: 1.10` is not 1.1. Aliases and tags are refused.
"""

from __future__ import annotations

import ast
import difflib
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.refusals import quoted
from heredity.resources.building import SKILL, check_skill
from heredity.resources.tree import SourceTree
from heredity.resources.versions import TYPES, Manifest, Version

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


MAX_FRONT_MATTER = 64 << 10
"""Characters of front matter."""

MAX_DEPTH = 8
"""Nesting depth of lists and mappings."""

_KEYS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
_TYPO = 0.8
_BREAKS = re.compile("[\x85\u2028\u2029]")
_UNQUOTED = re.compile(r"^([A-Za-z0-9_-]+): +([^\s\"'\[{}>|*&!%#`@][^\n]*: [^\n]*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Contract:
    """A SKILL.md.

    Attributes:
        name: the name of the resource (for a tool also its folder's name).
        description: its purpose and when to use it.
        extra: the other keys of the front matter.
        text: the text after the front matter.
    """

    name: str
    description: str
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])
    text: str = ""

    def __str__(self) -> str:
        import yaml

        front = {"name": self.name, "description": self.description, **self.extra}
        # Unless they are escaped, YAML reads these line breaks as spaces.
        style = '"' if _BREAKS.search(json.dumps(front, ensure_ascii=False)) else None
        text = yaml.safe_dump(front, sort_keys=False, allow_unicode=True, width=math.inf, default_style=style)
        return f"---\n{text}---\n\n{self.text.strip()}\n"


def contract_of(version: Version, tree: SourceTree) -> Contract:
    """Return a version's contract: the text of its SKILL.md if it has one, else one made from its manifest."""
    if SKILL in tree:
        own = read_contract(tree.text(SKILL), where=f"{SKILL} of {version.label}")
        if own.name != version.name:
            raise ConfigError(f"{SKILL} of {version.label} names {own.name}; name the resource it describes")
        return Contract(own.name, version.manifest.description, own.extra, own.text)
    return Contract(version.name, version.manifest.description, _facts(version), _text(version, tree))


def read_contract(text: str, *, where: str) -> Contract:
    """Read a SKILL.md.

    Args:
        text: the file's text.
        where: its name (in messages).

    Raises:
        ConfigError: if it has no front matter, or this is not YAML, too large, too deep, or with aliases, tags or
            repeated keys.
        UnknownNameError: if a key looks like a misspelt SKILL.md key; other keys are kept.
    """
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != "---" or "---" not in [line.rstrip() for line in lines[1:]]:
        raise ConfigError(f"{where} has no front matter; begin with ---, name: …, description: …, ---")
    end = [line.rstrip() for line in lines].index("---", 1)
    front = _front_matter("\n".join(["", *lines[1:end]]), where)
    for key in front:
        if key not in _KEYS and difflib.get_close_matches(key, _KEYS, cutoff=_TYPO):
            raise UnknownNameError(f"key in {where}", key, _KEYS)
    name, description = (_plain(front.pop(key, ""), key, where) for key in ("name", "description"))
    try:
        check_skill(name, description)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error
    return Contract(name, description, front, "\n".join(lines[end + 1 :]).strip())


def type_of(contract: Contract, *, where: str) -> str:
    """Return the type of the resource described by a contract: from its metadata, or else a tool, like all foreign contracts."""
    metadata = contract.extra.get("metadata")
    given = metadata.get("type") if isinstance(metadata, Mapping) and {"type", "digest"} <= metadata.keys() else "tool"
    if given not in TYPES:
        raise UnknownNameError(f"type of resource in {where}", str(given), TYPES)
    return given


def _front_matter(text: str, where: str) -> dict[str, Any]:
    import yaml

    if len(text) > MAX_FRONT_MATTER:
        raise ConfigError(
            f"{where} has {len(text)} characters of front matter; expected at most {MAX_FRONT_MATTER}: move some into the text"
        )
    try:
        front = _read(text, where)
    except yaml.YAMLError as error:
        try:
            # Many write `description: Adds: two numbers`, which is not YAML but unambiguous.
            front = _read(_UNQUOTED.sub(lambda line: f"{line[1]}: {json.dumps(line[2])}", text), where)
        except yaml.YAMLError:
            mark = getattr(error, "problem_mark", None)
            location = where if mark is None else f"{where}, line {mark.line + 1}"
            problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
            raise ConfigError(f"{location}: not YAML ({problem}); put the value in double quotes") from error
    if not isinstance(front, dict):
        raise ConfigError(f"{where}: the front matter is {str(front)!r:.60}; expected lines such as name: …")
    return front


def _read(text: str, where: str) -> Any:
    """Return the value of a YAML text: texts, lists and dictionaries; `{}` if it has none."""
    import yaml

    events = iter(yaml.parse(text, Loader=yaml.SafeLoader))
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            return _value(next(events), events, where, 0)
    return {}


def _value(event: Any, events: Iterator[Any], path: str, depth: int) -> Any:
    """Return the value that starts with an event; `path` is its location."""
    import yaml

    tag: str | None = getattr(event, "tag", None)
    if tag or event.anchor:
        given, line = f"the tag {tag}" if tag else f"the alias {event.anchor}", event.start_mark.line + 1
        raise ConfigError(f"{path}, line {line}: {given[:80]} has no meaning here; write the value out")
    if isinstance(event, yaml.ScalarEvent):
        return event.value
    if depth == MAX_DEPTH:
        raise ConfigError(f"{path[:200]} is more than {MAX_DEPTH} lists and mappings deep; make it flatter")
    if isinstance(event, yaml.SequenceStartEvent):
        items: list[Any] = []
        while not isinstance(item := next(events), yaml.SequenceEndEvent):
            items.append(_value(item, events, f"{path}, {len(items)}", depth + 1))
        return items
    values: dict[str, Any] = {}
    while not isinstance(item := next(events), yaml.MappingEndEvent):
        key = _plain(_value(item, events, path, depth + 1), "a key", path)
        if key in values:
            raise ConfigError(f"{path} has {key!r:.60} twice; leave one")
        values[key] = _value(next(events), events, f"{path}, {key}", depth + 1)
    return values


def _plain(value: Any, what: str, where: str) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"{where}: {what} = {quoted(value)}; expected a text")
    return value


def _facts(version: Version) -> dict[str, Any]:
    return {"metadata": {"type": version.type, "version": str(version.number), "digest": version.digest}}


def _text(version: Version, tree: SourceTree) -> str:
    manifest = version.manifest
    parts = [f"# {version.name}", manifest.description]
    try:
        arguments = parameters_of(version.label, tree, manifest) if version.type == "tool" else manifest.arguments
        if listed := _arguments(arguments):
            parts += ["## Arguments", listed]
    except ConfigError as error:
        parts += ["## Arguments", f"Not known: {error}."]
    if manifest.pins:
        parts += ["## Needs", "\n".join(f"- {target} {number}" for target, number in manifest.pins.items())]
    if tree:
        parts += ["## Files", "\n".join(f"- `{path}` ({len(data)} bytes)" for path, data in tree.items())]
    return "\n\n".join(part for part in parts if part)


def _arguments(schema: Mapping[str, Any]) -> str:
    required = schema.get("required", [])
    return "\n".join(
        f"- `{key}` ({about.get('type', 'any')}{'' if key in required else ', optional'})"
        + (f": {about['description']}" if "description" in about else "")
        for key, about in schema.get("properties", {}).items()
    )
