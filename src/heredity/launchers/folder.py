"""An agent that is a folder: `start.sh`, and a `config.yaml` with variables for it (Agent² RL-Bench's form)."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from heredity.errors import ConfigError
from heredity.launchers.contract import Launch
from heredity.outside import read_text, yaml_value

START, CONFIG = "start.sh", "config.yaml"


@dataclass(frozen=True, slots=True)
class AgentFolder:
    """Starts `start.sh` of a folder with bash, in the workspace.

    It finds the prompt in `HEREDITY_PROMPT` and the name of its model in `HEREDITY_MODEL`. What stands under `env_vars` in
    `config.yaml` comes before the same variables from elsewhere.

    Attributes:
        folder: the folder; the agent sees it read-only, under its own path.
    """

    folder: Path

    @property
    def name(self) -> str:
        """What the agent is called: as its folder is."""
        return self.folder.resolve().name

    def launch(self, prompt: str, model: str = "") -> Launch:
        """Say how it is started (see `Launcher.launch`).

        Raises:
            ConfigError: if `start.sh` is missing or `config.yaml` is wrong.
        """
        folder = self.folder.resolve()
        start = folder / START
        if not start.is_file():
            raise ConfigError(
                f"{self.folder} has no {START}; an agent's folder holds {START}, and {CONFIG} if it needs one"
            )
        variables = {"HEREDITY_PROMPT": prompt, **({"HEREDITY_MODEL": model} if model else {})}
        # With pipefail the exit code is the agent's own where its script pipes it into tee.
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
    # As a shell would be told: YAML makes a truth value of a bare true.
    return str(value).lower() if isinstance(value, bool) else str(value)
