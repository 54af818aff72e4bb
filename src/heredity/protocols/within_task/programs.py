"""Results of evolution within tasks, and programs by round: the columns of table 6 of Autogenesis.

Measurements of the program committed after each round are looked up afterwards in the records of the rollouts (for all
tasks, and by language, difficulty and tag). Tasks without a judge of programs have none.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from heredity.analysis.contract import CommonMetrics, RunEvidence, SuiteEvidence
from heredity.analysis.paired import compare_cases, holm, verdict
from heredity.analysis.samples import GAP, SHARE, Clusters
from heredity.analysis.statistics import case_mean
from heredity.analysis.suite_table import table_of
from heredity.engine.trajectory import Trajectory, decode_many
from heredity.methods.operators.evidence import last_info
from heredity.models.contract import Usage
from heredity.protocols.within_task.events import (
    WITHIN_ENDED,
    WITHIN_JUDGED,
    WITHIN_PROPOSED,
    WITHIN_SAMPLED,
    JudgedProgram,
    RankedProgram,
    WithinJudged,
    WithinProposed,
    WithinSampled,
)
from heredity.protocols.within_task.results import (
    ArmRow,
    Contrast,
    CurveRow,
    EntryLanguageRow,
    LanguageRow,
    ProgramNoise,
    ProgramRow,
    TaskRow,
    WithinRow,
    WithinRun,
    WithinSuite,
)
from heredity.records import Event
from heredity.records.events import SUBMISSION_COMPLETED
from heredity.results.base import Result
from heredity.results.run import RunResults
from heredity.results.status import Status
from heredity.session.bench import Bench, Evolved
from heredity.tasks import Task

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
        limit, (asked, clusters) = int(settings["rounds"]), _judged_tasks(evidence)
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
        rows = [_within_row(label, taskset, runs, ranked=evidence.ranked) for (label, taskset), runs in groups.items()]
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


def _within_row(label: str, taskset: str, runs: Sequence[RunResults], *, ranked: bool) -> WithinRow:
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
        one_shot=_mean_score([s for one in scores[ONE_SHOT] for s in one]),
        evolved=_mean_score([s for one in scores[EVOLVED] for s in one]),
        best_of_k=_mean_score([s for one in scores[BEST_OF_K] for s in one]),
        token_ratio=_mean_score([p.token_ratio for p in parts]),
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
        "mean": _mean_score(scores),
        "ci": estimate.interval if estimate else None,
        "ci_unknown": estimate.unknown if estimate else None,
    }


def _ratio(accounts: Sequence[TaskAccount], name: str) -> float | None:
    both: list[tuple[Any, Any]] = [({**a.samples}[name], a.used()[name]) for a in accounts if a.samples]
    if not both or any(mine is None or theirs is None for mine, theirs in both):
        return None
    rounds = sum(theirs for _, theirs in both)
    return sum(mine for mine, _ in both) / rounds if rounds else None


def _mean_score(scores: Scores) -> float | None:
    scored = [s for s in scores if s is not None]
    return sum(scored) / len(scored) if scored else None


def _mean_or_unknown(values: Sequence[float | None]) -> float | None:
    figures = [v for v in values if v is not None]
    return sum(figures) / len(figures) if figures and len(figures) == len(values) else None


def _judged_tasks(evidence: RunEvidence) -> tuple[int, Clusters | None]:
    """Return the number of tasks of a judged run, and their clusters; 0 for a run that is not judged."""
    selected = evidence.record.selected
    digest = selected["candidate"] if selected else None
    scored = evidence.record.scored.get(("heldout", digest)) if digest is not None else None
    return (len(scored["scores"]), scored.get("clusters")) if scored else (0, None)


METRICS = WithinMetrics()


_NOTHING = Usage(0, 0, 0, 0.0)


@dataclass
class TaskAccount:
    """The account of one task.

    Attributes:
        task: its index.
        proposals: its answers and failed proposals, by round, stage and draw.
        why: why its rounds ended; "" while they continue.
        samples: the samples bought with the same tokens; None without any.
        scores: submission number to the true scores of its outcomes, null where missing.
        statuses: submission number to the statuses of its outcomes.
    """

    task: int
    proposals: list[WithinProposed] = field(default_factory=list[WithinProposed])
    why: str = ""
    samples: WithinSampled | None = None
    scores: Mapping[int, Sequence[float | None]] = field(default_factory=dict[int, "Sequence[float | None]"])
    statuses: Mapping[int, Sequence[str]] = field(default_factory=dict[int, "Sequence[str]"])

    def score(self, submit_id: int | None, outcome: int = 0) -> float | None:
        """Return the true score of an answer; None if it is missing."""
        listed = self.scores.get(submit_id, ()) if submit_id is not None else ()
        return listed[outcome] if outcome < len(listed) else None

    def committed(self, until: int | None = None) -> WithinProposed | None:
        """Return the last commit up to the end of a round."""
        accepted = [p for p in self.proposals if p["accepted"] and (until is None or p["round"] <= until)]
        return accepted[-1] if accepted else None

    def score_after(self, number: int) -> float | None:
        """Return the true score of the commit after a round; 0 is the first answer."""
        committed = self.committed(number)
        return self.score(committed["submit_id"]) if committed else None

    @property
    def first(self) -> float | None:
        """The true score of the first answer."""
        return self.score_after(0)

    @property
    def final(self) -> float | None:
        """The true score of the last commit."""
        committed = self.committed()
        return self.score(committed["submit_id"]) if committed else None

    @property
    def best_of_k(self) -> float | None:
        """The true score of the chosen sample."""
        return self.score(self.samples["submit_id"], self.samples["chosen"]) if self.samples else None

    @property
    def candidate(self) -> str:
        """Digest of the last commit; "" for none."""
        committed = self.committed()
        return committed["candidate"] if committed else ""

    @property
    def committed_status(self) -> str:
        """Status of the rollout of the last commit."""
        committed = self.committed()
        return committed["status"] if committed else Status.MISSING

    def used(self, until: int | None = None) -> Mapping[str, Any]:
        """Return tokens, calls and cost up to the end of a round; an unknown part makes its sum None."""
        parts = [p for p in self.proposals if until is None or p["round"] <= until]
        usage = sum((Usage(p["tokens"], 0, 0, p["cost_usd"]) for p in parts), _NOTHING)
        return {"tokens": usage.tokens, "calls": sum(p["calls"] for p in parts), "cost_usd": usage.cost_usd}


def accounts_of(events: Iterable[Event | Mapping[str, Any]]) -> list[TaskAccount]:
    """Return the account of every started task, in order."""
    events = list(events)
    made = {data["submit_id"]: data for data in SUBMISSION_COMPLETED.all(events)}
    scores = {number: [_finite(outcome["score"]) for outcome in data["outcomes"]] for number, data in made.items()}
    statuses = {number: [str(outcome["status"]) for outcome in data["outcomes"]] for number, data in made.items()}
    accounts: dict[int, TaskAccount] = {}

    def account(task: int) -> TaskAccount:
        return accounts.setdefault(task, TaskAccount(task, scores=scores, statuses=statuses))

    places = {(p["task"], p["round"], p["stage"], p["draw"]): p for p in WITHIN_PROPOSED.all(events)}
    for position in sorted(places):
        account(position[0]).proposals.append(places[position])
    for ended in WITHIN_ENDED.all(events):
        account(ended["task"]).why = ended["why"]
    for sampled in WITHIN_SAMPLED.all(events):
        account(sampled["task"]).samples = sampled
    return [accounts[task] for task in sorted(accounts)]


def _finite(score: float | None) -> float | None:
    return score if score is not None and math.isfinite(score) else None


VERDICTS = ("PR", "TLE", "MLE", "CE", "RE", "WA", "TO", "RpE")
"""The verdicts of table 6, in its order."""

_RANK = ("arb", "amb", "arb_range", "amb_range", "among", "transferred", "seconds", "noise")


async def journal_programs(bench: Bench, evolved: Evolved, accounts: Sequence[TaskAccount], limit: int) -> None:
    """Journal the measurements of each task's programs, unless they are recorded or the tasks have none."""
    view, blobs = bench.view("heldout"), {s.submit_id: s.blob for s in evolved.submissions}

    def judged(submit_id: int | None, outcome: int = 0) -> JudgedProgram | None:
        blob = blobs.get(submit_id) if submit_id is not None else None
        trajectories = decode_many(bench.records.blobs.get(blob)) if blob else []
        return _judged(trajectories[outcome]) if outcome < len(trajectories) else None

    for task, account in zip(view.tasks, accounts, strict=True):
        committed = [account.committed(number) for number in range(limit + 1)]
        rounds = [judged(one["submit_id"]) if one else None for one in committed]
        if any(rounds) and bench.recorded(WITHIN_JUDGED, task=task.index) is None:
            data: WithinJudged = {"task": task.index, "attributes": _attributes(task), "rounds": rounds}
            if account.samples:
                data["sample"] = judged(account.samples["submit_id"], account.samples["chosen"])
            await bench.records.commit([WITHIN_JUDGED.line(data)])


def _judged(trajectory: Trajectory) -> JudgedProgram | None:
    judgement, rank = last_info(trajectory, "judgement"), last_info(trajectory, "rank")
    if not isinstance(judgement, Mapping):
        verdict = last_info(trajectory, "verdict")
        return {"verdict": verdict, "passed": 0, "cases": 0, "cpu_s": 0.0, "peak_bytes": 0} if verdict else None
    names = ("verdict", "passed", "cases", "cpu_s", "peak_bytes")
    program = cast("JudgedProgram", _pick(judgement, names))
    if isinstance(rank, Mapping):
        program["rank"] = cast("RankedProgram", _pick(rank, _RANK))
    return program


def _pick(values: Any, names: Sequence[str]) -> dict[str, Any]:
    return {name: values[name] for name in names}


def _attributes(task: Task) -> dict[str, str]:
    return {str(name): str(value) for name, value in task.attributes.items()}


def program_rows(judged: Iterable[WithinJudged], limit: int) -> list[ProgramRow]:
    """Return the rows of all tasks and of each language, difficulty and tag, by round."""
    tasks = list(judged)
    groups: dict[tuple[str, str], list[WithinJudged]] = {("all", ""): tasks} if tasks else {}
    for of, name in (("language", "language"), ("difficulty", "difficulty"), ("tag", "tags")):
        for task in tasks:
            for value in filter(None, task["attributes"].get(name, "").split(", ")):
                groups.setdefault((of, value), []).append(task)
    return [_row(of, value, number, own) for (of, value), own in groups.items() for number in range(limit + 1)]


def _row(of: str, value: str, number: int, tasks: Sequence[WithinJudged]) -> ProgramRow:
    return ProgramRow(of=of, value=value, round=number, **_figures([(t, t["rounds"][number]) for t in tasks]))


def language_rows(judged: Iterable[WithinJudged]) -> list[LanguageRow]:
    """Return the rows of each language: one-shot, best-of-k if there are samples, and evolved."""
    tasks = list(judged)
    rows: list[LanguageRow] = []
    for language in dict.fromkeys(task["attributes"].get("language", "") for task in tasks):
        own = [task for task in tasks if task["attributes"].get("language", "") == language]
        arms = {
            "one-shot": [(task, task["rounds"][0]) for task in own],
            "best-of-k": [(task, task["sample"]) for task in own if "sample" in task],
            "evolved": [(task, task["rounds"][-1]) for task in own],
        }
        rows += [
            LanguageRow(language=language, arm=arm, **_figures(programs)) for arm, programs in arms.items() if programs
        ]
    return rows


def _figures(programs: Sequence[tuple[WithinJudged, JudgedProgram | None]]) -> dict[str, Any]:
    written = [(task, program) for task, program in programs if program is not None]
    accepted = [program for _, program in written if program["verdict"] == "PR"]
    ranks = [program["rank"] for program in accepted if "rank" in program]
    clusters: Clusters = [task["attributes"].get("cluster") for task, _ in written]
    passes = [[float(program["verdict"] == "PR") for _, program in written]]
    estimate = case_mean([table_of(passes)], bounds=SHARE, clusters=[clusters]) if written else None
    return {
        "n": len(written),
        "verdicts": {name: sum(program["verdict"] == name for _, program in written) for name in VERDICTS},
        "share": sum(passes[0]) / len(written) if written else None,
        "ci": estimate.interval if estimate else None,
        "ar_ms": _mean([1000.0 * program["cpu_s"] for program in accepted]),
        "am_mb": _mean([program["peak_bytes"] / 2**20 for program in accepted]),
        "apc": _mean([float(program["passed"]) for _, program in written]),
        "arb": _mean([rank["arb"] for rank in ranks]),
        "amb": _mean([rank["amb"] for rank in ranks]),
        "ranked": len(ranks),
    }


def pooled(rows: Sequence[LanguageRow]) -> dict[str, Any]:
    """Return the combined figures of several runs: verdicts are added up, means weighted by their counts."""
    counts = {name: sum(row.verdicts[name] for row in rows) for name in VERDICTS}
    n, accepted = [row.n for row in rows], [row.verdicts["PR"] for row in rows]
    placed = [row.ranked for row in rows]
    return {
        "n": sum(n),
        "verdicts": counts,
        "share": counts["PR"] / sum(n) if sum(n) else None,
        "ci": rows[0].ci if len(rows) == 1 else None,
        "ar_ms": _weighted([row.ar_ms for row in rows], accepted),
        "am_mb": _weighted([row.am_mb for row in rows], accepted),
        "apc": _weighted([row.apc for row in rows], n),
        "arb": _weighted([row.arb for row in rows], placed),
        "amb": _weighted([row.amb for row in rows], placed),
        "ranked": sum(placed),
    }


def _weighted(means: Sequence[float | None], weights: Sequence[int]) -> float | None:
    weighted = [(mean, weight) for mean, weight in zip(means, weights, strict=True) if mean is not None and weight]
    return sum(m * w for m, w in weighted) / sum(w for _, w in weighted) if weighted else None


def program_noise(judged: Iterable[WithinJudged]) -> ProgramNoise | None:
    """Return the stability of times and ranks of the last commits; None if no program has a rank."""
    last = [task["rounds"][-1] for task in judged]
    ranks = [program["rank"] for program in last if program is not None and "rank" in program]
    if not ranks:
        return None
    times = [(max(rank["seconds"]) - min(rank["seconds"])) / statistics.median(rank["seconds"]) for rank in ranks]
    arb, amb = (
        [high - low for low, high in ranges]
        for ranges in ([r["arb_range"] for r in ranks], [r["amb_range"] for r in ranks])
    )
    noises = [noise for rank in ranks if (noise := rank["noise"])]
    return ProgramNoise(
        ranks=len(ranks),
        time_typical=statistics.median(times),
        time_furthest=max(times),
        arb_typical=statistics.median(arb),
        arb_furthest=max(arb),
        amb_typical=statistics.median(amb),
        amb_furthest=max(amb),
        moved_time=_mean([noise["time"]["moved"] for noise in noises]),
        moved_memory=_mean([noise["memory"]["moved"] for noise in noises]),
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
