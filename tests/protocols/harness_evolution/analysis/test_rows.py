from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.protocols.harness_evolution.analysis.harness_rows import judged, row, trained

from heredity._core.errors import ConfigError, RecordError
from heredity.protocols.harness_evolution.analysis import harness_metrics, read_rows, rows, rows_of, write_rows

GOOD = [*trained(1, "a", "b"), *judged("replay", "E_1", {"a": 1.0, "b": None}, 1, cost={"tokens": 3, "other": "x"})]


def written(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "broken",
    [
        '{"task_id": "a", "view_name": "replay"',
        "nonsense",
        "[1, 2]",
        "\x00",
        json.dumps(row("a", 1.0, "replay")) + json.dumps(row("a", 1.0, "replay")),
        json.dumps({**row("a", 1.0, "replay"), "score": "high"}),
        json.dumps({**row("a", 1.0, "replay"), "success": "yes"}),
        json.dumps({**row("a", 1.0, "replay"), "train_batch_index": 1.5}),
        json.dumps({**row("a", 1.0, "replay"), "cost": [1]}),
        json.dumps({**row("a", 1.0, "replay"), "score": float("nan")}),
        json.dumps(row(None, 1.0, "replay")),
        json.dumps({**row("a", 1.0, "replay"), "mode": None}),
        json.dumps({**row("a", 1.0, "replay"), "view_name": None}),
        "{}",
    ],
)
def test_a_damaged_line_is_named_and_the_others_count(tmp_path: Path, broken: str) -> None:
    lines = [json.dumps(record) for record in GOOD]
    table = read_rows(written(tmp_path / "task_results.jsonl", ["", *lines[:2], broken, "  ", *lines[2:]]))
    assert [record.line for record in table.damaged] == [4]
    assert table.damaged[0].reason
    assert table.frame["task_id"].cast(str).to_list() == ["a", "b", "a", "b"]
    assert harness_metrics(table).rows.damaged[0].line == 4


@given(st.lists(st.booleans(), max_size=40), st.integers(1, 700))
def test_every_damaged_line_is_found_whatever_the_size_of_a_block(lines: list[bool], block: int) -> None:
    text = "".join((json.dumps(row(f"é{i}", 1.0, "replay")) if ok else "{torn") + "\n" for i, ok in enumerate(lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "BLOCK_BYTES", block)
        table = rows._read_lines(rows.BytesIO(text.encode()), "text")
    assert [damage.line for damage in table.damaged] == [i for i, ok in enumerate(lines, 1) if not ok]
    assert table.frame["task_id"].cast(str).to_list() == [f"é{i}" for i, ok in enumerate(lines) if ok]


def test_a_torn_last_line_is_damage(tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", [json.dumps(GOOD[0]), json.dumps(GOOD[1])[:-20]])
    table = read_rows(path)
    assert (table.frame.height, [damage.line for damage in table.damaged]) == (1, [2])


def test_a_file_of_something_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "MAX_DAMAGED", 50)
    with pytest.raises(RecordError, match=r"more than 50 lines .*line 1: no mode"):
        read_rows(written(tmp_path / "r.jsonl", ['{"a": 1}'] * 60))


@pytest.mark.parametrize("name", ["rows.csv", "missing.jsonl", "missing.parquet"])
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises((ConfigError, RecordError), match=name):
        read_rows(tmp_path / name)


def test_rows_written_as_parquet_give_the_same_metrics(tmp_path: Path) -> None:
    write_rows(rows_of(GOOD), tmp_path / "rows.parquet")
    back = read_rows(tmp_path / "rows.parquet")
    assert back.frame.schema == rows_of(GOOD).frame.schema
    assert harness_metrics(back) == harness_metrics(rows_of(GOOD))


def test_parquet_with_the_fields_of_the_records_is_read(tmp_path: Path) -> None:
    columns = ["run_id", "task_id", "view_name", "mode", "score", "evaluation_point_id", "attributes", "cost"]
    raw = pl.DataFrame([{k: record[k] for k in columns} for record in GOOD])
    raw.write_parquet(tmp_path / "raw.parquet")
    frame = read_rows(tmp_path / "raw.parquet").frame
    assert frame["tokens"].to_list() == [None, None, 3.0, 3.0]
    assert set(frame["source"].cast(str)) == {"bench"}
    assert frame.select("task_id", "score", "tokens").equals(rows_of(GOOD).frame.select("task_id", "score", "tokens"))
    assert frame["success"].null_count() == len(GOOD)


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        ({"task_id": ["a"]}, "no column 'view_name'"),
        ({"task_id": ["a", "b"], "view_name": ["v", None], "mode": ["m", "m"], "score": [1.0, 1.0]}, "row 1"),
        ({"task_id": ["a"], "view_name": ["v"], "mode": ["m"], "score": ["high"]}, "high"),
    ],
)
def test_parquet_of_something_else_is_refused(tmp_path: Path, columns: dict[str, Any], match: str) -> None:
    pl.DataFrame(columns).write_parquet(tmp_path / "raw.parquet")
    with pytest.raises(RecordError, match=match):
        read_rows(tmp_path / "raw.parquet")
    (tmp_path / "raw.parquet").write_bytes(b"nothing of the kind")
    with pytest.raises(RecordError, match=r"raw\.parquet"):
        read_rows(tmp_path / "raw.parquet")


@pytest.mark.parametrize(
    ("cost", "tokens"),
    [
        ({"tokens": 5, "input_tokens": 1}, 5.0),
        ({"total_tokens": 6}, 6.0),
        ({"n_input_tokens": 1, "output_tokens": 2}, 3.0),
        ({"tool_calls": 2}, None),
        ({}, None),
        (None, None),
    ],
)
def test_tokens_are_the_total_or_the_sum_of_what_is_known(cost: Any, tokens: float | None) -> None:
    assert rows_of([row("a", 1.0, "replay", cost=cost)]).frame["tokens"].to_list() == [tokens]


def test_seconds_are_the_wall_time_or_else_the_runtime() -> None:
    given = [
        row("a", 1.0, "replay", cost={"wall_time": 2.5}, runtime_seconds=9.0),
        row("b", 1.0, "replay", runtime_seconds=9.0),
    ]
    assert rows_of(given).frame["wall_time"].to_list() == [2.5, 9.0]


def test_a_row_takes_little_whatever_its_record_holds() -> None:
    given = [row(f"t{i % 100}", 1.0, "replay", refs={"log": "x" * 2000}) for i in range(2000)]
    assert rows_of(given).frame.estimated_size() / 2000 < 200
