"""The results of a suite, computed from those of its runs (`metrics.json`, see `docs/file-formats.md`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from heredity.analysis.contract import CommonMetrics, MetricsOf
from heredity.analysis.evidence import SuiteEvidence
from heredity.analysis.further import further_results
from heredity.analysis.mechanisms import mechanisms_alone, unranked_because
from heredity.analysis.ranking import (
    Standing,
    competition_ranks,
    group_means,
    mean_of_known,
    score_table,
    standings,
)
from heredity.analysis.run_record import mean
from heredity.analysis.statistics import (
    CONFIDENCE,
    interquartile_mean,
)
from heredity.analysis.suite_cells import taskset_results
from heredity.analysis.suite_comparisons import suite_comparisons
from heredity.analysis.suite_spread import THRESHOLDS, EntrySpread, normalised_runs, profile, suite_spread
from heredity.analysis.suite_table import (
    Named,
    TasksetScores,
    coverage_of,
    differing_conditions,
    evolver_labels,
    is_reference,
    taskset_scores,
)
from heredity.analysis.usage import TokenUsage, total_usage
from heredity.results.base import SCHEMA_VERSION, Unknown
from heredity.results.run import EditHits, Features, RunResults, RunStatus
from heredity.results.selection import SelectionRow
from heredity.results.suite import (
    AbsentRun,
    BudgetRow,
    EditRate,
    EditsRow,
    Entry,
    FeaturesRow,
    Problems,
    Profile,
    ProfilePoint,
    SuiteResults,
    UnfinishedRun,
)

Own = Mapping[str, Sequence[RunResults]]
"""Label of an evolver to its runs."""


def common_metrics(protocol: str | None) -> CommonMetrics:
    """Say of every protocol that it has no figures of its own."""
    return CommonMetrics()


def suite_results(
    runs: Sequence[RunResults],
    metrics_of: MetricsOf = common_metrics,
    suite_id: str | None = None,
    *,
    sequential: bool = False,
) -> SuiteResults:
    """Compute a suite's results.

    Args:
        runs: the results of its runs; unfinished runs may be among them, missing ones are reported as absent.
        metrics_of: name of a protocol to what it says about results.
        suite_id: what the suite is called; None for the name that its runs give.
        sequential: whether it was looked at after every seed (see `suite_comparisons`).

    Returns:
        The same for the same runs in the same order, to the byte.
    """
    labels = evolver_labels(runs, metrics_of)
    tasksets = taskset_scores(runs, labels, metrics_of)
    own = {label: [r for r, x in zip(runs, labels, strict=True) if x == label] for label in dict.fromkeys(labels)}
    protocol = next((run.protocol for run in runs if run.protocol), None)
    metrics = metrics_of(protocol)
    name = Named(metrics.reference)
    further = further_results(tasksets)
    table, order = _ranked(tasksets, own)
    scored = [entry for entry in order if table[entry].present]
    spread = suite_spread(tasksets, scored)
    because = unranked_because(runs)
    results = SuiteResults(
        schema_version=SCHEMA_VERSION,
        protocol=protocol,
        reference=metrics.reference,
        suite_id=suite_id or next((run.suite_id for run in runs if run.suite_id), None),
        runs=len(runs),
        finished=sum(run.status is RunStatus.FINISHED for run in runs),
        confidence=CONFIDENCE,
        conditions=differing_conditions(runs),
        coverage=coverage_of(runs),
        ranked=because is None,
        unranked_because=because,
        evolvers=list(own),
        leaderboard=_leaderboard(tasksets, table, order, own, name, spread),
        tasksets=[taskset_results(t, list(own), name, further[t.name]) for t in tasksets],
        comparisons=suite_comparisons(tasksets, order, name, sequential=sequential),
        edits=[_edits(group, label, several) for group, label, several in _by_group(own)],
        features=[_features(group, label, several) for group, label, several in _by_group(own)],
        selection=[row for label, several in own.items() for row in _selection(label, several)],
        budget=[_budget(label, several) for label, several in own.items()],
        problems=[_problems(label, several, runs) for label, several in own.items()],
        profiles=[p for e in scored if (p := _profile(e, normalised_runs(tasksets, e), spread)) is not None],
        part=metrics.of_suite(SuiteEvidence(runs, labels, tasksets, because is None)),
    )
    return results if because is None else mechanisms_alone(results)


def _ranked(tasksets: Sequence[TasksetScores], own: Own) -> tuple[dict[str, Standing], list[str]]:
    """Return the standings of all entries, and the entries, best first; who has no score on any taskset has no standing."""
    means = {t.name: t.means for t in tasksets}
    references = list(dict.fromkeys(entry for row in means.values() for entry in row if is_reference(entry)))
    entries = [*own, *references]
    scored = [entry for entry in entries if any(entry in row for row in means.values())]
    table = {entry: Standing(rank_score=None, absent=len(tasksets)) for entry in entries}
    table |= standings(means, scored, {t.name: t.family for t in tasksets})
    return table, sorted(entries, key=lambda entry: (not table[entry].present, *_descending(table[entry].rank_score)))


def _normalised_by_group(tasksets: Sequence[TasksetScores]) -> dict[str, dict[str, float | None]]:
    """Return group to evolver to mean normalised score, each under its own conditions."""
    merged: dict[str, dict[str, float | None]] = {}
    groups = {t.name: t.group for t in tasksets}
    for reference in dict.fromkeys(cell.reference for t in tasksets for cell in t.cells.values()):
        rows = {t.name: {e: m for e, m in t.means.items() if t.reference_of(e) == reference} for t in tasksets}
        for group, row in group_means(rows, groups, reference).items():
            merged.setdefault(group, {}).update(row)
    return merged


def _descending(score: float | None) -> tuple[bool, float]:
    return score is None, -(score or 0.0)


def _leaderboard(
    tasksets: Sequence[TasksetScores],
    table: Mapping[str, Standing],
    order: Sequence[str],
    own: Own,
    name: Named,
    spread: Mapping[str, EntrySpread] | None,
) -> list[Entry]:
    groups = _normalised_by_group(tasksets)
    points = score_table({"": {e: table[e].rank_score for e in order}}, order)[0]
    ranks = competition_ranks(points)
    lines: list[Entry] = []
    for i, entry in enumerate(order):
        runs, standing = own.get(entry), table[entry]
        chance = spread.get(entry) if spread and standing.rank_score is not None else None
        lines.append(
            Entry(
                evolver=name(entry),
                kind=runs[0].evolver.kind if runs else "reference",
                reference=runs is None,
                rank=None if np.isnan(ranks[i]) else int(ranks[i]),
                rank_ci=chance and chance.rank,
                rank_score=standing.rank_score,
                rank_score_ci=chance and chance.rank_score,
                rank_score_at_best=standing.at_best,
                family_scores=dict(standing.family_scores),
                group_scores=_group_scores(groups, entry) if runs else {},
                wins=standing.wins,
                top2=standing.top2,
                tasksets=standing.present,
                absent=standing.absent,
                runs=len(runs or ()),
                iqm=_iqm(tasksets, entry) if runs and standing.present else None,
                iqm_ci=chance and chance.iqm,
                p_best=chance and chance.p_best,
                spread_unknown=None if chance or not standing.present else Unknown.FEW_RUNS,
                failed=sum(run.status is RunStatus.FAILED for run in runs or ()),
                exit_codes=sorted({run.starts[-1].code or 0 for run in runs or () if run.starts} - {0}),
                unspent=_unspent(runs or ()),
            )
        )
    return lines


def _iqm(tasksets: Sequence[TasksetScores], entry: str) -> float | None:
    return interquartile_mean(np.concatenate([*normalised_runs(tasksets, entry), []]))


def _profile(entry: str, strata: Sequence[Sequence[float]], spread: Mapping[str, EntrySpread] | None) -> Profile | None:
    """Return the share of an evolver's runs above each threshold; None for the reference and without normalised scores."""
    scores = np.concatenate([*strata, []])
    if is_reference(entry) or not scores.size:
        return None
    bands = (spread[entry].profile if spread else None) or [None] * len(THRESHOLDS)
    rows = zip(THRESHOLDS, profile(scores), bands, strict=True)
    return Profile(evolver=entry, points=[ProfilePoint(above=x, share=share, ci=band) for x, share, band in rows])


def _unspent(runs: Sequence[RunResults]) -> int | None:
    left = [None if run.budget.episodes is None else run.budget.episodes - run.budget.used for run in runs]
    return None if not left or None in left else sum(n or 0 for n in left)


def _group_scores(groups: Mapping[str, Mapping[str, float | None]], entry: str) -> dict[str, float | None]:
    return {group: row.get(entry) for group, row in groups.items()}


def _by_group(own: Own) -> Iterator[tuple[str, str, list[RunResults]]]:
    groups = sorted({run.group or "" for runs in own.values() for run in runs})
    for group, (label, runs) in product(groups, own.items()):
        members = [run for run in runs if (run.group or "") == group]
        if members:
            yield group, label, members


def _edits(group: str, evolver: str, runs: Sequence[RunResults]) -> EditsRow:
    diagnostics = [run.diagnostics for run in runs]
    return EditsRow(
        group=group,
        evolver=evolver,
        synthesis=_rate(d.edits.synthesis for d in diagnostics),
        parametric=_rate(d.edits.parametric for d in diagnostics),
        rollbacks=sum(d.rollbacks for d in diagnostics),
        retests=sum(d.retests for d in diagnostics),
    )


def _rate(counts: Iterable[EditHits]) -> EditRate:
    listed = list(counts)
    n, hits = sum(count.n for count in listed), sum(count.hits for count in listed)
    return EditRate(n=n, hits=hits, rate=hits / n if n else None)


def _features(group: str, evolver: str, runs: Sequence[RunResults]) -> FeaturesRow:
    chosen = [features for run in runs if (features := _selected_features(run)) is not None]
    return FeaturesRow(
        group=group,
        evolver=evolver,
        runs=len(chosen),
        functions=mean_of_known(f.functions for f in chosen),
        branches=mean_of_known(f.branches for f in chosen),
        loops=mean_of_known(f.loops for f in chosen),
        state=mean_of_known(f.state for f in chosen),
        lines=mean_of_known(f.lines for f in chosen),
    )


def _selected_features(run: RunResults) -> Features | None:
    if run.selected is None:
        return None
    return next((s.features for s in run.submissions if s.candidate == run.selected.candidate), None)


def _selection(evolver: str, runs: Sequence[RunResults]) -> Iterator[SelectionRow]:
    for taskset in dict.fromkeys(str(run.taskset) for run in runs):
        picked = [run.selection for run in runs if str(run.taskset) == taskset and run.selection is not None]
        if picked:
            yield SelectionRow(
                evolver=evolver,
                taskset=taskset,
                runs=len(picked),
                candidates=sum(s.candidates for s in picked) / len(picked),
                validation_mean=mean([s.validation_mean for s in picked]) or 0.0,
                corrected=mean(s.corrected for s in picked),
                heldout_mean=mean(s.heldout_mean for s in picked),
                gap=mean(s.gap for s in picked),
            )


def _budget(evolver: str, runs: Sequence[RunResults]) -> BudgetRow:
    budgets = [run.budget for run in runs]
    used, submissions = sum(b.used for b in budgets), sum(b.submissions for b in budgets)
    episodes, seconds = [b.episodes for b in budgets], [b.wall_seconds for b in budgets]
    tokens = total_usage(TokenUsage.of(run.tokens) for run in runs)
    return BudgetRow(
        evolver=evolver,
        runs=len(runs),
        episodes=None if None in episodes else sum(n or 0 for n in episodes),
        used=used,
        submissions=submissions,
        rejected=sum(b.rejected for b in budgets),
        episodes_per_submission=used / submissions if submissions else None,
        wall_seconds=None if None in seconds else sum(s or 0.0 for s in seconds),
        resumes=sum(b.resumes for b in budgets),
        input_tokens=tokens.input_tokens,
        cache_tokens=tokens.cache_tokens,
        output_tokens=tokens.output_tokens,
        cost_usd=tokens.cost_usd,
    )


def _problems(evolver: str, own: Sequence[RunResults], runs: Sequence[RunResults]) -> Problems:
    rows = [row for run in own for row in run.submissions]
    heldout = [run.heldout for run in own if run.heldout is not None]
    return Problems(
        evolver=evolver,
        failed_submissions=sum(row.status not in (None, "ok") for row in rows),
        failed_episodes=sum(row.failures for row in rows),
        missing_episodes=sum(row.missing for row in rows),
        heldout_failures=sum(scores.failures for scores in heldout),
        heldout_missing=sum(scores.missing for scores in heldout),
        unfinished=[
            UnfinishedRun(
                run_id=run.run_id,
                taskset=run.taskset,
                seed=run.seed,
                status=run.status,
                why=run.evolver_failure.message if run.evolver_failure else "",
            )
            for run in own
            if run.status is not RunStatus.FINISHED
        ],
        absent=_absent(runs, own),
    )


def _absent(runs: Sequence[RunResults], own: Sequence[RunResults]) -> list[AbsentRun]:
    """List what the suite's grid of tasksets and seeds has and an evolver has no held-out score for."""
    grid = product(dict.fromkeys(run.taskset for run in runs), dict.fromkeys(run.seed for run in runs))
    scored = {(r.taskset, r.seed) for r in own if r.heldout is not None and r.heldout.mean is not None}
    unfinished = {(r.taskset, r.seed) for r in own if r.status is RunStatus.UNFINISHED}
    return [AbsentRun(taskset=t, seed=s) for t, s in grid if (t, s) not in scored and (t, s) not in unfinished]
