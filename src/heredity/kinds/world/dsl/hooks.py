"""Hooks: Python functions next to a `world.yaml`, for anything rules cannot express. Their code runs only in the sandbox.

To the rules a hook is a pure function of values, so results are cached. A failure in it is a `RuleError`: the world's
failure, never the player's. Loading a world reads the source of its hooks and runs none of it.
"""

from __future__ import annotations

import ast
import json
import re
import time
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from heredity._core.errors import ConfigError
from heredity._core.outside import json_value, python_tree
from heredity.kinds.world.dsl.bounded import (
    MAX_PASSES,
    HookError,
    RuleError,
    SlowHookError,
    Turn,
    UnansweredHookError,
    allowance,
    fitting,
    frozen,
    thawed,
)
from heredity.kinds.world.dsl.schema import Hook
from heredity.resources import SourceTree
from heredity.sandbox.waiting import Answer, LateError, ProgramError, UnansweredError
from heredity.sandbox.zygote import Kept, Sandbox, shared

PASSES = 100
"""Passes charged to a turn for each call, so that a turn has at most 200 calls."""

CALL_S = 5.0
"""CPU seconds per call."""

TURN_S = 10.0
"""CPU seconds that the hooks of one turn may use together; cached calls are free."""

_MOST_ASKED = 2000
_GUEST = "heredity_hooks_guest"
_MOST_GIVEN = 1 << 18
_MOST_KEPT = 8 << 20
_MAX_BYTES, _MAX_FILES = 12 << 20, 800
_LINE = re.compile(r'File "([^"\n]{1,200})", line (\d{1,9})')


class Hooks:
    """The hooks of a world.

    Args:
        folder: the world's folder (hooks see only its Python modules).
        hooks: by name.

    Attributes:
        modules: the folder's Python modules, by file.

    Raises:
        ConfigError: if a file is missing, is not Python, or lacks a function with the hook's parameters.
    """

    def __init__(self, folder: Path, hooks: Mapping[str, Hook]) -> None:
        files = SourceTree.from_folder(folder, max_bytes=_MAX_BYTES, max_files=_MAX_FILES)
        self.modules = {path: data for path, data in files.items() if path.endswith(".py") and "/" not in path}
        for name, hook in hooks.items():
            _check(folder, self.modules, name, hook)
        guest = Path(__file__).with_name(f"{_GUEST}.py").read_bytes()
        tree = SourceTree({**self.modules, f"{_GUEST}.py": guest})
        functions = {name: hook.file.removesuffix(".py") for name, hook in hooks.items()}
        self._kept = Kept(tree, f"{_GUEST}:Hooks", {"functions": functions})
        self._fits = {name: fitting(f"the result of {name}", hook.returns) for name, hook in hooks.items()}
        self._names = {name: (*hook.takes, *hook.reads) for name, hook in hooks.items()}
        self._cached: dict[tuple[str, bytes], Any] = {}
        self._weight = 0

    def functions(self) -> dict[str, Callable[..., Any]]:
        """Return the functions that rules call: each takes the turn, then the hook's inputs."""
        return {name: self._function(name) for name in self._names}

    def differing(self, rng: np.random.Generator) -> tuple[int, list[tuple[str, str]]]:
        """Repeat cached calls, at most 2,000, in another order, in fresh processes of a fresh sandbox.

        Returns:
            Number of calls, and the hooks with a different result, each with its input, as JSON.
        """
        keys = list(self._cached)
        sandbox, different = Sandbox(), list[tuple[str, str]]()
        try:
            for index in rng.permutation(len(keys))[:_MOST_ASKED]:
                name, given = keys[int(index)]
                try:
                    same = self._call_hook(name, given, sandbox)[0] == self._cached[name, given]
                except UnansweredHookError:
                    raise
                except RuleError:
                    same = False
                if not same:
                    different.append((name, given.decode()))
        finally:
            sandbox.close()
        return min(len(keys), _MOST_ASKED), different

    def _function(self, name: str) -> Callable[..., Any]:
        names = self._names[name]

        def call(turn: Turn, *values: Any) -> Any:
            turn.count(PASSES)
            given = _encoded(name, names, values)
            cached = self._cached.get((name, given), self)
            if cached is not self:
                return cached
            return self._first(turn, name, given)

        return call

    def _first(self, turn: Turn, name: str, given: bytes) -> Any:
        allowed = allowance()
        if allowed is not None and allowed.left <= 0:
            raise SlowHookError(f"hooks have taken more than {allowed.seconds:g} s in total; make {name} faster")
        began = time.monotonic()
        made, answer = self._call_hook(name, given, shared())
        if allowed is not None:
            allowed.left -= time.monotonic() - began if allowed.clock else answer.spent_s
        turn.count(int(answer.spent_s / TURN_S * MAX_PASSES))
        self._weight += len(answer.data) + len(given)
        if self._weight > _MOST_KEPT:
            self._cached.clear()
            self._weight = len(answer.data) + len(given)
        self._cached[name, given] = made
        return made

    def _call_hook(self, name: str, given: bytes, sandbox: Sandbox) -> tuple[Any, Answer]:
        """Return a hook's result, and how the sandbox answered. Raises `HookError`."""
        request = b'{"name":"%s","seed":%d,"values":%s}' % (name.encode(), zlib.crc32(given), given)
        try:
            answer = sandbox.call(self._kept, b"call", request, CALL_S)
        except ProgramError as error:
            places = _LINE.findall(error.traceback)
            where = " ({}, line {})".format(*places[-1]) if places else ""
            kinds = {UnansweredError: UnansweredHookError, LateError: SlowHookError}
            kind = next((kinds[error_type] for error_type in kinds if isinstance(error, error_type)), HookError)
            raise kind(f"the hook {name}: {error}{where}", error.traceback) from error
        try:
            return self._fits[name](frozen(json_value(answer.data), f"the result of {name}")), answer
        except (ValueError, ConfigError, RuleError) as error:
            raise HookError(f"the hook {name}: {error}") from error


def _encoded(name: str, names: tuple[str, ...], values: tuple[Any, ...]) -> bytes:
    try:
        for value in values:
            if type(value) in (tuple, dict):
                _check_keys(value)
        given = json.dumps(dict(zip(names, map(thawed, values), strict=True)), allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise HookError(f"the hook {name} has an invalid input: {error}") from error
    if len(given) > _MOST_GIVEN:
        raise HookError(f"the hook {name} gets {len(given)} bytes; pass at most {_MOST_GIVEN}")
    return given


def _check_keys(value: Any) -> None:
    if type(value) is dict:
        for key, inner in value.items():
            if type(key) is not str:
                raise TypeError(f"a table with the key {key!r:.40}; keys have to be texts")
            _check_keys(inner)
    elif type(value) is tuple:
        for inner in value:
            _check_keys(inner)


def _check(folder: Path, modules: Mapping[str, bytes], name: str, hook: Hook) -> None:
    """Check the source of a hook."""
    path = f"rules.hooks.{name}"
    if hook.file not in modules:
        raise ConfigError(f"{path}.file is {hook.file!r}, and {folder} has no such file; put the function {name} there")
    try:
        tree = python_tree(modules[hook.file])
    except ValueError as error:
        raise ConfigError(f"{path}: {hook.file} is not Python: {error}; correct it there") from error
    defined = {node.name: node.args for node in tree.body if isinstance(node, ast.FunctionDef)}
    if name not in defined:
        has = ", ".join(sorted(defined)) or "no functions"
        raise ConfigError(f"{path}: {hook.file} defines no function {name!r}; it has {has}")
    arguments, given = defined[name], {*hook.takes, *hook.reads}
    names = [one.arg for one in (*arguments.args, *arguments.kwonlyargs)]
    needed = names[: len(arguments.args) - len(arguments.defaults)]
    needed += [a.arg for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default is None]
    if arguments.posonlyargs or not given >= {*needed} or not (arguments.kwarg or given <= {*names}):
        wanted = ", ".join((*hook.takes, *hook.reads)) or "nothing"
        raise ConfigError(f"{path}: {name}({', '.join(names)}) in {hook.file} is given {wanted}, by name")
