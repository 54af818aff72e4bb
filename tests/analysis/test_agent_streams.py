"""What coding agents say of their tokens, in the forms that Claude Code 2.1.330 and Codex 0.169.0 were seen to print."""

from __future__ import annotations

import json
from typing import Any

from heredity.analysis.usage import TokenUsage, claude_code_usage, codex_usage


def claude(kind: str, **fields: Any) -> str:
    return json.dumps({"type": kind, "session_id": "s", **fields})


INIT = claude("system", subtype="init")


def message(name: str, sent: int, written: int) -> str:
    return claude("assistant", message={"id": name, "usage": {"input_tokens": sent, "output_tokens": written}})


def result(own: tuple[int, int], cost: float, **models: tuple[int, int]) -> str:
    usage = {"input_tokens": own[0], "output_tokens": own[1], "cache_read_input_tokens": 0}
    told = {
        name: {"inputTokens": sent, "outputTokens": written, "cacheReadInputTokens": 0, "cacheCreationInputTokens": 0}
        for name, (sent, written) in models.items()
    }
    return claude("result", usage=usage, total_cost_usd=cost, **({"modelUsage": told} if told else {}))


def test_tokens_of_sub_agents_and_of_other_models_are_in_the_sum() -> None:
    lines = [INIT, message("a", 9, 1), result((100, 10), 0.5, large=(120, 12), small=(30, 3))]
    assert claude_code_usage(lines) == TokenUsage(150, 0, 15, 0.5)


def test_what_a_continued_session_says_is_the_sum_of_its_processes() -> None:
    lines = [INIT, result((100, 10), 0.5, m=(100, 10)), INIT, message("b", 9, 1), result((50, 5), 0.75, m=(150, 15))]
    assert claude_code_usage(lines) == TokenUsage(150, 0, 15, 0.75)


def test_without_the_tokens_of_models_the_processes_are_summed() -> None:
    lines = [INIT, result((100, 10), 0.5), INIT, result((50, 5), 0.25)]
    assert claude_code_usage(lines) == TokenUsage(150, 0, 15, 0.75)


def test_a_killed_process_is_known_by_its_messages_also_where_its_session_went_on() -> None:
    killed = [INIT, message("a", 40, 1), message("a", 40, 4), message("b", 60, 6), '{"type": "assis']
    assert claude_code_usage(killed) == TokenUsage(100, None, 10, None)
    went_on = [*killed, INIT, message("c", 7, 7), result((50, 5), 0.25, m=(50, 5))]
    assert claude_code_usage(went_on) == TokenUsage(150, None, 15, None)


def test_a_codex_thread_that_was_resumed_is_counted_once() -> None:
    started = json.dumps({"type": "thread.started", "thread_id": "t"})

    def turn(sent: int, cached: int, written: int) -> str:
        usage = {"input_tokens": sent, "cached_input_tokens": cached, "output_tokens": written}
        return json.dumps({"type": "turn.completed", "usage": usage})

    assert codex_usage([started, turn(100, 40, 7), started, turn(250, 90, 20)]) == TokenUsage(160, 90, 20)


def test_numbers_that_no_agent_can_have_used_are_unknown() -> None:
    for number in (10**400, float("inf"), float("nan"), -1, True):
        said = json.dumps(
            {"type": "result", "total_cost_usd": number, "usage": {"input_tokens": number, "output_tokens": 2}}
        )
        usage = claude_code_usage([said])
        assert usage is not None
        assert (usage.cost_usd, usage.input_tokens, usage.output_tokens) == (None, None, 2)
