"""Comparison of a suite's post-training runs: improvements, success, pass@k, modes by tasks, scaling, routes and failures."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import comb
from statistics import stdev

import numpy as np

from heredity.analysis.claims import Both, claims, compare
from heredity.analysis.run_record import mean
from heredity.analysis.samples import GAP, Clusters, enough_runs, mean_bounds, missing_bounds
from heredity.analysis.statistics import Floats, crossed_mean
from heredity.analysis.suite_table import coverage_of
from heredity.analysis.usage import TokenUsage, total_usage
from heredity.protocols.post_training.analysis.failures import RULES
from heredity.protocols.post_training.analysis.routes import COPY, RL
from heredity.protocols.post_training.results import (
    AuditVerdict,
    FailureKind,
    Iteration,
    Points,
    Scores,
    TrainingRunResults,
)
from heredity.protocols.post_training.suite_results import (
    AtBudgets,
    Behaviour,
    BestOfRuns,
    BudgetMark,
    Entry,
    GainOverRuns,
    HeatmapCell,
    MethodAudit,
    MethodTried,
    Outcome,
    OverRuns,
    ProcessMeans,
    SettingGroup,
    SettingScores,
    Shortcut,
    Stability,
    Success,
    SuiteCurve,
    SuiteScaling,
    TaskStructure,
    TrainingSuiteResults,
    TrainingTables,
    Workspace,
)
from heredity.results.base import MissingBounds, Unknown
from heredity.results.run import RunResults, RunStatus, Verdict


@dataclass(frozen=True)
class Trained:
    """A run's results, with its post-training part."""

    run: RunResults
    part: TrainingRunResults

    @property
    def taskset(self) -> str:
        """Name of its task."""
        return str(self.run.taskset)

    @property
    def improvement(self) -> float | None:
        """Best graded score minus the base model's, 0 for copies of it; None if the grades or the baseline are missing."""
        graded, best = self.part.baseline.graded, self.part.best
        if graded is None or graded.mean is None or self.ungraded:
            return None
        score = best.score.mean if best and best.score else None
        return 0.0 if score is None else score - graded.mean

    @property
    def ungraded(self) -> bool:
        """True if nothing was graded, not even a copy of the base model; its outcome is then unknown."""
        return self.part.best is None and not self.part.process.copies

    @property
    def better(self) -> bool:
        """True if its best graded score is above the base model's beyond noise."""
        best = self.part.best
        return best is not None and best.gain is not None and best.gain.verdict == Verdict.BETTER

    @property
    def graded_gaps(self) -> list[float]:
        """Gains of its best checkpoint by item of the graded view, 0 for copies; empty if nothing was graded."""
        best, graded = self.part.best, self.part.baseline.graded
        if best is None:
            return [0.0] * (graded.n if graded and not self.ungraded else 0)
        return _gaps(best.scores, best.baseline_scores)

    @property
    def heldout_gaps(self) -> list[float]:
        """Gains of its final checkpoint by item of the held-out slice."""
        heldout, reference = self.run.heldout, self.run.reference
        return _gaps(heldout.scores if heldout else [], reference.heldout_scores if reference else [])

    @property
    def missing(self) -> tuple[MissingBounds | None, MissingBounds | None]:
        """Bounds of its gains over missing scores: on the graded view, and held-out."""
        best, heldout = self.part.best, self.part.heldout
        gains = (best and best.gain, heldout and heldout.gain)
        graded, hidden = (gain.if_missing if gain else None for gain in gains)
        return graded, hidden

    @property
    def clusters(self) -> tuple[Clusters | None, Clusters | None]:
        """Clusters of items on the graded view and held-out; None if no item is clustered."""
        best, heldout = self.part.best, self.run.heldout
        return best.clusters if best else None, heldout.clusters if heldout else None


Groups = Mapping[tuple[str, str], Sequence[Trained]]
"""Runs by agent and task."""


def _gaps(after: Scores, before: Scores) -> list[float]:
    return [float("nan") if a is None or b is None else a - b for a, b in zip(after, before, strict=False)]


SHARES = (0.25, 0.5, 1.0)
"""Shares of a suite's longest budget at which improvements are read."""
MOST_GROUPS = 6
"""Maximum groups of values of a setting; neighbouring values are merged beyond it."""
_NO_SETTINGS = frozenset(("seed",))
"""Settings in code that are not tunable."""


def training_tables(groups: Groups, *, ranked: bool = True) -> TrainingTables:
    """Return the tables of a suite.

    Args:
        groups: runs by agent and task; runs may be unfinished.
        ranked: True to compute intervals and mark the best; otherwise values are shown as they are.
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
    """Return a mean over runs; an interval needs six of them."""
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
    """Return the best improvement by a time; None if nothing was graded or the run's budget was shorter."""
    process, unfinished = run.part.process, run.run.status is RunStatus.UNFINISHED
    if (process.budget_s or 0.0) < seconds or (unfinished and process.ended_s < seconds) or run.improvement is None:
        return None
    return max((best for at, best in run.part.scaling.time if at <= seconds), default=0.0)


def _best(trained: Sequence[Trained]) -> Trained | None:
    """Return the run with the greatest graded improvement, the first among equals; None if nothing was graded."""
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
    """Return submissions that were graded or failed in grading, without copies of the base model and refused ones."""
    return [row for row in run.part.iterations if row.submit_id is not None and row.train_type != COPY]


def _settings(label: str, taskset: str, trained: Sequence[Trained], *, ranked: bool) -> list[SettingScores]:
    """Return scores by the value of each numeric setting with several values."""
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
    """Return the number of revisions that restore earlier code; None if some code was not kept."""
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


def posttraining_study(
    runs: Sequence[RunResults], labels: Sequence[str], *, ranked: bool = True
) -> TrainingSuiteResults | None:
    """Compare the runs of a suite.

    Args:
        runs: results of each run; runs may be unfinished.
        labels: the evolver of each, told apart by its options and mode.
        ranked: True to test gains (otherwise they are shown as they are).

    Returns:
        The comparison described in `docs/post-training-diagnosis.md`; None without post-training runs.
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
"""The gains of a run by item, their mean's bounds over missing scores, and the cluster of each item."""


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
    """Compare checkpoints with the base model over runs and items; a column is one item, shared by the suite's runs.

    `asked` includes runs in which nothing was graded.
    """
    rows = [row for row, *_ in runs]
    clusters = next((own for *_, own in runs if own), None)
    width = max(map(len, rows), default=0)
    table: Floats = np.array([[*row, *[np.nan] * (width - len(row))] for row in rows], dtype=np.float64)
    if not rows:
        return None
    return compare([table], tests, GAP, clusters=[clusters], least=least, asked=asked * width)


def pass_at_k(gains: Sequence[float]) -> list[BestOfRuns]:
    """Return the expected improvement of the best of k runs, for all k (Agent² RL-Bench, table 10).

    It is the mean over all choices of k runs, which does not favour large k; `success` is the chance that one of them improves.
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
    """Return (spent, mean, minimum, maximum) best improvement over the runs with a score, as steps."""
    curves = [line for line in lines if line]
    if not curves:
        return []
    points: list[tuple[float, float, float, float]] = []
    for at in sorted({at for line in curves for at, _ in line}):
        values = [next((v for when, v in reversed(line) if when <= at), 0.0) for line in curves]
        points.append((at, float(np.mean(values)), min(values), max(values)))
    return points


def _shortcuts(groups: Groups) -> list[Shortcut]:
    """Return the agents whose gains on static tasks do not transfer to interactive ones (table 13, last row)."""
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
