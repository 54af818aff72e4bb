"""Agents that speak the Agent Client Protocol: any command, written `acp:COMMAND`, or a known agent, `acp:NAME`."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, get_args, runtime_checkable

from heredity._core.errors import ConfigError, MissingExtraError
from heredity.agents.launchers.contract import HOME, Effort, Launch, Launcher, LaunchOptions, Takes
from heredity.sandbox.isolation import package_folders

PREFIX = "acp:"

_CLIENT = Path(__file__).parents[2] / "sandbox" / "acp_client.py"
_FOLDER = "acp-client"
_INSIDE = f"/opt/heredity/packages/{_FOLDER}"
_PACKAGES = ("acp", "pydantic", "pydantic_core", "annotated_types", "typing_extensions", "typing_inspection")


@runtime_checkable
class Served(Protocol):
    """A launcher of an agent that speaks the protocol."""

    def serve(self, model: str = "", options: LaunchOptions = ...) -> Launch:
        """Return how to start it as a server, which reads requests from its standard input.

        Args:
            model: as for `Launcher.launch`.
            options: as for `Launcher.launch`.

        Raises:
            ConfigError: as `Launcher.launch`.
        """
        ...


@dataclass(frozen=True, slots=True)
class Server:
    """Starts an agent behind a client of the protocol, which runs in the agent's sandbox (see `sandbox/acp_client.py`).

    Attributes:
        served: a known agent; None for a command.
        command: its command, for `/bin/sh -c`.
        name: the agent's name.
    """

    served: Served | None
    command: str
    name: str

    def launch(self, prompt: str, model: str = "", options: LaunchOptions = LaunchOptions()) -> Launch:  # noqa: B008 - frozen
        """Return how to start it (see `Launcher.launch`).

        Raises:
            MissingExtraError: if the protocol's package is not installed.
        """
        if importlib.util.find_spec("acp") is None:
            raise MissingExtraError("agents that speak the Agent Client Protocol", "acp")
        served = self._served(model, options)
        # A known agent has translated them; of another one, the session is asked for them.
        asked = {"--model": model or options.account_model, "--effort": "" if self.served else options.effort}
        words = [word for option, value in asked.items() if value for word in (option, value)]
        start = HOME + _choose()
        first = shlex.join([*words, "--prompt", prompt, "--", served.command])
        again = shlex.join([*words, "--resume", "--", served.command])
        shown = package_folders(_PACKAGES)
        trees = {f"{_FOLDER}/{name}": path for name, path in shown.items()}
        return replace(
            served,
            command=f"{start}{first} </dev/null",
            again=f"{start}{again} </dev/null",
            trees={**trees, f"{_FOLDER}/acp_client.py": _CLIENT},
        )

    def _served(self, model: str, options: LaunchOptions) -> Launch:
        if self.served is not None:
            return self.served.serve(model, options)
        options.check(self.name, Takes(get_args(Effort), account_model=True))
        return Launch(self.command, {"HEREDITY_MODEL": model} if model else {})


def _choose() -> str:
    """Return the start of a command with this client: inside a sandbox its copy there, else the file itself."""
    inside = f"python3 -I {_INSIDE}/acp_client.py --packages {_INSIDE}"
    return (
        f"if [ -d {_INSIDE} ]; then set -- {inside}; else set -- {shlex.join([sys.executable, '-I', str(_CLIENT)])}; fi; "
        'exec "$@" '
    )


def server(name: str, known: Launcher | None) -> Server:
    """Return the launcher of `acp:COMMAND` or `acp:NAME`.

    Args:
        name: the text after `acp:`.
        known: the launcher of that name; None for a command.

    Raises:
        ConfigError: if it is empty, or that agent does not speak the protocol.
    """
    if not name.strip():
        raise ConfigError("acp: names no agent; give its command, such as 'acp:my-agent --acp'")
    if known is None:
        return Server(None, name, Path(shlex.split(name)[0]).stem)
    if not isinstance(known, Served):
        raise ConfigError(
            f"{name} is not started with the Agent Client Protocol; use launcher = {name!r}, or acp:COMMAND"
        )
    return Server(known, "", f"{name}-acp")
