"""Token accounting from the event streams of coding agents (EvoPolicyGym, appendix C.2).

All formats are JSON lines. Lines that are not JSON or not a known event are skipped: agents print other things too,
and a killed agent leaves a truncated last line. Values missing from a stream stay None, never zero.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from heredity._core.errors import UnknownNameError
from heredity.methods.operators.dialogue import Steps
from heredity.records.events import BATCH_STARTED, CANDIDATE, MODEL_CALLED, REPLY_UNUSED, TokenUsageData
from heredity.results.run import AgentAccounts, TokenDifference, Tokens


def failed_updates(events: Iterable[Mapping[str, Any]]) -> str:
    """Report the number of a run's updates whose model calls all failed; `""` for none.

    The updates on one batch count as one; a run without batches is one update. After a failed update the run has not
    learned from all configured tasks, which no score shows.

    Args:
        events: the journal's lines as mappings, in order.
    """
    batch = 0
    calls, errors = Counter[int](), dict[int, list[str]]()
    for event in events:
        if event["kind"] == BATCH_STARTED.name:
            batch = event["data"]["number"]
        elif event["kind"] == MODEL_CALLED.name:
            calls[batch] += 1
            if event["data"]["error"] is not None:
                errors.setdefault(batch, []).append(event["data"]["error"])
    failed = [number for number in calls if len(errors.get(number, ())) == calls[number]]
    if not failed:
        return ""
    kinds = Counter(kind for number in failed for kind in errors[number])
    reasons = ", ".join(f"{kind} {count} times" if count > 1 else kind for kind, count in sorted(kinds.items()))
    where = f" (batches {', '.join(map(str, failed))})" if batch else ""
    return f"{len(failed)} of {len(calls)} updates could not be made{where}: every call of the model failed: {reasons}"


def unusable_replies(events: Iterable[Mapping[str, Any]], steps: Steps) -> str:
    """Report that nothing came of the replies of a method's model because they could not be used; `""` otherwise.

    Understood replies that change nothing do not count.

    Args:
        events: the journal's lines as mappings.
        steps: the method's requests to its model.
    """
    events = list(events)
    candidates = {event["data"]["digest"] for event in events if event["kind"] == CANDIDATE.name}
    models = {e["data"]["model"] for e in events if e["kind"] == MODEL_CALLED.name and e["data"]["error"] is None}
    count, replies, reason = unused(events)
    by = ", ".join(sorted(models))
    if replies and not candidates:
        return f"nothing was made of {replies} replies of {by}" + (f": {reason}" if reason else "")
    if not replies or not steps.failed or (len(candidates) > 1 and steps.failed < steps.asked):
        return ""
    if not count:
        return f"no candidate came of {replies} replies of {by}: {steps.reason}"
    others = ", and no candidate came of the others" if count < replies else ""
    return f"{count} of {replies} replies of {by} could not be used{others}: {reason}"


def unused(events: Iterable[Mapping[str, Any]]) -> tuple[int, int, str]:
    """Return the number of unusable replies, the number of replies, and the most common reason."""
    events = list(events)
    replies = sum(e["kind"] == MODEL_CALLED.name and e["data"]["error"] is None for e in events)
    reasons = Counter(str(e["data"]["why"]) for e in events if e["kind"] == REPLY_UNUSED.name)
    return sum(reasons.values()), replies, reasons.most_common(1)[0][0] if reasons else ""


BROKER = "broker"
"""Source name of a broker's count per call, as opposed to an agent's report."""


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens and cost of one or more agent sessions; None is unknown.

    Attributes:
        input_tokens: input not read from a cache, including what was written to one.
        cache_tokens: input read from a cache.
        output_tokens: output, including reasoning.
        cost_usd: cost in US dollars as reported by the agent.
    """

    input_tokens: int | None = None
    cache_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None

    @property
    def tokens(self) -> int | None:
        """Sum of all tokens."""
        parts = (self.input_tokens, self.cache_tokens, self.output_tokens)
        return None if self.input_tokens is None or self.output_tokens is None else sum(part or 0 for part in parts)

    def to_json(self) -> TokenUsageData:
        """Return the usage as JSON values, with the names of the journal's `agent.usage`."""
        return {
            "input_tokens": self.input_tokens,
            "cache_tokens": self.cache_tokens,
            "output_tokens": self.output_tokens,
            "cost_usd": self.cost_usd,
        }

    @classmethod
    def from_json(cls, data: TokenUsageData) -> TokenUsage:
        """Parse the output of `to_json`."""
        return cls(data["input_tokens"], data["cache_tokens"], data["output_tokens"], data["cost_usd"])

    @classmethod
    def of(cls, tokens: Tokens | None) -> TokenUsage:
        """Return the usage for results; all unknown without entries."""
        if tokens is None:
            return cls()
        return cls(tokens.input_tokens, tokens.cache_tokens, tokens.output_tokens, tokens.cost_usd)

    def results(self) -> Tokens:
        """Return the usage as results have it."""
        return Tokens(
            input_tokens=self.input_tokens,
            cache_tokens=self.cache_tokens,
            output_tokens=self.output_tokens,
            cost_usd=self.cost_usd,
        )


def total_usage(parts: Iterable[TokenUsage]) -> TokenUsage:
    """Return the sum; a field unknown in any part is unknown in the sum."""
    usages = list(parts)
    if not usages:
        return TokenUsage()
    return TokenUsage(
        *(_sum([getattr(part, name) for part in usages]) for name in ("input_tokens", "cache_tokens", "output_tokens")),
        cost_usd=_sum([part.cost_usd for part in usages]),
    )


def best_known(by_source: Mapping[str, Sequence[TokenUsage]]) -> TokenUsage:
    """Return the usage counted by the broker if there is one, else the usage reported by the agents."""
    if by_source.get(BROKER):
        return total_usage(by_source[BROKER])
    return total_usage(usage for entries in by_source.values() for usage in entries)


def accounts(by_source: Mapping[str, Sequence[TokenUsage]]) -> AgentAccounts | None:
    """Compare an agent's reported usage with the broker's count.

    Args:
        by_source: the entries of each source; `"broker"` is the broker's.

    Returns:
        The sums of each source, and the agent's tokens minus the broker's. None unless both exist.
    """
    own = [usage for source, entries in by_source.items() if source != BROKER for usage in entries]
    if not own or not by_source.get(BROKER):
        return None
    counted, reported = total_usage(by_source[BROKER]), total_usage(own)
    return AgentAccounts(
        by_source={source: total_usage(entries).results() for source, entries in by_source.items()},
        difference=TokenDifference(
            input_tokens=_less(reported.input_tokens, counted.input_tokens),
            cache_tokens=_less(reported.cache_tokens, counted.cache_tokens),
            output_tokens=_less(reported.output_tokens, counted.output_tokens),
        ),
    )


def _less(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a - b


def claude_code_usage(lines: Iterable[str]) -> TokenUsage:
    """Read the usage from a Claude Code stream (`--output-format stream-json`).

    A process ends with a `result`. Its `modelUsage` has the tokens of all models, including sub-agents. These and the
    cost are sums over all processes of the session that ended this way (a continued session keeps its name). `usage`,
    the only field in older versions, covers one process. A killed process has no `result`: the last usage of each
    message is then summed (a message is streamed several times with growing usage), and the cost is unknown.
    """
    sessions: dict[str, _ClaudeSession] = {}
    for event in _events(lines):
        sessions.setdefault(str(event.get("session_id", "")), _ClaudeSession()).take(event)
    return total_usage(part for session in sessions.values() for part in session.parts())


class _ClaudeSession:
    """Usage reported by the processes of one session."""

    def __init__(self) -> None:
        self._whole: TokenUsage | None = None
        self._ended: list[TokenUsage] = []
        self._killed: list[TokenUsage] = []
        self._last: TokenUsage | None = None
        self._messages: dict[str, TokenUsage] = {}

    def take(self, event: dict[str, Any]) -> None:
        kind, usage, message = event.get("type"), event.get("usage"), event.get("message")
        if kind == "system" and event.get("subtype") == "init":
            self._settle()
        elif kind == "result" and isinstance(usage, dict):
            cost, models = _amount(event.get("total_cost_usd")), event.get("modelUsage")
            counted = [_claude_counts(model, _MODEL_NAMES, None) for model in _values(models)]
            self._last, self._messages = _claude_counts(cast("dict[str, Any]", usage), _USAGE_NAMES, cost), {}
            self._whole = replace(total_usage(counted), cost_usd=cost) if counted else None
        elif kind == "assistant" and isinstance(message, dict):
            fields = cast("dict[str, Any]", message)
            if isinstance(fields.get("usage"), dict):
                counts = _claude_counts(fields["usage"], _USAGE_NAMES, None)
                self._messages[str(fields.get("id", len(self._messages)))] = counts

    def parts(self) -> list[TokenUsage]:
        """Return the parts that sum to the usage of the session."""
        self._settle()
        return [*([self._whole] if self._whole else self._ended), *self._killed]

    def _settle(self) -> None:
        """End a process: its messages after the last result stand in for a missing result."""
        self._ended += [self._last] if self._last else []
        self._killed += self._messages.values()
        self._last, self._messages = None, {}


def codex_usage(lines: Iterable[str]) -> TokenUsage:
    """Read the usage from a Codex stream (`codex exec --json`): the last completed turn of each thread.

    A turn's counts cover its thread since the start, so turns are not summed. Codex counts cached input as input, so it
    is subtracted here; its output includes reasoning. It does not report cost.
    """
    threads: dict[str, TokenUsage] = {}
    thread = ""
    for event in _events(lines):
        usage = event.get("usage")
        if event.get("type") == "thread.started":
            thread = str(event.get("thread_id", ""))
        elif event.get("type") == "turn.completed" and isinstance(usage, dict):
            sent, cached = _count(usage.get("input_tokens")), _count(usage.get("cached_input_tokens"))
            fresh = None if sent is None or cached is None else max(sent - cached, 0)
            threads[thread] = TokenUsage(fresh, cached, _count(usage.get("output_tokens")))
    return total_usage(threads.values())


def gemini_usage(lines: Iterable[str]) -> TokenUsage:
    """Read the usage from a Gemini CLI stream (`--output-format stream-json`): the sum of the processes' last events.

    Gemini CLI counts cached input as input, and thinking only in the total. It does not report cost; of a killed process
    it reports nothing.
    """
    parts: list[TokenUsage] = []
    for event in _events(lines):
        stats = event.get("stats")
        if event.get("type") == "result" and isinstance(stats, dict):
            fields = cast("dict[str, Any]", stats)
            sent, cached, total = (_count(fields.get(name)) for name in ("input_tokens", "cached", "total_tokens"))
            parts.append(TokenUsage(_minus(sent, cached), cached, _minus(total, sent)))
    return total_usage(parts)


def qwen_usage(lines: Iterable[str]) -> TokenUsage:
    """Read the usage from a Qwen Code stream (`--output-format stream-json`).

    Each process ends with a `result`; for a killed one, the usage of its messages is summed. Qwen Code counts cached input
    as input, and reports no cost.
    """
    parts: list[TokenUsage] = []
    messages: list[TokenUsage] = []
    for event in _events(lines):
        kind, message = event.get("type"), event.get("message")
        if kind == "system" and event.get("subtype") == "init":
            parts, messages = [*parts, *messages], []
        elif kind == "result" and isinstance(event.get("usage"), dict):
            parts, messages = [*parts, _qwen_counts(event["usage"])], []
        elif kind == "assistant" and isinstance(message, dict):
            usage = cast("dict[str, Any]", message).get("usage")
            if isinstance(usage, dict) and cast("dict[str, Any]", usage).get("input_tokens"):
                messages.append(_qwen_counts(cast("dict[str, Any]", usage)))
    return total_usage([*parts, *messages])


def _qwen_counts(usage: dict[str, Any]) -> TokenUsage:
    sent, cached = _count(usage.get("input_tokens")), _count(usage.get("cache_read_input_tokens")) or 0
    return TokenUsage(_minus(sent, cached), cached, _count(usage.get("output_tokens")))


def opencode_usage(lines: Iterable[str]) -> TokenUsage:
    """Read the usage from an OpenCode stream (`--format json`): the sum of all finished steps.

    Its input excludes cached input, and its output excludes reasoning. Steps of sub-agents are not in the stream.
    """
    parts: list[TokenUsage] = []
    for event in _events(lines):
        part = event.get("part")
        tokens: Any = cast("dict[str, Any]", part).get("tokens") if isinstance(part, dict) else None
        if event.get("type") == "step_finish" and isinstance(tokens, dict):
            fields = cast("dict[str, Any]", tokens)
            cache: Any = fields.get("cache")
            cached = cast("dict[str, Any]", cache) if isinstance(cache, dict) else {}
            sent, written, thought = (_count(fields.get(name)) for name in ("input", "output", "reasoning"))
            fresh = _sum([sent, _count(cached.get("write")) or 0])
            parts.append(TokenUsage(fresh, _count(cached.get("read")), _sum([written, thought])))
    return total_usage(parts)


def _minus(whole: int | None, part: int | None) -> int | None:
    return None if whole is None or part is None else max(whole - part, 0)


_READERS = {
    "claude-code": claude_code_usage,
    "codex": codex_usage,
    "gemini-cli": gemini_usage,
    "opencode": opencode_usage,
    "qwen-code": qwen_usage,
}


def recognised_usage(lines: Iterable[str]) -> tuple[str, TokenUsage] | None:
    """Read the usage from an event stream of any known format.

    Returns:
        The format's name and the usage, or None if no format matches.
    """
    kept = list(lines)
    for name, read in _READERS.items():
        usage = read(kept)
        if usage != TokenUsage():
            return name, usage
    return None


def stream_usage(agent: str, lines: Iterable[str]) -> TokenUsage:
    """Read the usage from the event stream of a coding agent.

    Args:
        agent: the name of a format, such as `"claude-code"`.
        lines: the stream, line by line.

    Raises:
        UnknownNameError: if the agent's format is unknown.
    """
    if agent not in _READERS:
        raise UnknownNameError("agent event stream", agent, _READERS)
    return _READERS[agent](lines)


_USAGE_NAMES = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_MODEL_NAMES = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")


def _claude_counts(usage: dict[str, Any], names: Sequence[str], cost: float | None) -> TokenUsage:
    sent, written, read, stored = (_count(usage.get(name)) for name in names)
    return TokenUsage(None if sent is None else sent + (stored or 0), read, written, cost)


def _values(models: Any) -> list[dict[str, Any]]:
    """Return the usage of each model in a mapping."""
    if not isinstance(models, dict):
        return []
    return [value for value in cast("dict[str, Any]", models).values() if isinstance(value, dict)]


def _events(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict):
            yield event


_MOST = 1 << 63  # agents may write any number


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST else None


def _amount(value: Any) -> float | None:
    return (
        float(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MOST else None
    )


def _sum(values: list[Any]) -> Any:
    return None if any(v is None for v in values) else sum(values)
