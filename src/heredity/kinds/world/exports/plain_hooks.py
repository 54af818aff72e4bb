"""Hooks in an exported world: Python functions, called in the process that plays it.

In Heredity they run only in the sandbox. An export has no sandbox: installing it means running its author's code.
"""

from __future__ import annotations

import importlib
import json
import random
import sys
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from heredity.kinds.world.dsl.bounded import Turn, fitting, frozen, thawed

PASSES = 100
"""Passes charged to a turn for each call."""


class Hooks:
    """The hooks of a world: pure functions, as in Heredity. Results are cached.

    Args:
        folder: folder of their modules.
        hooks: by name, as `heredity.kinds.world.exports.plain.Hook`.
    """

    def __init__(self, folder: Path, hooks: Mapping[str, Any]) -> None:
        modules = _Modules(folder)
        self._called = {name: modules.function(hook.file, name) for name, hook in hooks.items()}
        self._fits = {name: fitting(f"the result of {name}", hook.returns) for name, hook in hooks.items()}
        self._names = {name: (*hook.takes, *hook.reads) for name, hook in hooks.items()}
        self._cached: dict[tuple[str, bytes], Any] = {}

    def functions(self) -> dict[str, Callable[..., Any]]:
        """Return the functions that rules call: each takes the turn, then the hook's inputs."""
        return {name: self._function(name) for name in self._names}

    def _function(self, name: str) -> Callable[..., Any]:
        names = self._names[name]

        def call(turn: Turn, *values: Any) -> Any:
            turn.count(PASSES)
            given = json.dumps(dict(zip(names, map(thawed, values), strict=True)), allow_nan=False).encode()
            if (name, given) not in self._cached:
                self._cached[name, given] = self._first(name, given)
            return self._cached[name, given]

        return call

    def _first(self, name: str, given: bytes) -> Any:
        """Call a function; `random` and numpy are seeded from its inputs, and their state is restored afterwards."""
        chance, numpy_chance, seed = random.getstate(), np.random.get_state(), zlib.crc32(given)
        random.seed(seed)
        np.random.seed(seed)
        try:
            made = json.loads(json.dumps(self._called[name](**json.loads(given)), allow_nan=False))
        finally:
            random.setstate(chance)
            np.random.set_state(numpy_chance)
        return self._fits[name](frozen(made, f"the result of {name}"))


class _Modules:
    """The modules of a folder, importable by each other by name while they are loaded."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._loaded = folder, dict[str, Any]()

    def function(self, file: str, name: str) -> Callable[..., Any]:
        if file not in self._loaded:
            siblings = {path.stem for path in self._folder.glob("*.py")}
            others = {stem: sys.modules.pop(stem) for stem in siblings & sys.modules.keys()}
            sys.path.insert(0, str(self._folder))
            try:
                self._loaded[file] = importlib.import_module(file.removesuffix(".py"))
            finally:
                sys.path.remove(str(self._folder))
                for stem in siblings:
                    sys.modules.pop(stem, None)
                sys.modules.update(others)
        return getattr(self._loaded[file], name)
