"""Splits trials that exceed the size limit of a submission, and pads those below the minimum.

Methods request any number of episodes; the protocol limits the size of a submission.

    session = Portions(session, least=1, most=128)
    (feedback,) = await session.submit([Trial(candidate, range(500))], "wide")   # four submissions of 125
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from heredity.methods.contract import Batch, Budget, Decision, Feedback, SessionContract, Trial
from heredity.resources import Candidate
from heredity.results.status import Status

_MOST_TRIALS = 1000
"""Trials of one request (see `heredity.session.admission`)."""


class Portions:
    """A session whose trials may have any number of episodes.

    Args:
        session: the session that runs them.
        least: minimum number of episodes of one submission. A smaller trial is padded with its tasks, again from the
            first; its feedback omits the results of the padding.
        most: maximum number of episodes of one submission.
    """

    def __init__(self, session: SessionContract, least: int, most: int) -> None:
        self._session, self._least, self._most = session, least, most
        self._submissions: dict[int, tuple[int, ...]] = {}

    async def submit(self, trials: Sequence[Trial], key: str) -> list[Feedback]:
        """Run trials as the session does; the feedback of a split trial has the number of its first submission."""
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
        """Return the remaining budget."""
        return self._session.remaining()

    async def commit(self, decision: Decision, candidate: Candidate | None = None) -> Decision:
        """Record a decision; its evidence includes all submissions that its trials were split into."""
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
    """Split a trial into trials of allowed, nearly equal sizes that cover all its episodes."""
    count = len(trial.tasks) * trial.repeats
    if least <= count <= most or not count:
        return [trial]
    parts = -(-count // most)
    tasks = itertools.cycle(trial.tasks)
    # Parts that are still too small are padded.
    sizes = [max(least, count // parts + (i < count % parts)) for i in range(parts)]
    return [replace(trial, tasks=tuple(itertools.islice(tasks, size)), repeats=1) for size in sizes]
