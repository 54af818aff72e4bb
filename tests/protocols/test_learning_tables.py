"""Entries by environment and by kind of environment, and improvements by model; figures are computed again by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.page_reader import Page

from heredity.analysis.suite_results import suite_results
from heredity.analysis.suite_table import REFERENCE, Cell, TasksetScores
from heredity.pages.report import html, markdown, page_of
from heredity.protocols.agent_learning.protocol import METRICS, learning_table
from heredity.protocols.agent_learning.results import REPORT, EntryKind, LearningSuite, LearningTable
from heredity.protocols.resource_evolution.protocol import METRICS as RESOURCE_METRICS
from heredity.protocols.resource_evolution.protocol import REPORT as RESOURCE_REPORT
from heredity.protocols.resource_evolution.protocol import ResourceSuite, improvements
from heredity.results.base import SCHEMA_VERSION
from heredity.results.run import Evolver, ModelTokens, RunResults

KINDS = {
    "a": {"reward": "binary", "observation": "full", "semantics": "aligned"},
    "b": {"reward": "accumulative", "observation": "partial", "semantics": "aligned"},
    "c": {"reward": "binary", "observation": "partial", "semantics": "inverse"},
}
START = {"a": 0.1, "b": 0.2, "c": 0.3}
MEANS = {
    "edit (select=best)": {"a": 0.5, "b": 0.3, "c": 0.1},
    "edit (select=best, signal=x)": {"a": 0.4, "b": 0.6, "c": 0.2},
    "edit (select=pareto)": {"a": 0.2, "b": 0.4, "c": 0.9},
    "edit (select=pareto, signal=x)": {"a": 0.6, "b": 0.1, "c": 0.3},
    "adaptive": {"a": 0.55, "b": 0.5, "c": 0.5},
}


def run(taskset: str, label: str, seed: int, **fields: Any) -> RunResults:
    options = {"select": label.partition("select=")[2].partition(",")[0].rstrip(")")} if "select=" in label else {}
    evolver = Evolver(name=label.partition(" ")[0], kind="method", options=options)
    return RunResults.model_construct(
        schema_version=SCHEMA_VERSION, taskset=taskset, evolver=evolver, seed=seed, conditions={}, **fields
    )


def world(name: str, seeds: int = 1) -> TasksetScores:
    cells = {
        label: Cell([(run(name, label, s, model_usage=None), None) for s in range(seeds)], table(means[name], seeds))
        for label, means in MEANS.items()
    }
    return TasksetScores(name, "", "", cells, {REFERENCE: table(START[name], 1)[0]}, labels=KINDS[name])


def table(mean: float, seeds: int) -> np.ndarray:
    """Return scores of ten levels with a mean, the same for every seed."""
    return np.tile(mean + np.linspace(-0.05, 0.05, 10), (seeds, 1))


def learned(seeds: int = 1, *, ranked: bool = True) -> LearningTable:
    worlds = [world(name, seeds) for name in KINDS]
    runs = [run for w in worlds for cell in w.cells.values() for run, _ in cell.runs]
    labels = [label for w in worlds for label, cell in w.cells.items() for _ in cell.runs]
    built = learning_table(worlds, runs, labels, ranked=ranked)
    assert built is not None
    return built


def test_entries_by_environment_with_a_bound_for_each_way_to_select_and_for_all() -> None:
    rows = {row.entry: row for row in learned().rows}
    assert rows["reference"].kind is EntryKind.START
    assert rows["adaptive"].kind is EntryKind.CONTROLLER
    assert rows["edit (select=pareto)"].means == pytest.approx(MEANS["edit (select=pareto)"])
    assert rows["upper bound (best)"].means == pytest.approx({"a": 0.5, "b": 0.6, "c": 0.2})
    assert rows["upper bound (pareto)"].means == pytest.approx({"a": 0.6, "b": 0.4, "c": 0.9})
    assert rows["upper bound (all)"].means == pytest.approx({"a": 0.6, "b": 0.6, "c": 0.9})
    assert rows["upper bound (all)"].overall.mean == pytest.approx(0.7)
    assert rows["upper bound (all)"].overall.ci is None, (
        "a controller is not part of a bound, and a bound has no interval"
    )


def test_entries_by_kind_of_environment() -> None:
    built = learned()
    assert built.groups == ["binary", "accumulative", "full", "partial", "aligned", "inverse"]
    row = next(row for row in built.rows if row.entry == "edit (select=best)")
    expected = {"binary": 0.3, "accumulative": 0.3, "full": 0.5, "partial": 0.2, "aligned": 0.4, "inverse": 0.1}
    assert {name: group.mean for name, group in row.groups.items()} == pytest.approx(expected)
    assert {name: group.tasksets for name, group in row.groups.items()} == {
        "binary": 2, "accumulative": 1, "full": 1, "partial": 2, "aligned": 2, "inverse": 1,
    }  # fmt: skip
    low, high = row.groups["binary"].ci
    assert low < 0.3 < high


def test_nothing_is_bounded_or_estimated_where_nothing_is_ranked() -> None:
    rows = learned(ranked=False).rows
    assert {row.kind for row in rows} == {EntryKind.START, EntryKind.METHOD, EntryKind.CONTROLLER}
    assert {group.ci for row in rows for group in (row.overall, *row.groups.values())} == {None}


def test_an_entry_without_a_score_somewhere_has_no_row() -> None:
    worlds = [world(name) for name in KINDS]
    lacking = {label: cell for label, cell in worlds[2].cells.items() if label != "adaptive"}
    worlds[2] = TasksetScores("c", "", "", lacking, worlds[2].references, labels=KINDS["c"])
    built = learning_table(worlds, [run("a", label, 0, model_usage=None) for label in MEANS], list(MEANS))
    assert "adaptive" not in {row.entry for row in built.rows}


def test_pages_show_both_tables() -> None:
    suite = suite_results([], lambda _: METRICS).model_copy(
        update={"part": LearningSuite(board=[], learning=None, skins=[], table=learned())}
    )
    page = page_of(suite, [], REPORT)
    document, plain = Page(html.render(page)), markdown.render(page)
    assert [cell.strip() for cell in document.row("upper bound (pareto)")[1:4]] == ["0.600", "0.400", "0.900"]
    assert "## By kind of environment" in plain
    assert "2 binary, 1 accumulative" in document.text


# --- improvements by model

WEAK, STRONG = {"gateway.execution": "weak"}, {"gateway.execution": "strong"}


def asked(model: dict[str, str], label: str, gain: float, start: float, seeds: int = 2) -> tuple[str, Cell]:
    runs = [(run("q", label, s).model_copy(update={"conditions": model}), None) for s in range(seeds)]
    name = f"{label} (gateway.execution={model['gateway.execution']})"
    return name, Cell(runs, table(start + gain, seeds), f"{REFERENCE} (gateway.execution={model['gateway.execution']})")


def questions() -> TasksetScores:
    cells = dict(
        [
            asked(WEAK, "reflection", 0.1, 0.2),
            asked(WEAK, "static", 0.0, 0.2),
            asked(STRONG, "reflection", 0.06, 0.6),
            asked(STRONG, "static", 0.0, 0.6),
        ]
    )
    references = {f"{REFERENCE} (gateway.execution={m})": table(s, 1)[0] for m, s in (("weak", 0.2), ("strong", 0.6))}
    return TasksetScores("q", "", "", cells, references)


def improved(*, ranked: bool = True) -> ResourceSuite:
    taskset = questions()
    runs = [run for cell in taskset.cells.values() for run, _ in cell.runs]
    return ResourceSuite(improvements=improvements([taskset], runs, ranked=ranked))


def test_improvements_are_per_cent_of_the_start_under_the_same_model() -> None:
    rows = {(row.model, row.method): row for row in improved().improvements}
    assert {key: row.percent for key, row in rows.items()} == pytest.approx(
        {
            ("weak", "reflection"): 50.0,
            ("weak", "static"): 0.0,
            ("strong", "reflection"): 10.0,
            ("strong", "static"): 0.0,
        }
    )
    row = rows["strong", "reflection"]
    assert (row.before, row.after, row.difference) == pytest.approx((0.6, 0.66, 0.06))
    assert row.evolvers.verdict == "cannot tell yet", "two runs tell nothing of a method"
    assert row.candidates.ci[0] <= row.difference <= row.candidates.ci[1]
    assert row.ci[0] < row.after < row.ci[1]


def test_an_improvement_over_nothing_is_no_share() -> None:
    name, cell = asked(WEAK, "reflection", 0.1, 0.0)
    taskset = TasksetScores("q", "", "", {name: cell}, {cell.reference: np.zeros(10)})
    (row,) = improvements([taskset], [run for run, _ in cell.runs])
    assert (row.percent, row.difference) == (None, pytest.approx(0.1))


def test_a_start_that_is_not_known_gives_no_row() -> None:
    taskset = TasksetScores("q", "", "", questions().cells, {})
    assert improvements([taskset], []) == []


@pytest.mark.parametrize("ranked", [True, False])
def test_the_page_has_a_group_of_rows_for_each_model(ranked: bool) -> None:
    suite = suite_results([], lambda _: RESOURCE_METRICS).model_copy(
        update={"part": improved(ranked=ranked), "ranked": ranked}
    )
    document = Page(html.render(page_of(suite, [], RESOURCE_REPORT)))
    assert [cell.strip() for cell in document.row("weak")] == ["weak"]
    row = next(row for row in document.rows if "+50.0" in "".join(row))
    assert ("over tasks" in row[2]) is ranked, "of two runs nothing is told of the method"
    assert "method: cannot tell yet" in row[2] if ranked else "method" not in row[2]


def test_costs_are_means_over_environments_and_unknown_where_a_part_is() -> None:
    def used(cost: float | None) -> ModelTokens:
        return ModelTokens(input_tokens=1, output_tokens=1, cached_tokens=0, cost_usd=cost)

    class Usage:
        def __init__(self, rollouts: float | None, method: float | None) -> None:
            self.rollouts, self.method = used(rollouts), used(method)

    def rows(last: float | None) -> dict[str, float | None]:
        worlds = [world(name) for name in KINDS]
        costs = {"a": Usage(0.1, 0.2), "b": Usage(0.3, 0.0), "c": Usage(0.0, last)}
        runs = [run(name, label, 0, model_usage=costs[name]) for name in KINDS for label in MEANS]
        built = learning_table(worlds, runs, [label for _ in KINDS for label in MEANS])
        return {row.entry: row.cost_usd for row in built.rows}

    assert rows(0.9)["adaptive"] == pytest.approx(0.5)
    assert rows(None)["adaptive"] is None
    assert rows(0.9)["upper bound (all)"] is None
