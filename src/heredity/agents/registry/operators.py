"""The registry's operators with JSON: one form for HTTP, the Model Context Protocol and the command line."""

from __future__ import annotations

import base64
import binascii
import inspect
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from typing import Any, cast

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import ConfigError, DamagedRecordError, HeredityError, UnknownNameError
from heredity.engine.actor import ToolResult
from heredity.engine.resource_runs import ResourceRuns
from heredity.engine.schemas import check_arguments
from heredity.resources import OPERATORS, TYPES, Instance, Registry, SourceTree, Version

READING = (
    "get",
    "get_info",
    "list",
    "retrieve",
    "get_state",
    "get_variables",
    "versions",
    "log",
    "diff",
    "save_to_folder",
)
"""Read-only operators, over HTTP also available by GET."""

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
    "names": {"type": "array", "items": _TEXT},
    "by": {"type": "string", "enum": ["words", "embeddings"]},
}
"""Schemas of parameters; unlisted ones are texts."""

_CONTENT: dict[str, dict[str, Any]] = {
    "init": {"files": _FILES},
    "load_from_json": {"export": _OBJECT},
    "load_contract": {"name": _TEXT, "text": _TEXT},
}
"""Schemas of content that replaces a path."""

_OPTIONAL: dict[str, dict[str, Any]] = {
    "init": {"modes": {"type": "object", "additionalProperties": {"type": "string"}}},
    "load_contract": {"files": _FILES},
}
"""Schemas of content that may be left out."""

MAX_BODY_BYTES = 64 << 20
"""Maximum size of a request's body, and of the files of an answer."""

_SERVERS_OWN = {"folder", "path", "model"}
"""Parameters that name files of the server, which a client cannot choose."""


def schema_of(operator: str) -> dict[str, Any]:
    """Return the JSON schema of an operator's parameters.

    Raises:
        UnknownNameError: if the operator does not exist.
    """
    if operator not in OPERATORS:
        raise UnknownNameError("operator", operator, OPERATORS)
    taken = [p for p in inspect.signature(getattr(Registry, operator)).parameters.values() if p.name != "self"]
    own = {p.name.rstrip("_"): p for p in taken if p.name not in _SERVERS_OWN}
    properties = (
        {name: _PARAMETERS.get(name, _TEXT) for name in own} | _CONTENT.get(operator, {}) | _OPTIONAL.get(operator, {})
    )
    required = [name for name, p in own.items() if p.default is p.empty] + list(_CONTENT.get(operator, {}))
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def operate(registry: Registry, operator: str, given: Mapping[str, Any]) -> Any:
    """Call an operator with JSON and return JSON; code is not run here (see `perform`).

    Args:
        registry: the registry.
        operator: one of `OPERATORS`.
        given: parameters as in `schema_of`; null ones count as missing.

    Raises:
        UnknownNameError: if the operator, resource, version and so on does not exist.
        ConfigError: if an argument is wrong, or the operator refuses.
        RecordError: if the store cannot be used.
    """
    given = {key: value for key, value in given.items() if value is not None}
    check_arguments(schema_of(operator), given, where=operator)
    special = _WITH_CONTENT.get(operator)
    if special is not None:
        return encoded(special(registry, given))
    arguments = {"type_" if key == "type" else key: value for key, value in given.items()}
    if "files" in arguments:
        arguments["files"] = _files(arguments["files"])
    return encoded(registry.operate(operator, **arguments))


async def perform(
    work: Callable[[Callable[[Registry], Any]], Awaitable[Any]],
    runs: ResourceRuns,
    operator: str,
    given: Mapping[str, Any],
) -> Any:
    """Call an operator with JSON and return JSON.

    Args:
        work: calls a function with the registry, see `heredity.agents.registry.Connections.work`.
        runs: does the operator `run`.
        operator: as in `operate`.
        given: as in `operate`.

    Raises:
        ToolFailedError: if the tool or policy failed.
        HeredityError: as `operate` and `ResourceRuns.run`.
    """
    if operator != "run":
        return await work(lambda registry: operate(registry, operator, given))
    given = {key: value for key, value in given.items() if value is not None}
    check_arguments(schema_of(operator), given, where=operator)
    result = await runs.run(work, given["type"], given["name"], given.get("inputs"), version=given.get("version"))
    if not isinstance(result, ToolResult):
        return encoded(result)
    if result.error:
        raise ToolFailedError(asdict(result))
    return asdict(result)


def parse_argument(operator: str, key: str, text: str) -> Any:
    """Return the value of a parameter given as text: JSON unless it is a text, or a text if that fails."""
    kind = schema_of(operator)["properties"].get(key, _TEXT).get("type")
    if kind == "boolean" and text in ("0", "1"):
        return text == "1"
    if kind == "string":
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _init(registry: Registry, given: Mapping[str, Any]) -> list[Version]:
    with EngineFolder() as folder:
        files, modes = _files(given["files"]), given.get("modes", {})
        unknown = sorted(set(modes) - set(files))
        if unknown:
            raise UnknownNameError("file in modes", unknown[0], files)
        files.write_to(folder / "files")
        for path in files:
            mode = modes.get(path, "644")
            if not isinstance(mode, str) or not re.fullmatch("[4-7][0-7]{2}", mode):
                raise ConfigError(
                    f'modes: {path} has {mode!r:.20}; expected permissions as octal digits, such as "755"'
                )
            (folder / "files" / path).chmod(int(mode, 8))
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
        files = {**_files(given.get("files", {})), "SKILL.md": given["text"]}
        SourceTree({f"{given['name']}/{path}": content for path, content in files.items()}).write_to(folder)
        return registry.load_contract(folder / given["name"])


def _save_to_folder(registry: Registry, given: Mapping[str, Any]) -> dict[str, Any]:
    with EngineFolder() as folder:
        registry.save_to_folder(folder / "files", given.get("names", ()))
        files = SourceTree.from_folder(folder / "files", max_bytes=MAX_BODY_BYTES, max_files=100_000)
        modes = {path: f"{(folder / 'files' / path).stat().st_mode & 0o777:03o}" for path in files}
        return {"files": encoded(files), "modes": {path: mode for path, mode in modes.items() if mode != "644"}}


_WITH_CONTENT: dict[str, Callable[[Registry, Mapping[str, Any]], Any]] = {
    "init": _init,
    "load_from_json": _load_from_json,
    "save_to_json": _save_to_json,
    "save_contract": _save_contract,
    "load_contract": _load_contract,
    "save_to_folder": _save_to_folder,
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


def encoded(value: Any) -> Any:
    """Return the result of an operator as JSON."""
    if isinstance(value, Version):
        return {**value.to_json(), "digest": value.digest}
    if isinstance(value, Instance):
        own = value.value if not isinstance(value.value, SourceTree) else None
        return {"version": encoded(value.version), "files": encoded(value.tree), "value": encoded(own)}
    if isinstance(value, SourceTree):
        texts = value.texts()
        return {p: texts.get(p, {"base64": base64.b64encode(data).decode()}) for p, data in value.items()}
    if isinstance(value, tuple):
        version, score = cast("tuple[Version, float]", value)
        return {"version": encoded(version), "score": score}
    if isinstance(value, list):
        return [encoded(entry) for entry in cast("list[Any]", value)]
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else value


class ToolFailedError(HeredityError):
    """A tool failed; its result says how."""

    def __init__(self, result: Mapping[str, Any]) -> None:
        self.result = result
        super().__init__(str(result["message"]))
