"""Programs by round: the columns of table 6 of Autogenesis, for all tasks and by language, difficulty and tag.

Measurements of the program committed after each round are looked up afterwards in the records of the rollouts. Tasks without a
judge of programs have none.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from heredity.analysis.samples import SHARE, Clusters
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
from heredity.protocols.within_task.results import LanguageRow, ProgramNoise, ProgramRow
from heredity.records import Event
from heredity.records.events import SUBMISSION_COMPLETED
from heredity.results.status import Status
from heredity.session.bench import Bench, Evolved
from heredity.tasks import Task

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
