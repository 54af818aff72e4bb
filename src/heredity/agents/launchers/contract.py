"""Interface of launchers: a launcher knows how to start one outside coding agent, and nothing of the task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol


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
        """The agent's name."""
        ...

    def launch(self, prompt: str, model: str = "") -> Launch:
        """Return how to start the agent.

        Args:
            prompt: its first prompt.
            model: the name it uses for its model. The variables `OPENAI_BASE_URL`, `OPENAI_API_KEY`,
                `ANTHROPIC_BASE_URL` and `ANTHROPIC_API_KEY` then lead to a broker. If empty, the agent uses a
                separate account.

        Raises:
            ConfigError: if its program is not installed; the message says how to install it.
        """
        ...
