"""How evolution within tasks is judged: what was recorded of each answer is read once the session is closed; nothing is attempted.

The result is the score of what was committed last, by what the agent could see. What it is compared with is the first answer of the
same run, and the samples that the same tokens bought.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from heredity.errors import HostError
from heredity.ids import digest_json
from heredity.judging.bench import Bench, Evolved, Reference, Verdict, conclude, require
from heredity.judging.session_log import score_to_json
from heredity.judging.views import ViewScores, clusters_of
from heredity.protocols.within_task.account import TaskAccount, accounts_of
from heredity.protocols.within_task.programs import journal_programs
from heredity.records import Blob
from heredity.records.events import JUDGING_SCORED, JUDGING_SELECTED, REFERENCE_SCORED, JudgingScored, ReferenceScored
from heredity.resources import Candidate

ONE_SHOT = "one-shot"
BEST_OF_K = "best-of-k"


async def judge(
    bench: Bench, evolved: Evolved, reference: Reference | None = None, *, initial: Candidate, rounds: int
) -> Verdict:
    """Judge a closed session and finish the run's journal.

    Args:
        bench: what the judge works with.
        evolved: the session; how its evolver ended is kept.
        reference: nothing: a run is compared with its own first answers.
        initial: what answered first.
        rounds: most rounds of a task.

    Raises:
        HostError: if not one task could be answered.
        RecordError: if the disk is full or fails.
    """
    view, events = bench.view("heldout"), bench.records.journal.events
    by_task = {account.task: account for account in accounts_of(events)}
    accounts = [by_task.get(task.index) or TaskAccount(task.index) for task in view.tasks]
    digest = digest_json([account.candidate for account in accounts])
    reason = "of each task, what was committed last by what could be seen"
    await bench.journal_once(JUDGING_SELECTED.line({"submit_id": None, "candidate": digest, "reason": reason}))
    scores = _scores([account.final for account in accounts], [account.committed_status for account in accounts])
    data: JudgingScored = {
        "view": view.name,
        "candidate": digest,
        "submit_id": None,
        **scores.to_json(),
        **clusters_of(view.tasks),
    }
    if all(math.isnan(score) for score in scores.scores):
        raise HostError("not one task could be answered; mend that and start the suite again in another folder")
    await bench.journal_once(JUDGING_SCORED.line(data))
    arms = {ONE_SHOT: [a.first for a in accounts], BEST_OF_K: [a.best_of_k for a in accounts]}
    for name, listed in arms.items():
        if name == ONE_SHOT or any(score is not None for score in listed):
            await _compared_with(bench, name, listed, initial)
    await journal_programs(bench, evolved, accounts, rounds)
    await conclude(bench, evolved.status)
    first = tuple(_number(score) for score in arms[ONE_SHOT])
    return Verdict(evolved.status, None, digest, reason, {}, require(scores, "tasks"), first)


async def _compared_with(bench: Bench, name: str, scores: Sequence[float | None], initial: Candidate) -> None:
    view = bench.view("heldout")
    if bench.recorded(REFERENCE_SCORED, name=name, view=view.name) is not None:
        return
    blob = Blob.of(initial.to_bytes())
    data: ReferenceScored = {
        "name": name,
        "view": view.name,
        "candidate": initial.digest,
        "candidate_blob": blob.digest,
        "scores": [score_to_json(_number(score)) for score in scores],
        **clusters_of(view.tasks),
    }
    await bench.records.commit([REFERENCE_SCORED.line(data)], [blob])


def _scores(scores: Sequence[float | None], statuses: Sequence[str]) -> ViewScores:
    missing = sum(score is None for score in scores)
    return ViewScores(
        scores=tuple(_number(score) for score in scores),
        lengths=(1,) * len(scores),
        statuses=tuple(statuses),
        seconds=0.0,
        why=f"{missing} tasks were not answered" if missing else "",
    )


def _number(score: float | None) -> float:
    return math.nan if score is None else score
