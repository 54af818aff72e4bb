"""Journal events of an outside agent's starts and exits (kinds of events: `heredity.records.events`)."""

from __future__ import annotations

from typing_extensions import TypedDict  # Pydantic requires typing_extensions.TypedDict before Python 3.12.


class AgentStarted(TypedDict):
    """An outside agent was started: `start` counts from 1, `at_s` is the run's clock, `wait_s` the wait before it."""

    start: int
    at_s: float
    wait_s: float


class AgentEnded(TypedDict):
    """End of an outside agent's start, with its peak memory and disk, and its last lines of output."""

    code: int
    reason: str
    seconds: float
    memory_bytes: int
    disk_bytes: int
    output: str


class AgentTool(TypedDict):
    """Tool call of an outside agent: arguments as JSON, cut; length of the result, null without one; wall seconds."""

    tool: str
    arguments: str
    characters: int | None
    seconds: float


class TokenUsageData(TypedDict):
    """Usage of agent sessions (see `heredity.analysis.usage.TokenUsage`); null is unknown."""

    input_tokens: int | None
    cache_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None


class AgentUsage(TokenUsageData):
    """Usage of an outside agent, according to `source`."""

    source: str
