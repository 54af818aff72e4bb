"""The launchers by name, and those of installed packages (entry point group `heredity.launchers`)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import MappingProxyType
from typing import cast

from heredity.errors import ConfigError, UnknownNameError
from heredity.launchers.claude_code import ClaudeCode
from heredity.launchers.codex import Codex
from heredity.launchers.contract import Launcher
from heredity.launchers.folder import AgentFolder
from heredity.launchers.mini_swe_agent import MiniSweAgent
from heredity.launchers.programs import Program

GROUP = "heredity.launchers"

_BUILT_IN = (ClaudeCode(), Codex(), MiniSweAgent())
LAUNCHERS: Mapping[str, Launcher] = MappingProxyType({each.name: each for each in _BUILT_IN})
"""The built-in launchers by name."""

PROGRAMS: Mapping[str, Program] = MappingProxyType({each.name: each.program for each in _BUILT_IN})
"""The programs that can be installed for them, by the same names."""


def launcher(name: str) -> Launcher:
    """Return the launcher of that name.

    Args:
        name: of a built-in or an installed package's launcher; or the path of a folder with `start.sh`, which holds a `/`.

    Raises:
        UnknownNameError: if there is none; names the nearest.
        ConfigError: if an installed package's launcher cannot be loaded.
    """
    if "/" in name:
        return AgentFolder(Path(name))
    if name in LAUNCHERS:
        return LAUNCHERS[name]
    plugins = _plugins()
    if name not in plugins:
        raise UnknownNameError("launcher", name, [*LAUNCHERS, *plugins])
    return load_plugin(plugins[name])


def load_plugin(point: EntryPoint) -> Launcher:
    """Load the launcher that an installed package offers: an object, or what makes one without arguments.

    Raises:
        ConfigError: if it cannot be imported or is no launcher.
    """
    try:
        loaded = point.load()
    except (ImportError, AttributeError, SyntaxError) as error:
        raise ConfigError(
            f"launcher {point.name!r} of entry point {point.value!r} failed to load: {error}; "
            "repair or uninstall its package"
        ) from error
    made = loaded() if isinstance(loaded, type) else loaded
    if not callable(getattr(made, "launch", None)):
        raise ConfigError(
            f"launcher {point.name!r} of entry point {point.value!r} is {made!r}; give an object with `launch`"
        )
    return cast(Launcher, made)


@cache
def _plugins() -> Mapping[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}
