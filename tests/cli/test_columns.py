"""Lists in a terminal of 80 columns: every id is whole, and no line is broken by the terminal."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from heredity.cli import bars as module
from heredity.cli.bars import columns
from heredity.cli.main import app

ROWS = [("one", "12", "a few words that say what it is"), ("another-name", "7", "fewer")]


def test_the_last_column_is_broken_between_words_and_no_other() -> None:
    lines = columns(("name", "count", "about"), ROWS, width=44).splitlines()
    assert lines[0] == "name          count  about"
    assert lines[1:3] == ["one              12  a few words that say", " " * 21 + "what it is"]
    assert columns(("name", "count", "about"), ROWS).splitlines()[1].endswith("that say what it is")


def test_a_name_that_is_too_long_has_the_rest_on_the_next_line() -> None:
    long = "x" * 50
    lines = columns(
        ("", "name", "about"), [("ok", long, "there"), ("ok", "short", "here")], width=80, most=20
    ).splitlines()
    assert lines[1:] == [f"ok  {long}", " " * 11 + "there", "ok  short  here"]


def test_columns_that_may_be_left_out_are_named_and_no_more_than_need_be() -> None:
    table = columns(("name", "count", "about"), ROWS, width=30, less=("about", "count"))
    assert table.splitlines()[-1] == "(too narrow for: about)"
    assert "words" not in table
    assert columns(("name", "count", "about"), ROWS, width=80, less=("about", "count")).endswith("fewer")


@pytest.mark.parametrize("width", [40, 60, 80])
def test_rows_of_many_figures_become_blocks_where_lines_would_be_broken_by_the_terminal(width: int) -> None:
    heads = ("player", *(f"group {letter}" for letter in "abcdef"), "USD")
    rows = [(f"a-player-{i}", *(f"0.{i}{j}0 ± 0.1" for j in range(6)), "1.25") for i in range(2)]
    lines = columns(heads, rows, width=width).splitlines()
    assert max(map(len, lines)) <= width
    assert lines[:3] == ["a-player-0", "  group a: 0.000 ± 0.1", "  group b: 0.010 ± 0.1"]
    assert len(lines) == 16
    assert len(columns(heads, rows, width=160).splitlines()) == 3


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (("suites",), "name"),
        (("env", "list"), "id"),
        (("worlds", "list"), "world"),
        (("code", "list"), "problem"),
        (("evolve", "--tasks"), "name"),
    ],
)
def test_a_list_fits_80_columns_with_every_id_whole(
    words: tuple[str, ...], key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_json = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    rows = next(iter(as_json.values())) if isinstance(as_json, dict) else as_json
    monkeypatch.setattr(module, "sys", SimpleNamespace(stdout=SimpleNamespace(isatty=lambda: True)))
    monkeypatch.setenv("COLUMNS", "80")
    text = CliRunner().invoke(app, [*words]).stdout
    assert [line for line in text.splitlines() if len(line) > 80 and not line.startswith("cannot be judged")] == []
    assert {str(row[key]) for row in rows} - set(text.split()) == set()
