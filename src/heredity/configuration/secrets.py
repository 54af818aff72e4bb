"""Keys and tokens in a user's configuration: they stay out of every record, name and message.

A configuration is copied into folders that are published. A secret reaches an agent through a variable of this
process that `evolver.inherit` names; an assignment in front of a command becomes such a variable.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from heredity._core.errors import ConfigError, redacted

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_SECRET_NAME = re.compile(r"(?:^|[_-])(?:key|api[_-]?key|token|secret|password|passwd|credentials?)$", re.IGNORECASE)
_LEADING = re.compile(
    r"""(?:([A-Za-z_][A-Za-z0-9_]*)=((?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])*)|env|exec|nohup|time|command)(?:\s+|$)"""
)
"""Words that may precede the name of a program."""
_BEFORE_PROGRAMS = ("env", "exec", "nohup", "time", "command")


def words_of(command: str) -> list[str]:
    """Return the words of a shell command, unquoted if it can be parsed."""
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def program_of(command: str) -> str:
    """Return the name of the program that a command starts, without path, variables or arguments; `"agent"` if there is none."""
    words = words_of(command)
    while words and (_ASSIGNMENT.fullmatch(words[0]) or words[0] in _BEFORE_PROGRAMS):
        words.pop(0)
    name = Path(words[0]).stem if words else ""
    if name.startswith("python"):
        # After an interpreter, accept only certain programs; other arguments may be anything.
        scripts = [Path(word).stem for word in words[1:] if word.endswith(".py")]
        modules = [Path(after).stem for word, after in itertools.pairwise(words) if word == "-m"]
        name = next(iter([*scripts, *modules]), "")
    return name if name and not name.startswith("-") and redacted(name) == name else "agent"


def without_secrets(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return an unvalidated configuration without secrets in its agent's command.

    `OPENAI_API_KEY=… my-agent` becomes `my-agent` with the variable in this process's environment and in
    `evolver.inherit`.

    Raises:
        ConfigError: if a secret is an argument, or anywhere else in the configuration.
    """
    result: dict[str, Any] = {**data}
    evolver: Any = data.get("evolver")
    matrix: Any = data.get("matrix")
    moved: dict[str, str] = {}
    if isinstance(evolver, Mapping) and isinstance(evolver.get("agent"), str):  # pyright: ignore[reportUnknownMemberType]
        table = cast(Mapping[str, Any], evolver)
        result["evolver"] = {**table, "agent": _moved(table["agent"], moved)}
    if isinstance(matrix, Mapping) and isinstance(matrix.get("evolver.agent"), list):  # pyright: ignore[reportUnknownMemberType]
        table = cast(Mapping[str, Any], matrix)
        agents = [_moved(agent, moved) if isinstance(agent, str) else agent for agent in table["evolver.agent"]]
        result["matrix"] = {**table, "evolver.agent": agents}
    if isinstance(matrix, Mapping) and isinstance(matrix.get("evolver"), list):  # pyright: ignore[reportUnknownMemberType]
        table = cast(Mapping[str, Any], result["matrix"])
        result["matrix"] = {**table, "evolver": [_entry(entry, moved) for entry in table["evolver"]]}
    if moved:
        os.environ.update(moved)
        table = cast(dict[str, Any], result.get("evolver", {}))
        inherit = table.get("inherit", [])
        names = inherit if isinstance(inherit, list) else []
        result["evolver"] = {**table, "inherit": [*names, *(name for name in moved if name not in names)]}
    _refuse_secrets(result, ())
    return result


def _entry(entry: Any, moved: dict[str, str]) -> Any:
    """Return an entry of `[[matrix.evolver]]` without the secrets of its command; their variables go to all agents."""
    if not isinstance(entry, Mapping) or not isinstance(entry.get("agent"), str):  # pyright: ignore[reportUnknownMemberType]
        return entry  # pyright: ignore[reportUnknownVariableType]
    table = cast(Mapping[str, Any], entry)
    return {**table, "agent": _moved(table["agent"], moved)}


def refuse_secrets(data: Mapping[str, Any]) -> None:
    """Reject a team's settings that contain a secret: they are stored in the folder of every task.

    Raises:
        ConfigError: with the key of the setting and the remedy; the secret is not repeated.
    """
    servers: Any = data.get("mcp")
    for name, server in cast("Mapping[str, Any]", servers).items() if isinstance(servers, Mapping) else ():
        command = cast("Mapping[str, Any]", server).get("command") if isinstance(server, Mapping) else None
        if isinstance(command, list):
            _refuse_arguments(
                shlex.join(map(str, cast("list[Any]", command))),
                f"mcp.{name}.command",
                f"mcp.{name}.environment, which the program reads",
            )
    _refuse_secrets(data, (), "api_key_env of a provider, or in token or environment of a server or an agent")


def _moved(command: str, moved: dict[str, str]) -> str:
    """Move assignments of secrets out of a command; return the rest verbatim."""
    rest, kept = command.lstrip(), ""
    while match := _LEADING.match(rest):
        name, value = match[1] or "", "".join(words_of(match[2] or ""))
        if _SECRET_NAME.search(name) and value and not value.startswith("$"):
            if moved.setdefault(name, value) != value:
                raise ConfigError(
                    f"evolver.agent gives {name} two values; set it in the environment, or run two suites"
                )
        else:
            kept += match[0]
        rest = rest[match.end() :]
    _refuse_arguments(rest)
    return kept + rest


def _refuse_arguments(command: str, key: str = "evolver.agent", where: str = "evolver.inherit") -> None:
    for name, value in re.findall(r"([A-Za-z_][A-Za-z0-9_]*)=([^\s;&|]*)", command):
        if _SECRET_NAME.search(name) and value.strip("'\"") and not value.strip("'\"").startswith("$"):
            raise ConfigError(
                f"{key} sets {name} in the middle of its command, which records would show; set it before you start "
                f"heredity, and name it in {where}"
            )
    words = words_of(command)
    for word, after in itertools.pairwise([*words, ""]):
        option, equals, value = word.partition("=")
        value = value if equals else after
        if option.startswith("-") and _SECRET_NAME.search(option) and value and not value.startswith(("$", "-")):
            raise ConfigError(
                f"{key} gives {option} a value that records would show; set a variable before you start heredity, name "
                + (f"it in {where}" if key != "evolver.agent" else f'it in {where}, and write {option} "$NAME"')
            )


_WHERE = "evolver.inherit, or in api_key_env of a provider"


def _refuse_secrets(value: Any, path: tuple[str, ...], where: str = _WHERE) -> None:
    if isinstance(value, Mapping):
        for key, inner in cast(Mapping[Any, Any], value).items():
            _refuse_secrets(inner, (*path, redacted(str(key))), where)
    elif isinstance(value, list | tuple):
        for inner in cast(list[Any], value):
            _refuse_secrets(inner, path, where)
    elif isinstance(value, str) and value.startswith("acp:"):
        _refuse_arguments(value.removeprefix("acp:"), ".".join(path))
    elif (
        isinstance(value, str)
        and value
        and (redacted(value) != value or _is_secret(path) or _is_assignment(path, value))
    ):
        raise ConfigError(
            f"{'.'.join(path)} holds a key, which records would show; set a variable before you start heredity, and name it in "
            f"{where}"
        )


def _is_secret(path: tuple[str, ...]) -> bool:
    """Return True if a key holds a secret, in a table whose values are passed on as they are."""
    return (
        bool(path)
        and bool({"extra_body", "environment"} & set(path[:-1]))
        and _SECRET_NAME.search(path[-1]) is not None
    )


def _is_assignment(path: tuple[str, ...], value: str) -> bool:
    """Return True if a list of variable names has one with its value."""
    return path[-1:] == ("environment",) and _ASSIGNMENT.fullmatch(value) is not None
