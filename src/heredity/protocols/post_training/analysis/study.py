"""Runs of post-training compared: improvements, success, pass@k, modes by tasks, scaling, routes and failures of a suite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import comb

import numpy as np

from heredity.analysis.bounds import GAP, mean_bounds
from heredity.analysis.claims import Both, claims, compare
from heredity.analysis.run_record import mean
from heredity.analysis.samples import Clusters
from heredity.analysis.statistics import Floats
from heredity.analysis.suite_table import coverage_of
from heredity.protocols.post_training.analysis.failures import RULES
from heredity.protocols.post_training.analysis.tables import training_tables
from heredity.protocols.post_training.analysis.trained import Groups, Trained
from heredity.protocols.post_training.code_results import AuditVerdict
from heredity.protocols.post_training.results import FailureKind, Points, TrainingRunResults
from heredity.protocols.post_training.suite_results import (
    BestOfRuns,
    Entry,
    GainOverRuns,
    HeatmapCell,
    ProcessMeans,
    Shortcut,
    Success,
    SuiteCurve,
    SuiteScaling,
    TrainingSuiteResults,
)
from heredity.results.base import MissingBounds
from heredity.results.run import RunResults, RunStatus


def posttraining_study(
    runs: Sequence[RunResults], labels: Sequence[str], *, ranked: bool = True
) -> TrainingSuiteResults | None:
    """Compare the runs of a suite.

    Args:
        runs: results of each run; unfinished ones may be among them.
        labels: the evolver of each, told apart by its options and mode.
        ranked: whether gains are tested; else they are shown as they are.

    Returns:
        What is in `docs/post-training-diagnosis.md`; None if no run is of post-training.
    """
    groups: dict[tuple[str, str], list[Trained]] = {}
    for run, label in zip(runs, labels, strict=True):
        if isinstance(run.part, TrainingRunResults):
            groups.setdefault((label, str(run.taskset)), []).append(Trained(run, run.part))
    if not groups:
        return None
    return TrainingSuiteResults(
        entries=_entries(groups, ranked),
        heatmap=_heatmap([run for trained in groups.values() for run in trained], ranked),
        scaling=SuiteScaling(
            time=_curves(groups, [[run.part.scaling.time for run in trained] for trained in groups.values()]),
            submissions=_curves(
                groups, [[run.part.scaling.submissions for run in trained] for trained in groups.values()]
            ),
            tokens=_curves(
                groups,
                [
                    [run.part.scaling.tokens for run in trained if run.part.scaling.tokens]
                    for trained in groups.values()
                ],
            ),
        ),
        shortcuts=_shortcuts(groups),
        tables=training_tables(groups, ranked=ranked),
    )


def _entries(groups: Groups, ranked: bool) -> list[Entry]:
    least = coverage_of(run.run for trained in groups.values() for run in trained)
    graded = _gains(
        {
            key: [(run.graded_gaps, run.missing[0], run.clusters[0]) for run in trained]
            for key, trained in groups.items()
        },
        ranked,
        least,
    )
    heldout = _gains(
        {
            key: [(run.heldout_gaps, run.missing[1], run.clusters[1]) for run in trained]
            for key, trained in groups.items()
        },
        ranked,
        least,
    )
    return [_entry(*key, trained, graded.get(key), heldout.get(key)) for key, trained in groups.items()]


def _entry(
    label: str, taskset: str, trained: Sequence[Trained], graded: GainOverRuns | None, heldout: GainOverRuns | None
) -> Entry:
    parts = [run.part for run in trained]
    gains = [gain for run in trained if (gain := run.improvement) is not None]
    routes = Counter(part.routes.run for part in parts if part.routes.run)
    failures = Counter(failure.kind.value for part in parts for failure in part.failures)
    return Entry(
        evolver=label,
        taskset=taskset,
        level=parts[0].level,
        mode=parts[0].mode,
        runs=len(trained),
        baseline=mean(part.baseline.graded and part.baseline.graded.mean for part in parts),
        improvement=mean(gains),
        best_improvement=max(gains, default=None),
        ungraded=sum(run.ungraded and run.run.status is not RunStatus.UNFINISHED for run in trained),
        graded=graded,
        heldout=heldout,
        success=Success(
            runs=len(gains),
            improved=sum(gain > 0 for gain in gains),
            beyond_noise=sum(run.better for run in trained),
            coding=sum(part.routes.coding_success is True for part in parts),
        ),
        pass_at_k=pass_at_k(gains),
        noise=mean(part.noise and part.noise.sd for part in parts),
        process=_process(parts),
        routes=dict(sorted(routes.items())),
        failures=dict(sorted(failures.items())),
        broken=sum(part.audit.verdict == AuditVerdict.BROKEN for part in parts),
    )


def _process(parts: Sequence[TrainingRunResults]) -> ProcessMeans:
    processes = [part.process for part in parts]
    return ProcessMeans(
        graded=mean(p.graded for p in processes),
        refused=mean(p.refused for p in processes),
        valid_rate=mean(p.valid_rate for p in processes),
        zero_rate=mean(p.zero_rate for p in processes),
        first_improvement_s=mean(p.first_improvement_s for p in processes),
        best_s=mean(p.best_s for p in processes),
        monotonic_ratio=mean(p.monotonic_ratio for p in processes),
        time_used_ratio=mean(p.time_used_ratio for p in processes),
        last_submit_gap_s=mean(p.last_submit_gap_s for p in processes),
        tokens=mean(p.tokens for p in processes),
        cost_usd=mean(p.cost_usd for p in processes),
    )


_Gained = tuple[Sequence[float], MissingBounds | None, Clusters | None]
"""The gains of a run by item, what missing scores might make of their mean, and what each item was drawn with."""


def _gains(
    groups: Mapping[tuple[str, str], Sequence[_Gained]], ranked: bool, least: float
) -> dict[tuple[str, str], GainOverRuns]:
    """Return the mean gain of each agent on each task, tests corrected over the agents of a task."""
    tasks = [task for _, task in groups]
    scored = {key: [run for run in runs if run[0]] for key, runs in groups.items()}
    asked = {key: len(runs) for key, runs in groups.items()}
    both = {
        key: both
        for key, runs in scored.items()
        if (both := _compared(runs, tasks.count(key[1]), asked=asked[key], least=least))
    }
    gains: dict[tuple[str, str], GainOverRuns] = {}
    for task in dict.fromkeys(tasks):
        family = {key: compared for key, compared in both.items() if key[1] == task}
        for (key, compared), pair in zip(family.items(), claims(list(family.values())), strict=True):
            evolvers, candidates = pair if ranked else (None, None)
            gains[key] = GainOverRuns(
                difference=compared.candidates.difference,
                evolvers=evolvers,
                candidates=candidates,
                runs=compared.candidates.runs,
                cases=compared.candidates.cases,
                if_missing=mean_bounds(
                    [float(np.nanmean(row)) for row, *_ in scored[key]], [missing for _, missing, _ in scored[key]]
                ),
            )
    return gains


def _compared(runs: Sequence[_Gained], tests: int, *, asked: int, least: float) -> Both | None:
    """Compare checkpoints with the base model over runs and items; runs of a suite have the same items, so a column is one.

    `asked` counts the runs in which nothing was graded, too.
    """
    rows = [row for row, *_ in runs]
    clusters = next((own for *_, own in runs if own), None)
    width = max(map(len, rows), default=0)
    table: Floats = np.array([[*row, *[np.nan] * (width - len(row))] for row in rows], dtype=np.float64)
    if not rows:
        return None
    return compare([table], tests, GAP, marked=True, clusters=[clusters], least=least, asked=asked * width)


def pass_at_k(gains: Sequence[float]) -> list[BestOfRuns]:
    """Return what the best of k runs is expected to improve, for k from 1 to all of them (Agent² RL-Bench, table 10).

    The mean over all choices of k of the runs, which does not favour large k; `success` is the chance that one of them improves.
    """
    ordered, n = sorted(gains), len(gains)
    failed = sum(gain <= 0 for gain in ordered)
    return [
        BestOfRuns(
            k=k,
            improvement=sum(g * comb(i, k - 1) for i, g in enumerate(ordered)) / comb(n, k),
            success=1.0 - comb(failed, k) / comb(n, k),
        )
        for k in range(1, n + 1)
    ]


def _heatmap(trained: Sequence[Trained], ranked: bool) -> list[HeatmapCell]:
    """Return the mean improvement by agent, mode and task, with the best and the worst mode of each (figure 6).

    A run of several tasks counts for each of them.
    """
    cells: dict[tuple[str, str, str], list[float]] = {}
    for run in trained:
        parts = [(task.name, task.gain and task.gain.difference) for task in run.part.tasks]
        for task, gain in parts or [(run.taskset, run.improvement)]:
            if gain is not None:
                cells.setdefault((str(run.run.evolver.name), run.part.mode, task), []).append(gain)
    means = {key: float(np.mean(values)) for key, values in cells.items()}
    rows: list[HeatmapCell] = []
    for (agent, mode, task), value in means.items():
        rivals = [v for (a, _, t), v in means.items() if (a, t) == (agent, task)]
        several = ranked and min(rivals) < max(rivals)
        rows.append(
            HeatmapCell(
                agent=agent,
                mode=mode,
                task=task,
                improvement=value,
                runs=len(cells[agent, mode, task]),
                best=several and value == max(rivals),
                worst=several and value == min(rivals),
            )
        )
    return rows


def _curves(groups: Iterable[tuple[str, str]], lines: Iterable[Sequence[Points]]) -> list[SuiteCurve]:
    """Return the best improvement over runs of each agent on each task, without those that have no score."""
    drawn = [(label, taskset, _curve(runs)) for (label, taskset), runs in zip(groups, lines, strict=True)]
    return [SuiteCurve(evolver=label, taskset=taskset, points=points) for label, taskset, points in drawn if points]


def _curve(lines: Sequence[Points]) -> list[tuple[float, float, float, float]]:
    """Return (spent, mean, least, greatest) best improvement over the runs that have a score, as steps."""
    curves = [line for line in lines if line]
    if not curves:
        return []
    points: list[tuple[float, float, float, float]] = []
    for at in sorted({at for line in curves for at, _ in line}):
        values = [next((v for when, v in reversed(line) if when <= at), 0.0) for line in curves]
        points.append((at, float(np.mean(values)), min(values), max(values)))
    return points


def _shortcuts(groups: Groups) -> list[Shortcut]:
    """Return the agents whose competence on static tasks does not carry over to interactive ones (table 13, last row)."""
    rows: list[Shortcut] = []
    for label in dict.fromkeys(label for label, _ in groups):
        static, interactive = set[str](), dict[str, bool]()
        for run in (run for (own, _), trained in groups.items() if own == label for run in trained):
            if run.part.level == "L3":
                interactive[run.taskset] = interactive.get(run.taskset, False) or run.better
            elif run.better and run.part.routes.coding_success:
                static.add(run.taskset)
        if static and interactive and not any(interactive.values()):
            kind = FailureKind.SHORTCUT
            rows.append(
                Shortcut(
                    evolver=label, kind=kind, rule=RULES[kind], improved=sorted(static), failed=sorted(interactive)
                )
            )
    return rows
