"""`heredity run` before a suite that costs something: --dry-run, --canary, --yes, and the rule without a terminal."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.counting_server import counting

from heredity._core.errors import ConfigError
from heredity.cli import runs
from heredity.experiments.config import load, suite_file
from heredity.experiments.estimate import estimate

from .test_runs import Cli, cli

__all__ = ["cli"]


PRICED = 'gateway.providers.far={base_url="http://127.0.0.1:9/v1",prices={"*"={input=1e3,output=1e3}}}'


def test_a_dry_run_says_what_is_missing_and_what_it_would_cost(cli: Cli, tmp_path: Path) -> None:
    asked = ("run", "questions-offline", "gateway.execution=far/m", PRICED, "--dry-run", "--folder", tmp_path)
    code, out, _ = cli(*asked, "--json")
    said = json.loads(out)
    assert code == 2
    assert said["missing"], "nothing listens there"
    assert said["runs"] == 18
    assert said["cost_usd"]["high"] > said["cost_usd"]["low"] > 5
    code, out, err = cli(*asked)
    assert "far/m: 9,200 to" in out
    assert "endpoint of far/m" in err
    assert not list(tmp_path.iterdir())


def test_a_dear_suite_needs_a_terminal_a_limit_or_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    def confirm(*_: object, **__: object) -> bool:
        raise AssertionError("nobody is there")

    monkeypatch.setattr(runs.typer, "confirm", confirm)
    dear = estimate(load(suite_file("questions-offline"), ["gateway.execution=far/m", PRICED]), Path("nowhere"))
    with pytest.raises(ConfigError, match=r"nobody can be asked .*--canary.*gateway\.max_cost_usd=N.*--yes"):
        runs.ask(dear, quiet=True, agreed=False)
    runs.ask(dear, quiet=True, agreed=True)
    runs.ask(replace(dear, limit_usd=100.0), quiet=True, agreed=False)
    runs.ask(estimate(load(suite_file("demo")), Path("nowhere")), quiet=True, agreed=False)


def test_a_canary_runs_one_run_reports_its_cost_and_names_the_rest(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("pydantic_ai")
    small = ["budget.rollouts=4", "budget.train_cases=2", "views.heldout=2", "run.seeds=2", "evolver.method=reflection"]
    with counting() as counted:
        own = [*small, "suite.baselines=false", "evolver.options={rounds=1,batch=2}", "gateway.execution=count/m"]
        folder = tmp_path / "runs" / "one"
        code, _, err = cli("run", "questions-offline", *own, counted.provider(), "--out", folder, "--canary")
    assert code == 0, err
    assert f"measured: {counted.calls['m']} calls of count/m, $0.0011 each" in err
    assert f"the others: heredity resume {folder}" in err
    assert len(list((folder / "runs").iterdir())) == 1
