"""What coding agents say of their tokens, in the forms that Claude Code 2.1.330, Codex 0.169.0, Gemini CLI 0.61.0, Qwen Code
0.24.4 and OpenCode 1.18.18 were seen to print."""

from __future__ import annotations

import json
from typing import Any

from heredity.analysis.usage import (
    TokenUsage,
    claude_code_usage,
    codex_usage,
    gemini_usage,
    opencode_usage,
    qwen_usage,
    recognised_usage,
)


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


GEMINI = [
    '{"type":"init","timestamp":"2026-11-29T08:04:21.934Z","session_id":"48841e13","model":"gemini-2.5-pro"}',
    '{"type":"message","timestamp":"2026-11-29T08:04:22.245Z","role":"assistant","content":"one.","delta":true}',
    '{"type":"result","timestamp":"2026-11-29T08:04:22.249Z","status":"success","stats":{"total_tokens":27112,'
    '"input_tokens":27002,"output_tokens":95,"cached":2000,"input":25002,"duration_ms":315,"tool_calls":2,"models":{}}}',
]

QWEN = [
    '{"type":"system","subtype":"init","session_id":"0a4c","model":"qwen3-coder","permission_mode":"yolo"}',
    '{"type":"assistant","session_id":"0a4c","message":{"id":"1","content":[{"type":"thinking","thinking":"So."}],'
    '"usage":{"input_tokens":0,"output_tokens":0}}}',
    '{"type":"assistant","session_id":"0a4c","message":{"id":"2","content":[{"type":"text","text":"Done."}],'
    '"usage":{"input_tokens":11993,"output_tokens":52,"cache_read_input_tokens":1000,"total_tokens":12045}}}',
    '{"type":"result","subtype":"success","session_id":"0a4c","is_error":false,"num_turns":8,"result":"Done.",'
    '"usage":{"input_tokens":11993,"output_tokens":52,"cache_read_input_tokens":1000,"total_tokens":12045}}',
]

OPENCODE = [
    '{"type":"step_start","timestamp":1795939483523,"sessionID":"ses_dd9a","part":{"type":"step-start"}}',
    '{"type":"step_finish","timestamp":1795939484198,"sessionID":"ses_dd9a","part":{"reason":"tool-calls",'
    '"type":"step-finish","tokens":{"total":3749,"input":3713,"output":31,"reasoning":5,"cache":{"write":7,"read":2}},"cost":0}}',
]


def test_gemini_counts_cached_input_as_input_and_thinking_in_the_total_only() -> None:
    assert gemini_usage(GEMINI) == TokenUsage(25002, 2000, 110)
    assert gemini_usage([*GEMINI, *GEMINI]) == TokenUsage(50004, 4000, 220), "two processes"
    assert gemini_usage(GEMINI[:2]) == TokenUsage(), "a killed process"


def test_qwen_counts_cached_input_as_input_and_a_killed_process_by_its_messages() -> None:
    assert qwen_usage(QWEN) == qwen_usage(QWEN[:3]) == TokenUsage(10993, 1000, 52)
    assert qwen_usage([*QWEN[:3], *QWEN]) == TokenUsage(21986, 2000, 104)


def test_opencode_is_the_sum_of_its_steps() -> None:
    assert opencode_usage(OPENCODE * 2) == TokenUsage(7440, 4, 72)


def test_broken_and_foreign_lines_count_nothing() -> None:
    for lines in (GEMINI, QWEN, OPENCODE):
        broken = [line.replace("stats", "usage_").replace('"usage"', '"_"').replace("tokens", "_") for line in lines]
        assert recognised_usage([*broken, "{", "[]", '{"type": "result", "stats": 3, "usage": []}']) is None


def test_a_format_is_recognised_by_its_lines() -> None:
    for name, lines in (("gemini-cli", GEMINI), ("opencode", OPENCODE)):
        assert recognised_usage(lines) == (name, recognised_usage(lines)[1])  # type: ignore[index]


def test_input_written_to_a_cache_is_input_as_the_broker_counts_it() -> None:
    usage = {
        "input_tokens": 24,
        "output_tokens": 454,
        "cache_read_input_tokens": 169183,
        "cache_creation_input_tokens": 25317,
    }
    assert claude_code_usage([INIT, claude("result", usage=usage)]) == TokenUsage(25341, 169183, 454)
