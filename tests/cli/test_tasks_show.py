"""`heredity tasks show` on small files of questions."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from heredity.cli.main import app


@pytest.mark.parametrize("rows", [1, 2, 3, 4])
@pytest.mark.parametrize("split", ["train", "validation", "heldout"])
def test_a_small_file_is_shown_with_the_tasks_that_it_has(tmp_path: Path, rows: int, split: str) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("question,answer\n" + "".join(f"what is {i}?,{i}\n" for i in range(rows)))
    ran = CliRunner().invoke(app, ["tasks", "show", f"questions/file:{path}", "--split", split])
    assert ran.exit_code == 0, ran.exception
    assert ("what is" in ran.output) is (f"the split {split} has no tasks" not in ran.output)


def test_a_count_that_is_asked_for_has_to_be_there(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("question,answer\nwhat is 1?,1\n")
    ran = CliRunner().invoke(app, ["tasks", "show", f"questions/file:{path}", "--split", "validation", "--count", "3"])
    assert "it has 1 question" in str(ran.exception)
    ran = CliRunner().invoke(app, ["tasks", "show", f"questions/file:{path}", "--split", "nowhere"])
    assert "unknown split 'nowhere'" in str(ran.exception)
