"""The launchers by name (entry point group `heredity.launchers`): an object with `launch`, or a class that makes one."""

from __future__ import annotations

from pathlib import Path

from heredity.launchers.contract import Launcher
from heredity.launchers.folder import AgentFolder
from heredity.launchers.programs import Program
from heredity.plugins import Group

LAUNCHERS = Group[Launcher | type[Launcher]](
    "heredity.launchers",
    "launcher",
    "an object with `launch`",
    lambda launcher: callable(getattr(launcher, "launch", None)),
    or_path=True,
)


def launcher(name: str) -> Launcher:
    """Return the launcher of that name.

    Args:
        name: of an installed launcher; or the path of a folder with `start.sh`, which holds a `/`.

    Raises:
        UnknownNameError: if there is none; names the nearest.
        ConfigError: if an installed package's launcher cannot be loaded.
    """
    if "/" in name:
        return AgentFolder(Path(name))
    registered = LAUNCHERS.load(name)
    return registered() if isinstance(registered, type) else registered


def programs() -> dict[str, Program]:
    """Return the programs that can be installed for launchers, by the launchers' names."""
    offered = {name: getattr(launcher(name), "program", None) for name in LAUNCHERS.names()}
    return {name: program for name, program in offered.items() if program is not None}
