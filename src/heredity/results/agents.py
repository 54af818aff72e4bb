"""How a coding agent was started and how it ended, and what models used, as a run's results hold it."""

from __future__ import annotations

from heredity.results.base import Result


class AgentStart(Result):
    """One start of a coding agent; None is not known, because the run was interrupted meanwhile.

    Attributes:
        number: counts from 1.
        submissions: admitted until the next start.
        code: its exit code; 128 + N when signal N ended it.
        reason: `"exited"`, `"session_ended"`, `"time_limit"`, `"memory_limit"` or `"disk_limit"`.
        output: the last lines of what it printed.
    """

    number: int
    submissions: int
    code: int | None
    reason: str | None
    seconds: float | None
    output: str


class Tokens(Result):
    """What a coding agent's model used; `cache_tokens` are not part of the input."""

    input_tokens: int | None
    cache_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None


class TokenDifference(Result):
    """What an agent says that it used, less what the broker counted; None where either is unknown."""

    input_tokens: int | None
    cache_tokens: int | None
    output_tokens: int | None


class AgentAccounts(Result):
    """What an agent says that it used beside what the broker counted, by source."""

    by_source: dict[str, Tokens]
    difference: TokenDifference


class ModelTokens(Result):
    """What model calls used; `cached_tokens` are part of the input. None is unknown, and so is every sum it enters."""

    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cost_usd: float | None


class MethodTokens(ModelTokens):
    """The same of a method's own calls, with their number."""

    calls: int


class ModelUsage(Result):
    """What model calls used: of rollouts on train tasks, of the method, of judging.

    Attributes:
        failed_calls: calls of the method that had no reply.
        unused_replies: replies to the method of which nothing could be used; `unused_because` is the most common reason.
    """

    rollouts: ModelTokens
    method: MethodTokens
    judging: ModelTokens
    failed_calls: int
    unused_replies: int = 0
    unused_because: str | None = None

    @property
    def unused(self) -> str:
        """Say how many replies could not be used, and why; `""` if all were."""
        if not self.unused_replies:
            return ""
        replies = self.method.calls - self.failed_calls
        return f"{self.unused_replies} of {replies} model replies were unusable: {self.unused_because}"
