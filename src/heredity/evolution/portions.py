"""Trials of more episodes than one submission may have, shared out to several; of fewer, filled up.

A method asks for what it needs; how much one submission may hold is the protocol's matter.

    session = Portions(session, least=1, most=128)
    (feedback,) = await session.submit([Trial(candidate, range(500))], "wide")   # four submissions of 125
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from heredity.evolution.contract import Batch, Budget, Decision, Feedback, SessionContract, Trial
from heredity.resources import Candidate
from heredity.results.status import Status

_MOST_TRIALS = 1000
"""Trials of one request (see `heredity.judging.admission`)."""


class Portions:
    """A session whose trials may have any number of episodes.

    Args:
        session: where they are attempted.
        least: the fewest episodes of one submission; a trial of fewer is filled up with its own tasks, again from the first, and
            what comes of those is left out of its feedback.
        most: the most.
    """

    def __init__(self, session: SessionContract, least: int, most: int) -> None:
        self._session, self._least, self._most = session, least, most
        self._submissions: dict[int, tuple[int, ...]] = {}

    async def submit(self, trials: Sequence[Trial], key: str) -> list[Feedback]:
        """Attempt trials, as the session does; the feedback of one that was shared out has the number of its first submission."""
        shares = [_shared(trial, self._least, self._most) for trial in trials]
        asked = [part for share in shares for part in share]
        answers: list[Feedback] = []
        for start in range(0, len(asked), _MOST_TRIALS):
            parts = asked[start : start + _MOST_TRIALS]
            answers += await self._session.submit(parts, f"{key}/{start}" if start else key)
        remaining = iter(answers)
        return [
            self._joined(list(itertools.islice(remaining, len(share))), len(trial.tasks) * trial.repeats)
            for trial, share in zip(trials, shares, strict=True)
        ]

    def remaining(self) -> Budget:
        """Return what is left of the budget."""
        return self._session.remaining()

    async def commit(self, decision: Decision, candidate: Candidate | None = None) -> Decision:
        """Put a decision on record; its evidence is every submission that its trials were shared out to."""
        numbers = [all_of for one in decision.submissions for all_of in self._submissions.get(one, (one,))]
        return await self._session.commit(replace(decision, submissions=tuple(dict.fromkeys(numbers))), candidate)

    def batches(self) -> AsyncIterator[Batch]:
        """Return the batches of the run's schedule."""
        return self._session.batches()

    def _joined(self, answers: Sequence[Feedback], episodes: int) -> Feedback:
        first = answers[0]
        self._submissions[first.submit_id] = tuple(answer.submit_id for answer in answers)
        worst = next((answer for answer in answers if answer.status != Status.OK), first)
        outcomes = tuple(outcome for answer in answers for outcome in answer.outcomes)[:episodes]
        return replace(first, status=worst.status, failure=worst.failure, outcomes=outcomes)


def _shared(trial: Trial, least: int, most: int) -> list[Trial]:
    """Return trials of the sizes that are allowed, nearly equal, that have all episodes of a trial."""
    count = len(trial.tasks) * trial.repeats
    if least <= count <= most or not count:
        return [trial]
    parts = -(-count // most)
    tasks = itertools.cycle(trial.tasks)
    # Of parts that are too small, and of one alone that is, each is filled up.
    sizes = [max(least, count // parts + (i < count % parts)) for i in range(parts)]
    return [replace(trial, tasks=tuple(itertools.islice(tasks, size)), repeats=1) for size in sizes]
