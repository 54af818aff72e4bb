"""The launchers by name (entry point group `heredity.launchers`): an object with `launch`, or a class that makes one."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from heredity.errors import ConfigError, nearest
from heredity.launchers.contract import Launcher
from heredity.launchers.folder import START, AgentFolder
from heredity.launchers.programs import Program
from heredity.plugins import Group

LAUNCHERS = Group[Launcher | type[Launcher]](
    "heredity.launchers",
    "launcher",
    "an object with `launch`",
    lambda launcher: callable(getattr(launcher, "launch", None)),
    or_path=True,
)

_PLAIN = re.compile(r"[\w.@%+/-]+")
_SHELL = (
    ". alias break case cd command eval exec exit export for function if local read return set shift source time trap true type "
    "ulimit umask unset until wait while heredity submit finish"
)
"""What /bin/sh knows by itself or at the head of other words, and the commands of a workspace."""


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


def agent_key(agent: str) -> Literal["launcher", "agent"]:
    """Return the key of `[evolver]` that an agent given in one text belongs under.

    Args:
        agent: the name of a launcher or the path of a folder, which are `launcher`; anything else is a command.

    Raises:
        ConfigError: if it is empty, or a relative path of no folder.
    """
    if not agent.strip():
        raise ConfigError("--agent is empty; give the name of an agent (heredity agents list), a folder, or a command")
    if agent in LAUNCHERS or ("/" in agent and Path(agent).expanduser().is_dir()):
        return "launcher"
    if agent.startswith(("./", "../", "~")) and len(agent.split()) == 1:
        raise ConfigError(
            f"--agent {agent} is no folder; give one with a {START}, or a command with absolute paths: it starts in a "
            "workspace of its own"
        )
    return "agent"


def check_command(command: str, path: Sequence[Path]) -> None:
    """Check that the program with which an agent's command begins is there; what only a shell could tell is taken as it is.

    Args:
        command: as in `evolver.agent`.
        path: the folders in which the agent finds programs.

    Raises:
        ConfigError: if there is none of that name; the message says what to do.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ConfigError(
            f"evolver.agent is {command!r}, which no shell can read ({error}); close the quotation"
        ) from error
    program = next((word for word in words if "=" not in word), "")
    if (
        _PLAIN.fullmatch(program) is None
        or program in _SHELL.split()
        or ("/" in program and not program.startswith("/"))
    ):
        return
    if program.startswith("/"):
        if not Path(program).is_file():
            raise ConfigError(f"{program} does not exist; correct the path in evolver.agent")
        return
    folders = ":".join(map(str, path))
    if shutil.which(program, path=folders) is not None:
        return
    alike = nearest(program, LAUNCHERS.names(), 1) if len(words) == 1 else []
    here = shutil.which(program)
    if alike:
        remedy = f"did you mean {alike[0]}? (heredity agents list)"
    elif here:
        remedy = f"{here} is out of the agent's sight: give that path, and its folder in evolver.read_only"
    else:
        remedy = "install it there, or give its path, and its folder in evolver.read_only"
    raise ConfigError(f"the agent finds no program {program} in {folders}; {remedy}")


def programs() -> dict[str, Program]:
    """Return the programs that can be installed for launchers, by the launchers' names."""
    offered = {name: getattr(launcher(name), "program", None) for name in LAUNCHERS.names()}
    return {name: program for name, program in offered.items() if program is not None}
