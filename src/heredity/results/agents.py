"""Starts, exits and model usage of a coding agent in a run's results."""

from __future__ import annotations

from heredity.results.base import Result


class AgentStart(Result):
    """One start of a coding agent; None is unknown, as the run was interrupted meanwhile.

    Attributes:
        number: counts from 1.
        submissions: submissions admitted until the next start.
        code: exit code; 128 + N after signal N.
        reason: `"exited"`, `"session_ended"`, `"time_limit"`, `"memory_limit"` or `"disk_limit"`.
        output: last lines of its output.
    """

    number: int
    submissions: int
    code: int | None
    reason: str | None
    seconds: float | None
    output: str


class Tokens(Result):
    """Usage of a coding agent's model; `cache_tokens` are not part of the input."""

    input_tokens: int | None
    cache_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None


class TokenDifference(Result):
    """Usage that an agent reports, minus the broker's count; None if either is unknown."""

    input_tokens: int | None
    cache_tokens: int | None
    output_tokens: int | None


class AgentAccounts(Result):
    """Usage that an agent reports next to the broker's count, by source."""

    by_source: dict[str, Tokens]
    difference: TokenDifference


class ModelTokens(Result):
    """Usage of model calls; `cached_tokens` are part of the input. None is unknown, as is any sum with an unknown part."""

    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cost_usd: float | None


class MethodTokens(ModelTokens):
    """Usage of a method's calls, with their number."""

    calls: int


class ModelUsage(Result):
    """Usage of model calls: of rollouts on train tasks, of the method, of judging.

    Attributes:
        failed_calls: calls of the method without a reply.
        unused_replies: unusable replies to the method; `unused_because` is the most common reason.
    """

    rollouts: ModelTokens
    method: MethodTokens
    judging: ModelTokens
    failed_calls: int
    unused_replies: int = 0
    unused_because: str | None = None

    @property
    def unused(self) -> str:
        """Return the number of unusable replies with the reason as text; `""` if all were used."""
        if not self.unused_replies:
            return ""
        replies = self.method.calls - self.failed_calls
        return f"{self.unused_replies} of {replies} model replies were unusable: {self.unused_because}"
