"""A run is compared with the reference of its own conditions, and a candidate is judged once under them."""

from __future__ import annotations

import asyncio
import math
import random
import re
from pathlib import Path
from typing import Any

import pytest
from tests.offering import Offer

from heredity.experiments.config import resolve
from heredity.experiments.suite import SuiteResult, open_suite, run_suite
from heredity.models.contract import Reply, Request, Usage
from heredity.pages.report.sentences import run_summary, suite_caution, suite_summary
from heredity.records import read_journal
from heredity.results.report import POLICIES
from heredity.results.run import RunResults
from heredity.results.suite import CellResults

from .sample import isolated

pytest.importorskip("reasoning_gym")
needs_sandbox = pytest.mark.skipif(not isolated(), reason="programs cannot be confined on this machine")

GCD = "questions/reasoning-gym/gcd"
SERVERS = ["noisy/weak", "noisy/strong"]


class Noisy:
    """Knows the greatest common divisor now and then: no two attempts are alike, and one model knows it more often."""

    draws = random.Random(5)

    def __init__(self, name: str) -> None:
        self.name, self._share = f"noisy/{name}", {"weak": 0.2, "strong": 0.8}[name]

    async def reply(self, request: Request) -> Reply:
        numbers = [int(n) for n in re.findall(r"\d+", request.messages[-1].content)]
        known = self.draws.random() < self._share
        answer = math.gcd(*numbers) if known else 0
        return Reply(f"Answer: {answer}", (), "stop", Usage(1, 1, 0, 0.0), self.name)


def open_noisy(rest: str, settings: Any) -> Noisy:
    return Noisy(rest)


def ran(folder: Path, offer: Offer, **changes: dict[str, Any]) -> SuiteResult:
    offer("heredity.models", "noisy", open_noisy)
    data: dict[str, dict[str, Any]] = {
        "run": {"protocol": "resource-evolution", "tasksets": [GCD], "seeds": 2, "name": "refs"},
        "evolver": {"method": "static", "options": {"batch": 1}},
        "budget": {"rollouts": 2, "train_cases": 2},
        "views": {"heldout": 12},
        "gateway": {"execution": SERVERS[0]},
        "suite": {"baselines": False},
        "matrix": {"gateway.execution": SERVERS},
    }
    for name, section in changes.items():
        data[name] = {**data.get(name, {}), **section}
    result = asyncio.run(run_suite(folder, open_suite(folder, resolve(data))))
    assert not result.failures
    assert not result.evolver_failures
    return result


def gains_nothing(result: SuiteResult) -> None:
    """Whatever evolves nothing is where it began, in its run and in every table."""
    assert [run.gain.difference for run in result.runs] == [0.0] * len(result.runs)
    cells_of = {cell.evolver: cell for cell in result.metrics.tasksets[0].cells}
    own = [cell for cell in cells_of.values() if not cell.reference]
    assert len(own) == 2
    for cell in own:
        assert cell.mean == cell.reference_mean == mark(cells_of, cell).mean
        assert cell.normalised == 0.0
    assert len({cell.mean for cell in own}) == 2
    against = [
        c for c in result.metrics.comparisons.tasksets if c.b.startswith("starting") or c.a.startswith("starting")
    ]
    assert [c.difference for c in against] == [0.0, 0.0]


def mark(cells_of: dict[str, CellResults], cell: CellResults) -> CellResults:
    assert cell.against is not None
    assert cell.evolver.partition(" ")[2] in cell.against
    return cells_of[cell.against]


@needs_sandbox
@pytest.mark.parametrize("protocol", ["resource-evolution", "agent-learning"])
def test_what_evolves_nothing_gains_nothing_under_any_model(tmp_path: Path, offer: Offer, protocol: str) -> None:
    result = ran(tmp_path / "runs" / "s", offer, run={"protocol": protocol})
    gains_nothing(result)
    assert result.metrics.conditions == ["gateway.execution"]
    assert "gateway.execution" in suite_caution(result.metrics, POLICIES)


@needs_sandbox
def test_what_evolves_nothing_gains_nothing_under_any_model_in_harness_evolution(tmp_path: Path, offer: Offer) -> None:
    result = ran(
        tmp_path / "runs" / "s",
        offer,
        run={"protocol": "harness-evolution"},
        evolver={"options": {}},
        budget={"rollouts": 4, "train_cases": 2},
        schedule={"batch_size": 1},
        views={"validation": 2, "heldout": 12},
    )
    gains_nothing(result)
    # Two seeds of a model share each judgement: one of them made it, and the costs of either are those of a run alone.
    folders = [tmp_path / "runs" / "s" / "runs" / str(run.run_id) for run in result.runs]
    assessed = [
        [e.data for e in read_journal(folder / "journal.jsonl") if e.kind == "snapshot.assessed"] for folder in folders
    ]
    paid = [sum("recalled" not in data for data in own) for own in assessed]
    assert sum(paid) == sum(map(len, assessed)) / 2
    judging = [
        sum(view.tokens.total or 0.0 for name, view in run.part.costs.views.items() if name != "train")
        for run in result.runs
    ]
    assert judging == [2.0 * sum(len(d["tasks"]) for d in own) for own in assessed]


@needs_sandbox
def test_a_baseline_is_compared_with_the_reference_of_its_own_conditions(tmp_path: Path, offer: Offer) -> None:
    result = ran(
        tmp_path / "runs" / "s", offer, run={"seeds": 1}, evolver={"name": "own"}, suite={"baselines": ["static"]}
    )
    (taskset,) = result.metrics.tasksets
    cells_of = {cell.evolver: cell for cell in taskset.cells}
    baselines = [cell for name, cell in cells_of.items() if name.startswith("static-")]
    assert len(baselines) == 2
    for cell in baselines:
        assert cell.mean == cell.reference_mean == mark(cells_of, cell).mean
    assert len({cell.mean for cell in baselines}) == 2


@needs_sandbox
def test_a_judgement_that_is_recalled_says_so_and_costs_nothing(tmp_path: Path, offer: Offer) -> None:
    folder = tmp_path / "runs" / "s"
    ran(folder, offer)
    scored = [
        event.data
        for path in sorted(folder.glob("runs/*/journal.jsonl"))
        for event in read_journal(path)
        if event.kind == "judging.scored"
    ]
    assert len(scored) == 4
    assert all(data["recalled"] and data["seconds"] == 0.0 and "usage" not in data for data in scored)
    assert (folder / "judgements.jsonl").read_text().count('"key"') == 2


@needs_sandbox
def test_a_page_does_not_praise_what_doing_nothing_reaches(tmp_path: Path) -> None:
    """Pushing a car about costs points, and standing still costs none: a policy at random is worse than none at all."""
    data: dict[str, dict[str, Any]] = {
        "run": {"tasksets": ["gymnasium/MountainCarContinuous-v0"], "name": "null", "seeds": 2},
        "evolver": {"method": "random"},
        "budget": {"episodes": 1},
        "views": {"validation": 2, "heldout": 6},
        "limits": {"steps": 40},
        "suite": {"baselines": False},
        "engine": {"lockstep": 8},
    }
    folder = tmp_path / "runs" / "s"
    result = asyncio.run(run_suite(folder, open_suite(folder, resolve(data))))
    for run in result.runs:
        assert run.reference.name == "random"
        assert run.gain.difference == 0.0
        assert [reference.name for reference in run.further] == ["null action", "constant action"]
        assert [reference.heldout_mean for reference in run.further] == [0.0, 0.0]
        assert {reference.gain.verdict for reference in run.further} == {"worse"}
    (taskset,) = result.metrics.tasksets
    assert {(row.name, row.best, row.verdict) for row in taskset.further} == {
        ("null action", "random", "worse"),
        ("constant action", "random", "worse"),
    }
    said = "not shown to be better than"
    assert said in " ".join(suite_summary(result.metrics, POLICIES))
    assert said in (folder / "report.md").read_text()
    page = (folder / "runs" / result.runs[0].run_id / "report.md").read_text()
    assert "not shown to be better than the null action (0) and the constant action (0)" in page


@needs_sandbox
def test_further_references_can_be_left_out(tmp_path: Path) -> None:
    data: dict[str, dict[str, Any]] = {
        "run": {"tasksets": ["gymnasium/CartPole-v1"], "name": "none"},
        "evolver": {"method": "random"},
        "budget": {"episodes": 1},
        "views": {"validation": 1, "heldout": 2},
        "references": {"null": False, "constant": False},
    }
    folder = tmp_path / "runs" / "s"
    (run,) = asyncio.run(run_suite(folder, open_suite(folder, resolve(data)))).runs
    assert run.further == []
    assert not_better_of(run) == ""


def not_better_of(run: RunResults) -> str:
    return run_summary(run, POLICIES).partition("not shown")[1]


@needs_sandbox
def test_no_page_says_where_on_the_machine_a_run_began(tmp_path: Path, offer: Offer) -> None:
    starts = [tmp_path / "mine" / name / "harness" for name in ("plain", "hasty")]
    for start in starts:
        (start / "prompt" / "system").mkdir(parents=True)
        (start / "prompt" / "system" / "prompt.md").write_text(f"You are {start.parent.name}.\n")
    matrix = {"evolver.initial": [str(start) for start in starts], "gateway.execution": SERVERS[:1]}
    result = ran(tmp_path / "runs" / "s", offer, run={"seeds": 1}, evolver={"options": {}}, matrix=matrix)
    assert {run.evolver.name for run in result.runs} == {
        "static-noisy/weak-plain/harness",
        "static-noisy/weak-hasty/harness",
    }
    called = [run.conditions["evolver.initial"] for run in result.runs]
    assert all(re.fullmatch(r"harness \([0-9a-f]{8}\)", name) for name in called)
    assert len(set(called)) == 2
    assert "evolver.initial" in result.metrics.conditions
    pages = [
        file
        for file in result.folder.rglob("*")
        if file.suffix in (".html", ".md", ".csv") or file.name == "metrics.json"
    ]
    assert len(pages) >= 6
    assert [file for file in pages if str(tmp_path) in file.read_text()] == []
