"""Interface of launchers: a launcher knows how to start one outside coding agent, and nothing of the task."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from heredity._core.errors import ConfigError

Effort = Literal["", "minimal", "low", "medium", "high", "xhigh", "max"]
"""Reasoning effort that an agent asks its model for; empty for the agent's default."""

Profile = Literal["full", "coding", "shell"]
"""Tools of its own that an agent gives its model: all; a shell, files and search; or a shell alone."""


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """Settings of an agent, which a launcher translates or refuses.

    Attributes:
        provider: provider of the broker's model, such as `"anthropic"`; an agent that speaks several interfaces uses
            that provider's, since the broker passes such requests on unchanged.
        account_model: model to request from the agent's own account; empty for the account's default.
        effort: reasoning effort.
        profile: the agent's own tools.
        login: use the user's own login, whose files are shown to the agent.
    """

    provider: str = ""
    account_model: str = ""
    effort: Effort = ""
    profile: Profile = "full"
    login: bool = False

    def check(self, name: str, takes: Takes) -> None:
        """Refuse settings that an agent does not support.

        Args:
            name: the agent's name.
            takes: the settings that it supports.

        Raises:
            ConfigError: naming the setting and the values that it supports.
        """
        for key, value, values in (
            ("effort", self.effort, ("", *takes.efforts)),
            ("profile", self.profile, takes.profiles),
        ):
            if value not in values:
                accepted = ", ".join(filter(None, values)) or "none"
                raise ConfigError(f"{name} does not support {key} = {value!r}; supported: {accepted}")
        for key in ("account_model", "login"):
            if getattr(self, key) and not getattr(takes, key):
                raise ConfigError(f"{name} does not support {key}; leave it out")


@dataclass(frozen=True, slots=True)
class Takes:
    """Settings that an agent supports.

    Attributes:
        efforts: reasoning efforts.
        profiles: profiles of its own tools.
        account_model: whether it can be told the model of its own account.
        login: whether it can use the user's login.
    """

    efforts: tuple[Effort, ...] = ()
    profiles: tuple[Profile, ...] = ("full",)
    account_model: bool = False
    login: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            name: list(value) if isinstance(value := getattr(self, name), tuple) else value for name in self.__slots__
        }


@dataclass(frozen=True, slots=True)
class Launch:
    """Command and settings that start an agent's program.

    Attributes:
        command: for `/bin/sh -c`, in the workspace.
        environment: variables required by the program.
        read_only: folders of the host that contain it.
        events: the format of its event stream, as named by `heredity.analysis.usage.stream_usage`; empty for any.
        again: the command that continues after it ended, or its run was interrupted; `HEREDITY_PROMPT` then has its
            first prompt and its remaining budget. If empty, the command itself is restarted, and only if the
            configuration asks for it.
        logins: files of the user's own login: path below the agent's `HOME` to path on the host. Only in a sandbox.
        trees: folders and files of the host shown below `/opt/heredity/packages`, by their names there.
    """

    command: str
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    read_only: tuple[Path, ...] = ()
    events: str = ""
    again: str = ""
    logins: Mapping[str, Path] = field(default_factory=dict[str, Path])
    trees: Mapping[str, Path] = field(default_factory=dict[str, Path])


HOME = 'export HOME="$HEREDITY_WORKSPACE/.home"; '
"""Start of a launcher's command: the agent's home folder is in its workspace, so that its conversation is kept."""


def home_file(path: str, text: str) -> str:
    """Return a shell command, to be followed by another, that writes a file below `HOME`."""
    folder = path.rpartition("/")[0]
    return f'mkdir -p "$HOME/{folder}"; printf %s {shlex.quote(text)} > "$HOME/{path}"; '


def own_logins(name: str, remedy: str, *paths: str) -> dict[str, Path]:
    """Return the files of the user's login that exist, path below the home folder to path.

    Raises:
        ConfigError: if the first one, which holds the credentials, does not exist.
    """
    files = {path: Path.home() / path for path in paths}
    if not files[paths[0]].is_file():
        raise ConfigError(f"{name} is not logged in: {files[paths[0]]} does not exist; {remedy}, or leave login out")
    return {path: file for path, file in files.items() if file.is_file()}


def linked(command: str, logins: Mapping[str, Path]) -> str:
    """Return a command, preceded by links from `HOME` to the files of a login that the sandbox shows."""
    return (
        "".join(
            f'mkdir -p "$HOME/{name.rpartition("/")[0]}"; ln -sfn "$HEREDITY_LOGIN/{name}" "$HOME/{name}"; '
            for name in logins
        )
        + command
    )


class Launcher(Protocol):
    """Starts one kind of agent."""

    @property
    def name(self) -> str:
        """The agent's name."""
        ...

    def launch(self, prompt: str, model: str = "", options: LaunchOptions = ...) -> Launch:
        """Return how to start the agent.

        Args:
            prompt: its first prompt.
            model: the name it uses for its model. The variables `OPENAI_BASE_URL`, `OPENAI_API_KEY`,
                `ANTHROPIC_BASE_URL`, `ANTHROPIC_API_KEY`, `GOOGLE_GEMINI_BASE_URL` and `GEMINI_API_KEY` then lead to a
                broker. If empty, the agent uses a separate account.
            options: its settings.

        Raises:
            ConfigError: if its program is not installed, or an option is not supported; the message says what to do.
        """
        ...
