"""The registry's operators in JSON: what each takes, and what each gives.

Over a wire there are no paths: where the operator takes a file or a folder, its content is given, and where it writes one,
its content is the answer.
"""

from __future__ import annotations

import base64
import binascii
import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from heredity.actors.calling import check_arguments
from heredity.errors import ConfigError, DamagedRecordError, UnknownNameError
from heredity.resources import OPERATORS, TYPES, Instance, Registry, SourceTree, Version
from heredity.sandbox.engine_folder import EngineFolder

READING = ("get", "get_info", "list", "retrieve", "get_state", "get_variables")
"""The operators that change nothing, which GET may ask for too."""

_TEXT: dict[str, Any] = {"type": "string"}
_OBJECT: dict[str, Any] = {"type": "object"}
_FILES = {
    "type": ["object", "string"],
    "description": 'path to text or {"base64": …}; a text alone is that of a prompt',
    "additionalProperties": {"type": ["string", "object"]},
}
_PARAMETERS: dict[str, dict[str, Any]] = {
    "type": {"type": "string", "enum": list(TYPES)},
    "files": _FILES,
    "manifest": _OBJECT,
    "variables": _OBJECT,
    "inputs": _OBJECT,
    "hidden": {"type": "boolean"},
    "intact": {"type": "boolean"},
    "limit": {"type": "integer", "minimum": 1},
    "part": {"type": "string", "enum": ["major", "minor", "patch"]},
    "by": {"type": "string", "enum": ["words", "embeddings"]},
}
"""What a parameter must be; those that are not listed are texts."""

_CONTENT: dict[str, dict[str, Any]] = {
    "init": {"files": _FILES},
    "load_from_json": {"export": _OBJECT},
    "load_contract": {"name": _TEXT, "text": _TEXT},
}
"""What is given in the place of a path."""

_SERVERS_OWN = {"folder", "path", "model"}
"""Parameters that name files of the server, which a client does not choose."""


def schema_of(operator: str) -> dict[str, Any]:
    """Return the JSON schema of what an operator takes.

    Raises:
        UnknownNameError: if there is no such operator.
    """
    if operator not in OPERATORS:
        raise UnknownNameError("operator", operator, OPERATORS)
    taken = [p for p in inspect.signature(getattr(Registry, operator)).parameters.values() if p.name != "self"]
    own = {p.name.rstrip("_"): p for p in taken if p.name not in _SERVERS_OWN}
    properties = {name: _PARAMETERS.get(name, _TEXT) for name in own} | _CONTENT.get(operator, {})
    required = [name for name, p in own.items() if p.default is p.empty] + list(_CONTENT.get(operator, {}))
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def operate(registry: Registry, operator: str, given: Mapping[str, Any]) -> Any:
    """Call an operator with JSON and return JSON; tools are not run here (see `heredity.actors.calling`).

    Args:
        registry: what it works on.
        operator: one of `OPERATORS`.
        given: what `schema_of` says; parameters that are null count as not given.

    Raises:
        UnknownNameError: if there is no such operator, resource, version and so on.
        ConfigError: if an argument is wrong, or the operator refuses.
        RecordError: if the store cannot be used.
    """
    given = {key: value for key, value in given.items() if value is not None}
    check_arguments(schema_of(operator), given, where=operator)
    special = _WITH_CONTENT.get(operator)
    if special is not None:
        return _encoded(special(registry, given))
    arguments = {"type_" if key == "type" else key: value for key, value in given.items()}
    if "files" in arguments:
        arguments["files"] = _files(arguments["files"])
    return _encoded(registry.operate(operator, **arguments))


def _init(registry: Registry, given: Mapping[str, Any]) -> list[Version]:
    with EngineFolder() as folder:
        _files(given["files"]).write_to(folder / "files")
        return registry.init(folder / "files")


def _load_from_json(registry: Registry, given: Mapping[str, Any]) -> int:
    with EngineFolder() as folder:
        path = folder / "export.json"
        path.write_text(json.dumps(given["export"]), encoding="utf-8")
        try:
            return registry.load_from_json(path)
        except DamagedRecordError as error:
            raise ConfigError(f"the export cannot be loaded: {error}") from error


def _save_to_json(registry: Registry, given: Mapping[str, Any]) -> dict[str, Any]:
    with EngineFolder() as folder:
        path = folder / "export.json"
        count = registry.save_to_json(path, **given)
        return {"versions": count, "export": json.loads(path.read_text(encoding="utf-8"))}


def _save_contract(registry: Registry, given: Mapping[str, Any]) -> dict[str, str]:
    with EngineFolder() as folder:
        path = registry.save_contract(given["type"], given["name"], folder, version=given.get("version"))
        return {"name": given["name"], "text": path.read_text(encoding="utf-8")}


def _load_contract(registry: Registry, given: Mapping[str, Any]) -> Version:
    with EngineFolder() as folder:
        SourceTree({f"{given['name']}/SKILL.md": given["text"]}).write_to(folder)
        return registry.load_contract(folder / given["name"])


_WITH_CONTENT: dict[str, Callable[[Registry, Mapping[str, Any]], Any]] = {
    "init": _init,
    "load_from_json": _load_from_json,
    "save_to_json": _save_to_json,
    "save_contract": _save_contract,
    "load_contract": _load_contract,
}


def _files(given: Any) -> SourceTree:
    if isinstance(given, str):
        given = {"prompt.md": given}
    return SourceTree({path: _content(path, value) for path, value in given.items()})


def _content(path: str, value: Any) -> str | bytes:
    if isinstance(value, str):
        return value
    match value:
        case {"text": str(text), **others} if not others:
            return text
        case {"base64": str(encoded), **others} if not others:
            try:
                return base64.b64decode(encoded, validate=True)
            except (binascii.Error, ValueError) as error:
                raise ConfigError(f"{path} is not base64: {error}") from error
        case _:
            pass
    raise ConfigError(f'{path} must be a text, {{"text": …}} or {{"base64": …}}, not {value!r:.80}')


def _encoded(value: Any) -> Any:
    if isinstance(value, Version):
        return {**value.to_json(), "digest": value.digest}
    if isinstance(value, Instance):
        own = value.value if not isinstance(value.value, SourceTree) else None
        return {"version": _encoded(value.version), "files": _encoded(value.tree), "value": _encoded(own)}
    if isinstance(value, SourceTree):
        texts = value.texts()
        return {p: texts.get(p, {"base64": base64.b64encode(data).decode()}) for p, data in value.items()}
    if isinstance(value, tuple):
        version, score = cast("tuple[Version, float]", value)
        return {"version": _encoded(version), "score": score}
    if isinstance(value, list):
        return [_encoded(entry) for entry in cast("list[Any]", value)]
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else value
