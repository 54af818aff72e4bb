"""The suite `team-offline` as it is run: sixty questions, a real browser, real documents, real code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heredity.cli.main import app
from heredity.protocols.team_questions.setting import no_browser


@pytest.mark.slow
def test_the_team_answers_sixty_questions_and_its_records_show_how(tmp_path: Path) -> None:
    pytest.importorskip("pypdf", reason="needs the extra documents")
    ran = CliRunner().invoke(app, ["run", "team-offline", "--out", str(tmp_path / "out")])
    assert ran.exit_code == 0, ran.output
    results = json.loads(next(tmp_path.glob("out/runs/*/metrics.json")).read_text())
    rows = results["part"]["questions"]
    assert len(rows) == 60
    tried = [row for row in rows if row["status"] != "missing"]
    assert all(row["correct"] and not row["lacking"] for row in tried)
    assert len(tried) == 60 or no_browser(), "only what needs a browser may be left out"
    assert all("browser" in row["why"] for row in rows if row["status"] == "missing")
