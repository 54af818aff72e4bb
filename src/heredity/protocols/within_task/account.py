"""The account of each task, compiled from the journal afterwards: answers, commits, and their true scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from heredity.models.contract import Usage
from heredity.protocols.within_task.events import (
    WITHIN_ENDED,
    WITHIN_PROPOSED,
    WITHIN_SAMPLED,
    WithinProposed,
    WithinSampled,
)
from heredity.records import Event
from heredity.records.events import SUBMISSION_COMPLETED
from heredity.results.status import Status

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
