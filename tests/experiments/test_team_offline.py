"""The suite `team-offline` as it is run: sixty questions, a real browser, real documents, real code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heredity.cli.main import app
from heredity.protocols.team_questions.protocol import no_browser

EVOLVING = 10
"""Questions that the program in the models' place gets wrong until the reader's prompt is mended."""


@pytest.mark.slow
def test_the_team_answers_sixty_questions_and_its_records_show_how_it_evolved(tmp_path: Path) -> None:
    pytest.importorskip("pypdf", reason="needs the extra documents")
    ran = CliRunner().invoke(app, ["run", "team-offline", "--out", str(tmp_path / "out")])
    assert ran.exit_code == 0, ran.output
    runs = {path.parent.name: json.loads(path.read_text())["part"] for path in tmp_path.glob("out/runs/*/metrics.json")}
    assert len(runs) == 3
    for name, part in runs.items():
        rows = part["questions"]
        assert len(rows) == 60
        tried = [row for row in rows if row["status"] != "missing"]
        assert len(tried) == 60 or no_browser(), "only what needs a browser may be left out"
        assert all("browser" in row["why"] for row in rows if row["status"] == "missing")
        wrong = [row["id"] for row in tried if not row["correct"]]
        evolved = part["evolution"]
        if evolved is None:
            assert len(wrong) == EVOLVING - (3 if no_browser() else 0), name
            assert all(not row["lacking"] for row in tried if row["correct"])
            continue
        assert (wrong, [row["id"] for row in tried if row["lacking"]]) == ([], []), name
        assert evolved["commits"] == evolved["refusals"] == EVOLVING - (3 if no_browser() else 0)
        assert evolved["rollbacks"] == (evolved["commits"] if evolved["mode"] == "across" else 0)
    page = (tmp_path / "out" / "report.md").read_text()
    assert "as published" in page
    assert "nothing is ranked" in page
