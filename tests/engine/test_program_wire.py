"""What a program writes to its own pipe, past the loop that should."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity.engine.actor import ToolResult
from heredity.engine.program_process import MAX_DEPTH, parse_value

Call = Callable[..., Awaitable[ToolResult]]

TOP = """
import json, os, struct, time
def send(*payloads):
    os.write(4, b"".join(struct.pack("<I", len(p)) + p for p in payloads))
def result(value=b"1", news=b'{"failure": null}'):
    return b"V" + struct.pack("<I", len(news)) + news + value
def failed(**failure):
    return result(b"", json.dumps({"failure": failure}).encode())
ask = b'K{"service": "model", "value": 1}'
"""

TURN = "out of turn"
UNREADABLE = "is no JSON that can be read"
FORGED = {
    "garbage": ("os.write(4, b'garbage' * 100)", "crash", TURN),
    "a huge size": ("os.write(4, b'\\xff' * 4)", "crash", TURN),
    "nothing": ("os.write(4, bytes(4))", "crash", TURN),
    "an unknown frame": ("send(b'?')", "crash", TURN),
    "a policy's frames": ("send(b'A' + bytes(8), b'R{}')", "crash", TURN),
    "confined again": ("send(b'C')", "crash", TURN),
    "unconfined": ("send(b'Uit failed')", "crash", TURN),
    "loaded again": ("send(b'L')", "crash", TURN),
    "two results": ("send(result(), result())", "crash", TURN),
    "half a result more": ("send(result(), b'x' * 9)", "crash", TURN),
    "two requests": ("send(ask, ask)", "crash", TURN),
    "a request and a result": ("send(ask, result())", "crash", TURN),
    "a large request": ("send(b'K' + b'x' * ((1 << 20) + 1))", "crash", TURN),
    "an endless stream": ("while True: os.write(4, b'K' * 65536)", "crash", TURN),
    "news that are none": ("send(result(news=b'[1]'))", "crash", TURN),
    "a cut result": ("send(b'V')", "crash", TURN),
    "a frame that never ends": (
        "os.write(4, struct.pack('<I', 1000))\nwhile True:\n    time.sleep(0.05)\n    os.write(4, b'V')",
        "timeout",
        "0.4 s",
    ),
    "no value": ("send(result(b''))", "output", UNREADABLE),
    "no number": ("send(result(b'[NaN]'))", "output", UNREADABLE),
    "infinite": ("send(result(b'1e999'))", "output", UNREADABLE),
    "a long number": ("send(result(b'9' * 9999))", "output", UNREADABLE),
    "a lone surrogate": ("send(result(b'\"\\\\udc80\"'))", "output", UNREADABLE),
    "a lone surrogate as key": ("send(result(b'{\"\\\\uD800\": 1}'))", "output", UNREADABLE),
    "no text": ("send(result(b'\"\\xff\"'))", "output", UNREADABLE),
    "deep": ("send(result(b'[' * 65 + b']' * 65))", "output", UNREADABLE),
    "very deep": ("send(result(b'[' * 30000 + b']' * 30000))", "output", UNREADABLE),
    "too large": ("send(result(b'\"' + b'x' * 70000 + b'\"'))", "output", "more than 65536"),
    "failure_source": (
        "send(failed(category='host_error', message='the host did it'))",
        "tool_error",
        "the host did it",
    ),
    "no failure": ("send(failed(category=1, message=['x'], traceback={}))", "tool_error", ""),
    "a message with surrogates": ("send(failed(category='oom', message='\\ud800'))", "oom", "?"),
    "a long message": ("send(failed(category='oom', message='x' * 100000))", "oom", "x" * 500),
}


@pytest.mark.parametrize("name", FORGED)
@pytest.mark.asyncio(loop_scope="module")
async def test_a_forged_frame_is_the_programs_own_failure(name: str, run: Call) -> None:
    async def model(value: Any) -> Any:
        await asyncio.sleep(0.05)

    body, error, said = FORGED[name]
    result = await run(f"{body}\ntime.sleep(60)", top=TOP, seconds=0.4, services={"model": model})
    assert (result.error, result.value) == (error, None), result
    assert said in result.message
    assert len(result.message) <= 500
    for text in (result.message, result.traceback):
        text.encode()


@pytest.mark.asyncio(loop_scope="module")
async def test_a_forged_result_is_worth_no_more_than_one_that_was_returned(run: Call) -> None:
    result = await run("send(result(b'[1]'))\ntime.sleep(60)", top=TOP)
    assert (result.value, result.error) == ([1], "")
    assert result.seconds < 2


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
)


@given(JSON, st.booleans())
def test_every_json_value_is_read_as_it_was_written(value: Any, ascii_only: bool) -> None:
    assert parse_value(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@given(st.integers(0, 300), st.text())
def test_depth_is_counted_past_brackets_in_texts(depth: int, text: str) -> None:
    value: Any = [text, '"[{', '\\"[', "]" * 100, "[" * 100]
    for _ in range(depth):
        value = {"[": value}
    data = json.dumps(value).encode()
    if depth < MAX_DEPTH:
        assert parse_value(data) == value
    else:
        with pytest.raises(ValueError, match="nested more than"):
            parse_value(data)


@given(st.binary())
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        value = parse_value(data)
    except ValueError:
        return
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
