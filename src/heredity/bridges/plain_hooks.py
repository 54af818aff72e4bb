"""Hooks in a world that was exported: its functions in Python, called in the process that plays it.

In Heredity they run in the sandbox alone. Elsewhere there is none: whoever installs an export runs the code of its author.
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

from heredity.worlds.dsl.bounded import Turn
from heredity.worlds.dsl.values import fitting, frozen, thawed

PASSES = 100
"""What a call counts of a turn's passes."""


class Hooks:
    """The hooks of a world: functions of what they are given, as in Heredity. What was asked once is remembered.

    Args:
        folder: where its modules lie.
        hooks: by name, as `heredity.bridges.plain.Hook`.
    """

    def __init__(self, folder: Path, hooks: Mapping[str, Any]) -> None:
        modules = _Modules(folder)
        self._called = {name: modules.function(hook.file, name) for name, hook in hooks.items()}
        self._fits = {name: fitting(f"the result of {name}", hook.returns) for name, hook in hooks.items()}
        self._names = {name: (*hook.takes, *hook.reads) for name, hook in hooks.items()}
        self._cached: dict[tuple[str, bytes], Any] = {}

    def functions(self) -> dict[str, Callable[..., Any]]:
        """Return what rules call: each takes the turn, then what the hook takes and reads."""
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
        """Call a function; chance that it takes from `random` and numpy comes from what it is given, and others keep theirs."""
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
    """The modules of a folder, which may import each other by their names while they are loaded."""

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
