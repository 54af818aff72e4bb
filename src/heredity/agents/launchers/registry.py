"""Launchers by name (entry point group `heredity.launchers`): an object with `launch`, or a class that makes one."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args

from heredity._core.errors import ConfigError, nearest
from heredity._core.outside import read_text, yaml_value
from heredity._core.plugins import Group
from heredity.agents.launchers.acp import PREFIX, Served, server
from heredity.agents.launchers.contract import Effort, Launch, Launcher, LaunchOptions, Takes
from heredity.agents.launchers.programs import Program

START, CONFIG = "start.sh", "config.yaml"


@dataclass(frozen=True, slots=True)
class AgentFolder:
    """Starts `start.sh` of a folder with bash, in the workspace.

    It gets the prompt in `HEREDITY_PROMPT`, the name of its model in `HEREDITY_MODEL` and an effort in
    `HEREDITY_EFFORT`. Entries under `env_vars` in
    `config.yaml` override variables from other sources.

    Attributes:
        folder: the folder, visible to the agent read-only at the same path.
    """

    folder: Path

    @property
    def name(self) -> str:
        """The agent's name: that of its folder."""
        return self.folder.resolve().name

    def launch(self, prompt: str, model: str = "", options: LaunchOptions = LaunchOptions()) -> Launch:  # noqa: B008 - frozen
        """Return how to start it (see `Launcher.launch`).

        Raises:
            ConfigError: if `start.sh` is missing or `config.yaml` is wrong.
        """
        options.check(str(self.folder), Takes(get_args(Effort)))
        folder = self.folder.resolve()
        start = folder / START
        if not start.is_file():
            raise ConfigError(
                f"{self.folder} has no {START}; an agent's folder holds {START}, and {CONFIG} if it needs one"
            )
        variables = {"HEREDITY_PROMPT": prompt, **({"HEREDITY_MODEL": model} if model else {})}
        variables |= {"HEREDITY_EFFORT": options.effort} if options.effort else {}
        # With pipefail the exit code is the agent's, even if its script pipes it into tee.
        command = f"exec bash -o pipefail {shlex.quote(str(start))} </dev/null"
        return Launch(command, {**variables, **_variables(folder / CONFIG)}, (folder,))


def _variables(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    try:
        config = yaml_value(read_text(path)) or {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read as YAML: {error}; correct it") from error
    given: Any = cast("Mapping[str, Any]", config).get("env_vars") or {} if isinstance(config, Mapping) else None
    if not isinstance(given, Mapping):
        raise ConfigError(f"{path}: env_vars is {given!r}; write a table of names and values below env_vars")
    variables = cast("Mapping[Any, Any]", given)
    for name, value in variables.items():
        if not isinstance(name, str) or not isinstance(value, str | int | float):
            raise ConfigError(f"{path}: env_vars.{name} is {value!r}; give a text or a number")
    return {name: _written(value) for name, value in variables.items()}


def _written(value: str | float) -> str:
    # As in a shell: YAML turns a bare true into a boolean.
    return str(value).lower() if isinstance(value, bool) else str(value)


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
"""Built-ins and keywords of /bin/sh, and the commands of a workspace."""


def launcher(name: str) -> Launcher:
    """Return a launcher by name.

    Args:
        name: an installed launcher's name; the path of a folder with `start.sh`, written with a `/`; or `acp:` and the
            command or the name of an agent that speaks the Agent Client Protocol.

    Raises:
        UnknownNameError: if it is unknown; suggests the nearest.
        ConfigError: if an installed package's launcher cannot be loaded.
    """
    if name.startswith(PREFIX):
        served = name.removeprefix(PREFIX).strip()
        return server(served, launcher(served) if served in LAUNCHERS else None)
    if "/" in name:
        return AgentFolder(Path(name))
    registered = LAUNCHERS.load(name)
    return registered() if isinstance(registered, type) else registered


def agent_key(agent: str) -> Literal["launcher", "agent"]:
    """Return the key of `[evolver]` for an agent given as one text.

    Args:
        agent: the name of a launcher, the path of a folder, or `acp:` and an agent, which are `launcher`; anything else
            is a command.

    Raises:
        ConfigError: if it is empty, or a relative path that is not a folder.
    """
    if not agent.strip():
        raise ConfigError("--agent is empty; give the name of an agent (heredity agents list), a folder, or a command")
    if agent in LAUNCHERS or agent.startswith(PREFIX) or ("/" in agent and Path(agent).expanduser().is_dir()):
        return "launcher"
    if agent.startswith(("./", "../", "~")) and len(agent.split()) == 1:
        raise ConfigError(
            f"--agent {agent} is not a folder; give one with a {START}, or a command with absolute paths: it starts in a "
            "separate workspace"
        )
    return "agent"


def check_command(command: str, path: Sequence[Path]) -> None:
    """Check that the program at the start of an agent's command exists; commands that need a shell to resolve are accepted.

    Args:
        command: as in `evolver.agent`.
        path: the agent's folders of programs.

    Raises:
        ConfigError: if it does not exist; the message says what to do.
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


def settings_of(name: str) -> dict[str, Any]:
    """Return the settings that a launcher supports, and whether it also speaks the Agent Client Protocol, as JSON values."""
    chosen = launcher(name)
    return {**getattr(chosen, "takes", Takes()).to_json(), "acp": isinstance(chosen, Served)}


def programs() -> dict[str, Program]:
    """Return the installable programs of launchers, by the launchers' names."""
    offered = {name: getattr(launcher(name), "program", None) for name in LAUNCHERS.names()}
    return {name: program for name, program in offered.items() if program is not None}
