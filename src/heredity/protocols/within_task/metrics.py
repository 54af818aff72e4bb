"""Results of evolution within tasks, from the journal of a run and from the results of a suite's runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from heredity.analysis.contract import CommonMetrics, RunEvidence, SuiteEvidence
from heredity.analysis.paired import compare_cases, holm, verdict
from heredity.analysis.samples import GAP, SHARE, Clusters
from heredity.analysis.statistics import case_mean
from heredity.analysis.suite_table import table_of
from heredity.protocols.within_task.events import WITHIN_JUDGED
from heredity.protocols.within_task.programs import (
    TaskAccount,
    accounts_of,
    language_rows,
    pooled,
    program_noise,
    program_rows,
)
from heredity.protocols.within_task.results import (
    ArmRow,
    Contrast,
    CurveRow,
    EntryLanguageRow,
    TaskRow,
    WithinRow,
    WithinRun,
    WithinSuite,
)
from heredity.results.base import Result
from heredity.results.run import RunResults

ONE_SHOT, EVOLVED, BEST_OF_K = "one-shot", "evolved", "best-of-k"
MODEL = "gateway.execution"
Scores = Sequence[float | None]


@dataclass(frozen=True)
class WithinMetrics(CommonMetrics):
    """Metrics of evolution within tasks."""

    run_part: type[Result] | None = WithinRun
    suite_part: type[Result] | None = WithinSuite
    reference: str = ONE_SHOT

    def of_run(self, evidence: RunEvidence) -> WithinRun | None:
        """Return the results of the tasks so far."""
        record = evidence.record
        started = cast("Mapping[str, Any]", record.started)
        settings: Mapping[str, Any] = started.get("within") or {}
        accounts = accounts_of(evidence.events)
        if not settings or not accounts:
            return None
        limit, (asked, clusters) = int(settings["rounds"]), _judged(evidence)
        by_task = {account.task: account for account in accounts}
        accounts = [by_task.get(task) or TaskAccount(task) for task in range(max(asked, max(by_task) + 1))]
        rows = [_task(account, limit) for account in accounts]
        arms = _arms(rows, accounts, clusters)
        pairs = [(arm.name, [r.final for r in rows], _scores(rows, arm.name)) for arm in arms if arm.name != EVOLVED]
        judged = list(WITHIN_JUDGED.all(evidence.events))
        ratios = {name: _ratio(accounts, name) for name in ("tokens", "calls")}
        return WithinRun(
            optimizer=str((started.get("evolver") or {}).get("method")),
            mode=settings["mode"],
            feedback=settings["feedback"],
            oracle=bool(started.get("oracle")),
            limit=limit,
            tasks=rows,
            curve=[_curve(rows, accounts, number, clusters) for number in range(limit + 1)],
            arms=arms,
            contrasts=contrasts([(over, [after], [before], clusters) for over, after, before in pairs]),
            changes={**Counter(row.change for row in rows), "slipped": sum(row.slipped for row in rows)},
            programs=program_rows(judged, limit),
            languages=language_rows(judged),
            program_noise=program_noise(judged),
            token_ratio=ratios["tokens"],
            call_ratio=ratios["calls"],
        )

    def of_suite(self, evidence: SuiteEvidence) -> WithinSuite | None:
        """Return a row per evolver and taskset, paired by task and averaged over its runs."""
        groups: dict[tuple[str, str], list[RunResults]] = {}
        for run, label in zip(evidence.runs, evidence.labels, strict=True):
            if isinstance(run.part, WithinRun):
                groups.setdefault((label, run.taskset or ""), []).append(run)
        rows = [_row(label, taskset, runs, ranked=evidence.ranked) for (label, taskset), runs in groups.items()]
        languages = [row for (label, taskset), runs in groups.items() for row in _languages(label, taskset, runs)]
        return WithinSuite(rows=_corrected(rows), languages=languages) if rows else None


def contrasts(
    asked: Sequence[tuple[str, Sequence[Scores], Sequence[Scores], Clusters | None]], *, ranked: bool = True
) -> list[Contrast]:
    """Return the gains of the first scores over the second, each paired by task, tested together.

    Args:
        asked: the baseline, the scores after and before of each run (runs of equal tasks), and the clusters of tasks.
        ranked: True to compute intervals, tests and verdicts.
    """
    made: list[Contrast] = []
    for over, after, before, clusters in asked:
        gaps = table_of(after) - table_of(before)
        compared = compare_cases([gaps], len(asked), GAP, clusters=[clusters])
        if compared is None:
            continue
        paired = np.isfinite(gaps)
        mark = float(table_of(before)[paired].mean())
        made.append(
            Contrast(
                over=over,
                difference=compared.difference,
                percent=100.0 * compared.difference / mark if mark > 0 else None,
                ci=compared.interval if ranked else None,
                p=compared.p if ranked else None,
                p_holm=None,
                mde=compared.mde if ranked else None,
                pairs=compared.cases,
                clusters=compared.clusters,
                verdict=verdict(compared.difference, compared.p, untold=compared.untold) if ranked else None,
                because=compared.untold if ranked else None,
            )
        )
    return _holm(made)


def _holm(family: Sequence[Contrast]) -> list[Contrast]:
    """Return contrasts with p-values corrected over all of them, and the resulting verdicts."""
    return [
        one.model_copy(update={"p_holm": p, "verdict": verdict(one.difference, p, untold=one.because)})
        if one.verdict is not None
        else one
        for one, p in zip(family, holm([one.p for one in family]), strict=True)
    ]


def _corrected(rows: Sequence[WithinRow]) -> list[WithinRow]:
    corrected = iter(_holm([one for row in rows for one in row.contrasts]))
    return [row.model_copy(update={"contrasts": [next(corrected) for _ in row.contrasts]}) for row in rows]


def _row(label: str, taskset: str, runs: Sequence[RunResults], *, ranked: bool) -> WithinRow:
    parts = [run.part for run in runs if isinstance(run.part, WithinRun)]
    part, clusters = parts[0], runs[0].heldout.clusters if runs[0].heldout else None
    scores = {name: [_scores(p.tasks, name) for p in parts] for name in (ONE_SHOT, EVOLVED, BEST_OF_K)}
    named = [name for name in (ONE_SHOT, BEST_OF_K) if any(s is not None for one in scores[name] for s in one)]
    asked = [(name, scores[EVOLVED], scores[name], clusters) for name in named]
    alike = len({tuple(row.task for row in p.tasks) for p in parts}) == 1
    return WithinRow(
        evolver=label,
        method=part.optimizer,
        model=runs[0].conditions.get(MODEL),
        taskset=taskset,
        mode=part.mode,
        feedback=part.feedback,
        oracle=any(p.oracle for p in parts),
        runs=len(parts),
        programs=any(p.programs for p in parts),
        one_shot=_mean([s for one in scores[ONE_SHOT] for s in one]),
        evolved=_mean([s for one in scores[EVOLVED] for s in one]),
        best_of_k=_mean([s for one in scores[BEST_OF_K] for s in one]),
        token_ratio=_mean([p.token_ratio for p in parts]),
        lost=sum(p.changes.get("lost", 0) for p in parts),
        slipped=sum(p.changes.get("slipped", 0) for p in parts),
        contrasts=contrasts(asked, ranked=ranked) if alike else [],
    )


def _languages(label: str, taskset: str, runs: Sequence[RunResults]) -> list[EntryLanguageRow]:
    parts = [run.part for run in runs if isinstance(run.part, WithinRun)]
    rows = [row for part in parts for row in part.languages]
    return [
        EntryLanguageRow(
            language=language,
            arm=arm,
            **pooled([row for row in rows if (row.language, row.arm) == (language, arm)]),
            evolver=label,
            taskset=taskset,
            model=runs[0].conditions.get(MODEL),
            oracle=any(part.oracle for part in parts),
            runs=len(parts),
        )
        for language, arm in dict.fromkeys((row.language, row.arm) for row in rows)
    ]


def _task(account: TaskAccount, limit: int) -> TaskRow:
    rounds = [account.score_after(number) for number in range(limit + 1)]
    first, final, samples = account.first, account.final, account.samples
    return TaskRow(
        task=account.task,
        first=first,
        rounds=rounds,
        answered=[_answered(account, number) for number in range(limit + 1)],
        final=final,
        best_of_k=account.best_of_k,
        samples=samples["taken"] if samples else None,
        change=change(first, final),
        slipped=any(map(_right, rounds)) and not _right(final),
        ended=account.why,
        **account.used(),
        sample_tokens=samples["tokens"] if samples else None,
    )


def change(first: float | None, final: float | None) -> str:
    """Return the change of a task: first right and finally wrong is `lost`, regardless of rounds between."""
    if first is None or final is None:
        return "missing"
    return ("kept" if _right(final) else "lost") if _right(first) else "repaired" if _right(final) else "never"


def _answered(account: TaskAccount, number: int) -> float | None:
    given = [p for p in account.proposals if p["round"] == number and p["submit_id"] is not None]
    return account.score(given[-1]["submit_id"]) if given else None


def _right(score: float | None) -> bool:
    return score is not None and score >= 1.0


def _curve(
    rows: Sequence[TaskRow], accounts: Sequence[TaskAccount], number: int, clusters: Clusters | None
) -> CurveRow:
    used = [account.used(number) for account in accounts]
    played = sum(any(p["round"] == number for p in account.proposals) for account in accounts)
    estimate = _estimate([row.rounds[number] for row in rows], clusters)
    return CurveRow(round=number, open=played, **estimate, **_means(used))


def _arms(rows: Sequence[TaskRow], accounts: Sequence[TaskAccount], clusters: Clusters | None) -> list[ArmRow]:
    samples = [account.samples for account in accounts if account.samples]
    used: dict[str, list[Mapping[str, Any]]] = {
        ONE_SHOT: [account.used(0) for account in accounts],
        EVOLVED: [account.used() for account in accounts],
        BEST_OF_K: [{**sample} for sample in samples],
    }
    return [
        ArmRow(
            name=name,
            right=sum(map(_right, _scores(rows, name))),
            **_estimate(_scores(rows, name), clusters),
            **_means(costs),
        )
        for name, costs in used.items()
        if name != BEST_OF_K or samples
    ]


def _means(costs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {key: _mean_or_unknown([used[key] for used in costs]) for key in ("tokens", "calls", "cost_usd")}


def _scores(rows: Sequence[TaskRow], name: str) -> list[float | None]:
    field = {ONE_SHOT: "first", EVOLVED: "final", BEST_OF_K: "best_of_k"}[name]
    return [getattr(row, field) for row in rows]


def _estimate(scores: Scores, clusters: Clusters | None) -> dict[str, Any]:
    scored = [s for s in scores if s is not None]
    estimate = case_mean([table_of([scores])], bounds=SHARE, clusters=[clusters]) if scored else None
    return {
        "n": len(scored),
        "mean": _mean(scores),
        "ci": estimate.interval if estimate else None,
        "ci_unknown": estimate.unknown if estimate else None,
    }


def _ratio(accounts: Sequence[TaskAccount], name: str) -> float | None:
    both: list[tuple[Any, Any]] = [({**a.samples}[name], a.used()[name]) for a in accounts if a.samples]
    if not both or any(mine is None or theirs is None for mine, theirs in both):
        return None
    rounds = sum(theirs for _, theirs in both)
    return sum(mine for mine, _ in both) / rounds if rounds else None


def _mean(scores: Scores) -> float | None:
    scored = [s for s in scores if s is not None]
    return sum(scored) / len(scored) if scored else None


def _mean_or_unknown(values: Sequence[float | None]) -> float | None:
    figures = [v for v in values if v is not None]
    return sum(figures) / len(figures) if figures and len(figures) == len(values) else None


def _judged(evidence: RunEvidence) -> tuple[int, Clusters | None]:
    """Return the number of tasks of a judged run, and their clusters; 0 for a run that is not judged."""
    selected = evidence.record.selected
    digest = selected["candidate"] if selected else None
    scored = evidence.record.scored.get(("heldout", digest)) if digest is not None else None
    return (len(scored["scores"]), scored.get("clusters")) if scored else (0, None)


METRICS = WithinMetrics()
