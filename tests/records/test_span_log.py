from __future__ import annotations

import asyncio
import errno
import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity._core.errors import RecordError
from heredity._core.spans import Span, collecting, span
from heredity.records import span_log
from heredity.records.span_log import SpanLog, read_spans


def made(name: str = "step", **attributes: Any) -> Span:
    return Span(name, "other", "a" * 32, os.urandom(8).hex(), "", 1, 2, attributes)


def written(path: Path, *spans: Span) -> list[str]:
    warned: list[str] = []
    log = SpanLog(path, warned.append)
    for one in spans:
        log(one)
    log.close()
    return warned


def test_spans_are_read_as_they_were_written(tmp_path: Path) -> None:
    spans = [made(f"s{i}", number=i, text="ä \udcff", nested={"a": [1, None, True]}) for i in range(300)]
    spans[7].error = "ValueError: no"
    assert written(tmp_path / "spans.jsonl", *spans) == []
    assert read_spans(tmp_path / "spans.jsonl") == (spans, 0)
    assert stat.S_IMODE((tmp_path / "spans.jsonl").stat().st_mode) == 0o600


def test_a_torn_last_line_is_cut_and_damage_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    written(path, made("first"), made("second"))
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"name": "torn' + b"x" * 200_000)
    assert [s.name for s in read_spans(path)[0]] == ["first", "second"]
    written(path, made("third"))
    assert [s.name for s in read_spans(path)[0]] == ["first", "second", "third"]
    path.write_bytes(whole + b"no json\n[]\n" + json.dumps({"name": "of another kind"}).encode() + b"\n" + whole)
    spans, damaged = read_spans(path)
    assert ([s.name for s in spans], damaged) == (["first", "second"] * 2, 3)


def test_a_file_that_is_not_there_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="give the folder of a run with a trace"):
        read_spans(tmp_path / "spans.jsonl")


async def test_tasks_and_threads_write_whole_lines_at_the_same_time(tmp_path: Path) -> None:
    log = SpanLog(tmp_path / "spans.jsonl", pytest.fail)

    async def work(number: int) -> None:
        for step in range(50):
            with span("step", number=number, text="x" * 500):
                await asyncio.sleep(0)
                if step % 10 == 0:
                    await asyncio.to_thread(threaded)

    def threaded() -> None:
        with span("threaded", text="y" * 5000):
            threading.Event().wait(0)

    with collecting(log), span("root"):
        await asyncio.gather(*(work(number) for number in range(8)))
    log.close()
    spans, damaged = read_spans(tmp_path / "spans.jsonl")
    assert (len(spans), damaged) == (8 * 50 + 8 * 5 + 1, 0)
    assert len({s.trace_id for s in spans}) == 1


def test_a_full_disk_is_told_once_and_nothing_is_raised() -> None:
    warned: list[str] = []
    log = SpanLog(Path("/dev/full"), warned.append)
    for _ in range(200):
        log(made(text="x" * 1000))
    log.close()
    assert len(warned) == 1
    assert "No space left on device" in warned[0]


def test_a_write_that_stops_halfway_leaves_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "spans.jsonl"
    written(path, made("first"))
    write, calls = os.write, []

    def halfway(fd: int, data: bytes) -> int:
        calls.append(fd)
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(fd, bytes(data)[: len(data) // 2])

    monkeypatch.setattr(span_log.os, "write", halfway)
    assert len(written(path, made("second"), made("third"))) == 1
    assert path.read_bytes().endswith(b"\n")
    assert [s.name for s in read_spans(path)[0]] == ["first"]


def test_a_folder_that_is_not_there_and_a_file_that_is_too_long_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "No such file" in written(tmp_path / "none" / "spans.jsonl", made())[0]
    monkeypatch.setattr(span_log, "MOST_BYTES", 1000)
    path = tmp_path / "spans.jsonl"
    assert "of at most 1000" in written(path, *(made(text="x" * 2000) for _ in range(100)))[0]
    assert path.stat().st_size <= 1000


def test_large_attributes_are_cut_and_what_is_no_json_is_named(tmp_path: Path) -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    odd = {
        "score": float("nan"),
        "count": np.int64(3),
        "raw": b"\x00",
        "huge": 10**5000,
        "thing": object(),
        "deep": deep,
    }
    path = tmp_path / "spans.jsonl"
    many = {f"k{i}": "y" * 3000 for i in range(1000)}
    assert written(path, made(text="x" * 10**6, **odd), made(**many)) == []
    (first, second), damaged = read_spans(path)
    assert damaged == 0
    assert max(map(len, path.read_bytes().splitlines())) < 30_000
    assert first.attributes["text"].startswith("xxx")
    assert "996000 characters" in first.attributes["text"]
    assert first.attributes["score"] is None
    assert (first.attributes["count"], first.attributes["raw"]) == (3, "<bytes>")
    assert len(second.attributes) <= 100


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(st.dictionaries(st.text(max_size=20), JSON))
def test_any_attributes_make_one_line_that_can_be_read(attributes: dict[str, Any]) -> None:
    line = span_log._encoded(Span("s", "other", "a", "b", "", 1, 2, attributes))
    assert line.count(b"\n") == 1
    read = span_log._decoded(line)
    assert read is not None
    assert len(read.attributes) == len({span_log._cut(key, 200) for key in attributes})
