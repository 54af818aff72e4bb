"""The guest's side of hooks: imports a world's modules and calls their functions one at a time.

Runs in the sandbox next to the world's code; the host does not trust its output.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


class Hooks:
    """The functions of a world.

    Args:
        functions: the module of each.
    """

    def __init__(self, functions: Mapping[str, str]) -> None:
        self._functions: dict[str, Callable[..., Any]] = {
            name: getattr(importlib.import_module(module), name) for name, module in functions.items()
        }

    def call(self, name: str, seed: int, values: Mapping[str, Any]) -> Any:
        """Call a function; `random` and numpy's global generator are seeded first."""
        random.seed(seed)
        np.random.seed(seed)
        return self._functions[name](**values)
