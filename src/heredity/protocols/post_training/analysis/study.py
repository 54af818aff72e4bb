"""Runs of post-training compared: improvements, success, pass@k, modes by tasks, scaling, routes and failures of a suite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from heredity.analysis.bounds import GAP
from heredity.analysis.paired import compare_paired, verdict
from heredity.analysis.run_record import mean
from heredity.analysis.statistics import Floats
from heredity.protocols.post_training.analysis.failures import RULES
from heredity.protocols.post_training.code_results import AuditVerdict
from heredity.protocols.post_training.results import FailureKind, Points, Scores, TrainingRunResults
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
from heredity.results.run import RunResults, Verdict


@dataclass(frozen=True)
class Trained:
    """A run's results, and what of them is post-training's own."""

    run: RunResults
    part: TrainingRunResults

    @property
    def taskset(self) -> str:
        """What it was trained for."""
        return str(self.run.taskset)

    @property
    def improvement(self) -> float | None:
        """The best graded score less the base model's; 0 where nothing was graded, None without a baseline."""
        graded, best = self.part.baseline.graded, self.part.best
        if graded is None or graded.mean is None:
            return None
        score = best.score.mean if best and best.score else None
        return 0.0 if score is None else score - graded.mean

    @property
    def better(self) -> bool:
        """Whether its best graded score is above the base model's beyond noise."""
        best = self.part.best
        return best is not None and best.gain is not None and best.gain.verdict == Verdict.BETTER

    @property
    def graded_gaps(self) -> list[float]:
        """Gains of its best checkpoint by item of the graded view; 0 for one that ended with the base model."""
        best, graded = self.part.best, self.part.baseline.graded
        return [0.0] * (graded.n if graded else 0) if best is None else _gaps(best.scores, best.baseline_scores)

    @property
    def heldout_gaps(self) -> list[float]:
        """Gains of what it ended with by item of the held-out slice."""
        heldout, reference = self.run.heldout, self.run.reference
        return _gaps(heldout.scores if heldout else [], reference.heldout_scores if reference else [])


def posttraining_study(runs: Sequence[RunResults], labels: Sequence[str]) -> TrainingSuiteResults | None:
    """Compare the runs of a suite.

    Args:
        runs: results of each run; unfinished ones may be among them.
        labels: the evolver of each, told apart by its options and mode.

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
        entries=[_entry(label, taskset, trained) for (label, taskset), trained in groups.items()],
        heatmap=_heatmap([run for trained in groups.values() for run in trained]),
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
    )


def _entry(label: str, taskset: str, trained: Sequence[Trained]) -> Entry:
    parts = [run.part for run in trained]
    gains = [gain for run in trained if (gain := run.improvement) is not None]
    ungraded = sum(not (part.process.graded or part.process.copies) for part in parts)
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
        # A gain of 0 of runs that submitted nothing would read as a null result of their method.
        graded=_compared([run.graded_gaps for run in trained]) if ungraded < len(trained) else None,
        heldout=_compared([run.heldout_gaps for run in trained]) if ungraded < len(trained) else None,
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
        ungraded=ungraded,
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


def _gaps(after: Scores, before: Scores) -> list[float]:
    return [float("nan") if a is None or b is None else a - b for a, b in zip(after, before, strict=False)]


def _compared(rows: Sequence[Sequence[float]]) -> GainOverRuns | None:
    """Return the mean gain over runs and tasks; runs of a suite have the same tasks, so a column is a task."""
    scored = [row for row in rows if row]
    width = max(map(len, scored), default=0)
    table: Floats = np.array([[*row, *[np.nan] * (width - len(row))] for row in scored], dtype=np.float64)
    comparison = compare_paired([table], bounds=GAP) if scored else None
    if comparison is None:
        return None
    return GainOverRuns(
        difference=comparison.difference,
        ci=comparison.interval,
        p=comparison.p,
        mde=comparison.mde,
        unit=comparison.unit,
        runs=comparison.runs,
        cases=comparison.cases,
        verdict=verdict(comparison.difference, comparison.p),
    )


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


def _heatmap(trained: Sequence[Trained]) -> list[HeatmapCell]:
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
        several = min(rivals) < max(rivals)
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
    """Return (spent, mean, least, greatest) best improvement over runs, as steps; a run without a score stays at 0."""
    if not any(lines):
        return []
    curves = [line or [(0.0, 0.0)] for line in lines]
    points: list[tuple[float, float, float, float]] = []
    for at in sorted({at for line in curves for at, _ in line}):
        values = [next(v for when, v in reversed(line) if when <= at) for line in curves]
        points.append((at, float(np.mean(values)), min(values), max(values)))
    return points


def _shortcuts(groups: Mapping[tuple[str, str], Sequence[Trained]]) -> list[Shortcut]:
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
