"""What a launcher is: it knows how one coding agent from outside is started, and nothing of what the agent is to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Launch:
    """How an agent's program is started.

    Attributes:
        command: for `/bin/sh -c`, in the workspace.
        environment: variables the program needs.
        read_only: folders of the host that hold it.
        events: the format of its event stream, as `heredity.analysis.usage.stream_usage` names it; empty if it may be any.
        again: the command that lets it go on after it has ended, or its run was interrupted; `HEREDITY_PROMPT` then says what it
            was told first and what remains. Empty if the command itself is started anew, and only where the configuration asks.
    """

    command: str
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    read_only: tuple[Path, ...] = ()
    events: str = ""
    again: str = ""


class Launcher(Protocol):
    """Starts one kind of agent."""

    @property
    def name(self) -> str:
        """What the agent is called."""
        ...

    def launch(self, prompt: str, model: str = "") -> Launch:
        """Say how the agent is started.

        Args:
            prompt: what it is told first.
            model: the name under which it asks for its model. The variables `OPENAI_BASE_URL`, `OPENAI_API_KEY`,
                `ANTHROPIC_BASE_URL` and `ANTHROPIC_API_KEY` then lead to a broker. If empty, the agent uses an account of its own.

        Raises:
            ConfigError: if its program is not installed; says how to install it.
        """
        ...
