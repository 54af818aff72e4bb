"""The guest's side of hooks: imports the modules of a world, and calls their functions one after the other.

Runs in the sandbox beside the world's code; nothing that it says is trusted by the host.
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
        """Call a function; all chance that it takes from `random` and numpy's global generator comes from the seed."""
        random.seed(seed)
        np.random.seed(seed)
        return self._functions[name](**values)
