from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from heredity.bench import attempts
from heredity.bench.attempts import measure_worlds
from heredity.cli.main import app


def test_worlds_are_timed_against_a_bare_loop() -> None:
    figures = measure_worlds(0.02, ["grid_treasure", "glowing_reef"])
    assert set(figures["results"]) == {"grid_treasure", "glowing_reef"}
    for row in figures["results"].values():
        assert min(row["steps_per_s"], row["bare_steps_per_s"]) > 0
        assert row["ratio"] > 1
        assert row["reset_ms"] > 0
    rates = [row["steps_per_s"] for row in figures["results"].values()]
    assert min(rates) <= figures["median_steps_per_s"] <= max(rates)


def test_worlds_in_rules_are_timed_beside_the_same_in_python() -> None:
    figures = attempts.measure_rules(1, ["grid_treasure", "glowing_reef"])
    assert figures["worlds"] == 2
    for name, row in figures["by_world"].items():
        assert 0 < row["lines_of_rules"] < row["lines_of_python"], name
        assert row["ratio"] == pytest.approx(row["steps_per_s_rules"] / row["steps_per_s_python"], abs=0.01)
    assert figures["ratio_min"] <= figures["ratio_median"] <= figures["ratio_max"]


def test_the_command_prints_both(monkeypatch: pytest.MonkeyPatch) -> None:
    bare, rules = attempts.measure_worlds(0.01, ["grid_treasure"]), attempts.measure_rules(1, ["grid_treasure"])
    monkeypatch.setattr(attempts, "measure_worlds", lambda seconds: bare)
    monkeypatch.setattr(attempts, "measure_rules", lambda rounds: rules)
    result = CliRunner().invoke(app, ["bench", "worlds"])
    assert f"1 worlds in rules: {rules['ratio_min']} to {rules['ratio_max']} of Python's speed" in result.output
    assert json.loads(CliRunner().invoke(app, ["bench", "worlds", "--json"]).output) == {**bare, "rules": rules}
