"""What the journal says of how an outside agent was started and ended (kinds of events: `heredity.records.events`)."""

from __future__ import annotations

from typing_extensions import TypedDict  # Before Python 3.12 pydantic reads only these.


class AgentStarted(TypedDict):
    """An outside agent was started: `start` counts from 1, `at_s` is the run's clock, `wait_s` how long was waited before it."""

    start: int
    at_s: float
    wait_s: float


class AgentEnded(TypedDict):
    """How a start of an outside agent ended, the most memory and disk that it was seen to take, and its last lines of output."""

    code: int
    reason: str
    seconds: float
    memory_bytes: int
    disk_bytes: int
    output: str


class AgentTool(TypedDict):
    """A tool that an outside agent asked: arguments as JSON, cut; how long the result was, null if there was none; wall seconds."""

    tool: str
    arguments: str
    characters: int | None
    seconds: float


class TokenUsageData(TypedDict):
    """What agent sessions used (see `heredity.analysis.usage.TokenUsage`); null is unknown."""

    input_tokens: int | None
    cache_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None


class AgentUsage(TokenUsageData):
    """What an outside agent used, as `source` says."""

    source: str
