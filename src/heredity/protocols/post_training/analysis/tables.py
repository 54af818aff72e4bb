"""Tables of how agents worked (Agent² RL-Bench, appendix A), from the results of a suite's runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import stdev

import numpy as np

from heredity.analysis.bounds import GAP, missing_bounds
from heredity.analysis.samples import enough_runs
from heredity.analysis.statistics import crossed_mean
from heredity.analysis.usage import TokenUsage, total_usage
from heredity.protocols.post_training.analysis.routes import COPY, RL
from heredity.protocols.post_training.analysis.trained import Groups, Trained
from heredity.protocols.post_training.results import Iteration
from heredity.protocols.post_training.tables import (
    AtBudgets,
    Behaviour,
    BudgetMark,
    MethodAudit,
    MethodTried,
    Outcome,
    OverRuns,
    SettingGroup,
    SettingScores,
    Stability,
    TaskStructure,
    TrainingTables,
    Workspace,
)
from heredity.results.base import Unknown
from heredity.results.run import RunStatus

SHARES = (0.25, 0.5, 1.0)
"""Shares of the longest budget of a suite at which improvements are read."""
MOST_GROUPS = 6
"""Groups of values of one setting; where it had more values, neighbours are put together."""
_NO_SETTINGS = frozenset(("seed",))
"""What code writes down and is nothing to be tuned."""


def training_tables(groups: Groups, *, ranked: bool = True) -> TrainingTables:
    """Return the tables of a suite.

    Args:
        groups: runs by agent and task; unfinished ones may be among them.
        ranked: whether means have intervals and the best is told; else they are shown as they are.
    """
    marks = _marks([run for trained in groups.values() for run in trained])
    return TrainingTables(
        outcomes=[
            _outcome(*key, base, own, ranked=ranked)
            for key, trained in groups.items()
            for base, own in _by_base(trained).items()
        ],
        budgets=[_at_budgets(*key, trained, marks, ranked=ranked) for key, trained in groups.items()] if marks else [],
        workspaces=[row for key, trained in groups.items() if (row := _workspace(*key, trained))],
        settings=[row for key, trained in groups.items() for row in _settings(*key, trained, ranked=ranked)],
        methods=[row for key, trained in groups.items() if (row := _methods(*key, trained))],
        behaviour=[_behaviour(*key, trained) for key, trained in groups.items()],
        structure=_structure(groups),
    )


def _over_runs(values: Sequence[float], *, ranked: bool) -> OverRuns:
    """Return a mean over runs; its interval takes six of them."""
    enough = enough_runs([len(values)])
    estimate = crossed_mean([np.array(values)[:, None]], bounds=GAP) if enough and ranked else None
    few = None if enough or not ranked else Unknown.FEW_RUNS if values else Unknown.NO_SCORE
    return OverRuns(
        mean=math.fsum(values) / len(values) if values else None,
        ci=estimate and estimate.interval,
        ci_unknown=estimate.unknown if estimate else few,
        low=min(values, default=None),
        high=max(values, default=None),
        runs=len(values),
    )


def _by_base(trained: Sequence[Trained]) -> dict[str | None, list[Trained]]:
    bases: dict[str | None, list[Trained]] = {}
    for run in trained:
        bases.setdefault(run.part.base_model, []).append(run)
    return bases


def _outcome(label: str, taskset: str, base: str | None, trained: Sequence[Trained], *, ranked: bool) -> Outcome:
    ended = [run for run in trained if run.run.status is not RunStatus.UNFINISHED]
    gains = [run.improvement for run in ended]
    gains_known = [gain for gain in gains if gain is not None]
    return Outcome(
        evolver=label,
        taskset=taskset,
        base_model=base,
        runs=len(ended),
        improvement=_over_runs(gains_known, ranked=ranked),
        if_missing=missing_bounds([math.nan if gain is None else gain for gain in gains], GAP) if gains else None,
        sd=stdev(gains_known) if len(gains_known) > 1 else None,
        improved=sum(gain > 0 for gain in gains_known),
        executed=sum(run.part.process.graded > 0 for run in ended),
    )


def _marks(trained: Iterable[Trained]) -> list[float]:
    longest = max((run.part.process.budget_s or 0.0 for run in trained), default=0.0)
    return [share * longest for share in SHARES] if longest else []


def _at_budgets(
    label: str, taskset: str, trained: Sequence[Trained], marks: Sequence[float], *, ranked: bool
) -> AtBudgets:
    rows: list[BudgetMark] = []
    for seconds in marks:
        values = [value for run in trained if (value := _best_by(run, seconds)) is not None]
        rows.append(BudgetMark(seconds=seconds, improvement=_over_runs(values, ranked=ranked)))
    return AtBudgets(evolver=label, taskset=taskset, marks=rows)


def _best_by(run: Trained, seconds: float) -> float | None:
    """Return the best improvement by a time; None where nothing was graded, or the run did not have so long."""
    process, unfinished = run.part.process, run.run.status is RunStatus.UNFINISHED
    if (process.budget_s or 0.0) < seconds or (unfinished and process.ended_s < seconds) or run.improvement is None:
        return None
    return max((best for at, best in run.part.scaling.time if at <= seconds), default=0.0)


def _best(trained: Sequence[Trained]) -> Trained | None:
    """Return the run with the greatest graded improvement, the first of equals; None where nothing was graded."""
    with_gain = [run for run in trained if run.improvement is not None]
    return max(with_gain, key=lambda run: run.improvement or 0.0, default=None)


def _workspace(label: str, taskset: str, trained: Sequence[Trained]) -> Workspace | None:
    best = _best(trained)
    if best is None or best.improvement is None:
        return None
    part, process = best.part, best.part.process
    listed = [revision.files for revision in part.revisions]
    files = {name for names in listed for name in names or () if name.endswith(".py")}
    routes = [row.train_type for row in part.iterations if row.score is not None and row.train_type]
    return Workspace(
        evolver=label,
        taskset=taskset,
        run_id=best.run.run_id,
        mode=part.mode,
        improvement=best.improvement,
        of_runs=len(trained),
        graded=process.graded,
        code_files=None if None in listed else len(files),
        checkpoints=process.checkpoints_kept + process.checkpoints_dropped,
        zero_rate=process.zero_rate,
        best_at=process.best_at,
        routes=list(dict.fromkeys(routes)),
    )


def _submitted(run: Trained) -> list[Iteration]:
    """Return what was graded or failed in grading; neither copies of the base model nor what was refused."""
    return [row for row in run.part.iterations if row.submit_id is not None and row.train_type != COPY]


def _settings(label: str, taskset: str, trained: Sequence[Trained], *, ranked: bool) -> list[SettingScores]:
    """Return how scores went with each numeric setting that had several values."""
    scores: dict[str, dict[float, list[float | None]]] = {}
    for row in (row for run in trained for row in _submitted(run) if row.status != "running"):
        for name, value in row.settings.items():
            if not isinstance(value, str | bool) and name not in _NO_SETTINGS:
                scores.setdefault(name, {}).setdefault(float(value), []).append(row.score)
    return [
        SettingScores(evolver=label, taskset=taskset, setting=name, groups=_grouped(by_value, ranked=ranked))
        for name, by_value in sorted(scores.items())
        if len(by_value) > 1
    ]


def _grouped(by_value: dict[float, list[float | None]], *, ranked: bool) -> list[SettingGroup]:
    values = sorted(by_value)
    count = min(len(values), MOST_GROUPS)
    ends = [round(i * len(values) / count) for i in range(count + 1)]
    parts = [values[start:stop] for start, stop in pairwise(ends)]
    listed = [[score for value in part for score in by_value[value]] for part in parts]
    by_run = [[score for score in scores if score is not None] for scores in listed]
    means = [math.fsum(scores) / len(scores) if scores else None for scores in by_run]
    most = max((mean for mean in means if mean is not None), default=None)
    return [
        SettingGroup(
            least=part[0],
            greatest=part[-1],
            mean=mean,
            low=min(scores, default=None),
            high=max(scores, default=None),
            graded=len(scores),
            failed=len(every) - len(scores),
            best=ranked and mean is not None and mean == most and means.count(most) == 1,
        )
        for part, mean, scores, every in zip(parts, means, by_run, listed, strict=True)
    ]


def _methods(label: str, taskset: str, trained: Sequence[Trained]) -> MethodAudit | None:
    tried: dict[str, list[tuple[str | None, bool]]] = {}
    for run in trained:
        components = {revision.revision: revision.components for revision in run.part.revisions}
        for row in _submitted(run):
            if row.status == "running":
                continue
            for method in components.get(row.revision or 0, ()) if row.revision is not None else ():
                if method in RL:
                    tried.setdefault(method, []).append((run.run.run_id, (row.score or 0.0) > 0.0))
    if not tried:
        return None
    best = _best(trained)
    return MethodAudit(
        evolver=label,
        taskset=taskset,
        methods=[_tried(method, tried[method]) for method in RL if method in tried],
        best_route=best.part.best.route if best and best.part.best else None,
        best_improvement=best.improvement if best else None,
    )


def _tried(method: str, submissions: Sequence[tuple[str | None, bool]]) -> MethodTried:
    sound = sum(above for _, above in submissions)
    partly = Stability.PARTLY if sound else Stability.NO
    return MethodTried(
        method=method,
        runs=len({run_id for run_id, _ in submissions}),
        submissions=len(submissions),
        sound=sound,
        stable=Stability.YES if sound == len(submissions) else partly,
    )


def _behaviour(label: str, taskset: str, trained: Sequence[Trained]) -> Behaviour:
    used = total_usage(TokenUsage.of(run.run.tokens) for run in trained)
    drivers = {run.part.driver for run in trained}
    best = _best(trained)
    read = None if used.input_tokens is None or used.cache_tokens is None else used.input_tokens + used.cache_tokens
    return Behaviour(
        evolver=label,
        taskset=taskset,
        driver=drivers.pop() if len(drivers) == 1 else None,
        runs=len(trained),
        submissions=sum(run.part.process.graded for run in trained),
        rollbacks=_sum([_rollbacks(run) for run in trained]),
        calls=_sum([run.part.process.calls for run in trained]),
        input_tokens=used.input_tokens,
        cache_tokens=used.cache_tokens,
        output_tokens=used.output_tokens,
        cached=(used.cache_tokens or 0) / read if read else None,
        cost_usd=used.cost_usd,
        best_improvement=best.improvement if best else None,
    )


def _rollbacks(run: Trained) -> int | None:
    """Return how often the code became again what it had been; None where some of it was not kept."""
    blobs = [revision.blob for revision in run.part.revisions]
    return None if None in blobs else len(blobs) - len(set(blobs))


def _sum(counts: Sequence[int | None]) -> int | None:
    counts_known = [count for count in counts if count is not None]
    return sum(counts_known) if counts_known and len(counts_known) == len(counts) else None


def _structure(groups: Groups) -> list[TaskStructure]:
    rows: dict[str, TaskStructure] = {}
    for run in (run for trained in groups.values() for run in trained):
        if run.part.structure:
            scores = dict(run.part.structure)
            rows.setdefault(run.taskset, TaskStructure(taskset=run.taskset, level=run.part.level, scores=scores))
    return list(rows.values())
