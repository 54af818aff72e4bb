"""Cases that were drawn together, such as the questions of one document, are one draw in every error over cases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.analysis_journals import JournalBuilder, controller

from heredity._core.ids import generator
from heredity.analysis import anytime
from heredity.analysis import statistics as stats
from heredity.analysis.claims import claims, compare
from heredity.analysis.contract import RunEvidence
from heredity.analysis.paired import compare_cases, compare_runs
from heredity.analysis.run_results import run_results
from heredity.analysis.samples import clustered, tables_of
from heredity.analysis.suite_results import suite_results, suite_spread
from heredity.analysis.suite_table import REFERENCE, Cell, TasksetScores
from heredity.pages.report.sentences import run_summary, suite_summary
from heredity.protocols.policy_evolution.protocol import METRICS
from heredity.results.base import Unknown
from heredity.results.report import POLICIES
from heredity.results.run import RunResults, Verdict
from heredity.session.views import clusters_of
from heredity.tasks import Task

DOCUMENTS, QUESTIONS = 10, 10
LABELS = np.repeat(np.arange(DOCUMENTS), QUESTIONS).tolist()


def gaps(rng: np.random.Generator, labels: list[int], runs: int = 1) -> np.ndarray:
    """Differences of two candidates that are alike: what a document favours, and what a question does."""
    documents = rng.normal(0.0, 1.0, max(labels) + 1)[labels]
    return documents + rng.normal(0.0, 1.0, (runs, 1)) * (runs > 1) + rng.normal(0.0, 1.0, (runs, len(labels)))


def called(compared) -> bool:
    return compared.p is not None and compared.p <= 0.05 and compared.difference > 0.0


def test_under_the_null_clusters_are_needed_to_keep_the_level():
    rng = generator(0, "clusters")
    tables = [gaps(rng, LABELS) for _ in range(1500)]
    without = np.mean([called(compare_cases([t])) for t in tables])
    with_them = np.mean([called(compare_cases([t], clusters=[LABELS])) for t in tables])
    assert with_them <= 0.06 < without


def test_evolvers_that_are_alike_are_seldom_told_apart_on_few_documents():
    rng = generator(1, "clusters")
    tables = [gaps(rng, LABELS, runs=8) for _ in range(400)]
    assert np.mean([called(compare_runs([t], clusters=[LABELS])) for t in tables]) <= 0.06


def test_intervals_hold_the_mean_over_documents_of_very_different_sizes():
    rng = generator(2, "clusters")
    labels = np.repeat(np.arange(12), [2, 3, 5, 8, 10, 10, 10, 12, 15, 20, 25, 30]).tolist()

    def held(clusters) -> bool:
        low, high = stats.case_mean([gaps(rng, labels)], clusters=clusters).interval
        return low <= 0.0 <= high

    assert np.mean([held([labels]) for _ in range(400)]) >= 0.91
    assert np.mean([held(None) for _ in range(400)]) < 0.7


def test_clusters_keep_the_mean_of_each_run_and_make_the_cluster_robust_error():
    rng = generator(3, "clusters")
    labels = rng.integers(0, 7, 40).tolist()
    table = rng.normal(size=(3, 40))
    table[rng.random(table.shape) < 0.2] = np.nan
    grouped = clustered(table, labels)
    assert np.nanmean(grouped, axis=1) == pytest.approx(np.nanmean(table, axis=1))
    row = rng.normal(size=40)
    off = np.array([(row - row.mean())[np.array(labels) == c].sum() for c in range(7)])
    robust = np.sqrt(7 / 6 * (off**2).sum()) / 40
    assert stats.case_mean([row], clusters=[labels]).error == pytest.approx(robust)


def test_cases_by_themselves_are_what_they_were():
    table = generator(4, "clusters").normal(size=(2, 12))
    assert (clustered(table, None) == table).all()
    assert (clustered(table, [None] * 12) == table).all()
    assert (clustered(table, range(12)) == table).all()
    assert tables_of([table], [[None] * 12]).clusters is None
    assert tables_of([table], [[0, 0, *[None] * 10]]).clusters == 11


@pytest.mark.parametrize("scale", [1e308, 1e-308])
def test_clusters_of_extreme_scores_crash_nothing(scale):
    table = scale * generator(5, "clusters").uniform(-1.0, 1.0, (8, 40))
    labels = np.repeat(np.arange(8), 5).tolist()
    assert np.isfinite(clustered(table, labels)).all()
    assert np.isfinite(compare_runs([table], clusters=[labels]).interval).all()
    assert not clustered(np.full((2, 4), np.nan), [0, 0, 1, 1]).size


@pytest.mark.parametrize(("documents", "told"), [(1, False), (5, False), (6, True)])
def test_of_few_documents_nobody_can_tell_however_many_questions_they_have(documents, told):
    labels = np.repeat(np.arange(documents), 20).tolist()
    table = 5.0 + gaps(generator(6, "clusters"), labels, runs=8)
    ((evolvers, candidates),) = claims([compare([table], clusters=[labels])])
    assert (evolvers.verdict is Verdict.BETTER, candidates.verdict is Verdict.BETTER) == (told, told)
    assert (candidates.ci is not None, candidates.p is not None) == (told, told)
    assert evolvers.clusters == candidates.clusters == documents
    estimate, _ = stats.evolver_mean([table], clusters=[labels])
    assert estimate.unknown is (None if told else Unknown.FEW_CLUSTERS)
    assert (estimate.clusters, estimate.interval is not None) == (documents, told)
    assert (anytime.look([table], clusters=[labels]).p is not None) is told


def test_looks_after_every_seed_take_documents_for_the_sample_too():
    rng = generator(7, "clusters")
    table = gaps(rng, LABELS, runs=40) + 0.5
    plain, together = anytime.look([table]), anytime.look([table], clusters=[LABELS])
    assert together.difference == pytest.approx(plain.difference)
    assert np.ptp(together.interval) > 1.2 * np.ptp(plain.interval)


def test_views_number_the_clusters_that_several_tasks_share():
    names = ["b", "", "a", "b", "alone", "a"]
    tasks = [Task(f"t/{i}", "heldout", i, {}, {"cluster": name} if name else {}) for i, name in enumerate(names)]
    assert clusters_of(tasks) == {"clusters": [0, None, 1, 0, None, 1]}
    assert clusters_of(tasks[:3]) == {}


def test_resamples_of_a_suite_draw_documents_whole():
    rng = generator(8, "clusters")
    documents, noise = rng.normal(0.0, 2.0, DOCUMENTS)[LABELS], rng.normal(0.0, 0.1, (8, 1))
    documents -= documents.mean()
    cells = {"a": Cell([], noise + 5.0 + documents), "b": Cell([], noise[::-1] + 4.6 + 0.0 * documents)}
    plain = TasksetScores("t", "", "", cells, {REFERENCE: np.zeros(len(LABELS))}, returns=True)
    apart, together = (
        suite_spread([t], ["a", "b", REFERENCE])["a"].p_best for t in (plain, replace(plain, clusters=LABELS))
    )
    assert 0.6 < together < apart - 0.1


def run(evolver: str, seed: int, labels: list[int | None] | None) -> RunResults:
    rng = generator(seed, "run", evolver)
    builder = JournalBuilder(evolver=evolver, seed=seed)
    builder.submit(controller(1.0))
    documents = generator(0, "documents").normal(0.0, 3.0, DOCUMENTS)[LABELS]
    heldout = documents * (1.5 if evolver == "a" else 1.0) + rng.normal(0.0, 1.0) + rng.normal(0.0, 0.1, len(LABELS))
    builder.judge({1: 0.1}, heldout.tolist(), (documents - 1.0).tolist())
    for event in builder.events:
        if event["kind"] in ("judging.scored", "reference.scored") and event["data"]["view"] == "heldout" and labels:
            event["data"]["clusters"] = labels
    return run_results(RunEvidence(builder.events, builder.store.__getitem__), METRICS)


@pytest.fixture(scope="module")
def journals() -> dict[bool, list[RunResults]]:
    return {
        together: [run(e, seed, LABELS if together else None) for e in ("a", "b") for seed in range(3)]
        for together in (True, False)
    }


def test_what_the_journal_says_of_documents_reaches_every_figure_and_is_said_beside_it(journals):
    together, apart = (journals[key][0] for key in (True, False))
    assert (together.heldout.drawn, apart.heldout.drawn) == (DOCUMENTS, None)
    assert together.heldout.mean == apart.heldout.mean
    assert np.ptp(together.heldout.ci) > 2.0 * np.ptp(apart.heldout.ci)
    assert (together.gain.clusters, together.gain.pairs) == (DOCUMENTS, len(LABELS))
    assert np.ptp(together.gain.ci) > 2.0 * np.ptp(apart.gain.ci)
    assert np.ptp(together.selection.ci) > 2.0 * np.ptp(apart.selection.ci)
    assert "10 clusters, over which the interval is taken" in run_summary(together, POLICIES)
    assert "cluster" not in run_summary(apart, POLICIES)


def test_a_suite_compares_over_documents(journals):
    together, apart = (suite_results(journals[key], lambda _: METRICS) for key in (True, False))
    cell, plain = together.tasksets[0].cells[0], apart.tasksets[0].cells[0]
    assert (cell.clusters, plain.clusters, cell.cases) == (DOCUMENTS, None, 3 * len(LABELS))
    row, other = together.comparisons.tasksets[0], apart.comparisons.tasksets[0]
    assert row.candidates.clusters == DOCUMENTS
    assert np.ptp(row.candidates.ci) > 2.0 * np.ptp(other.candidates.ci)
    assert row.cases == other.cases
    assert together.leaderboard[0].rank_score == apart.leaderboard[0].rank_score
    assert suite_summary(together, POLICIES)
