"""A session's accounts: what has been spent, and what a method that is run again is to see of it."""

from __future__ import annotations

from collections.abc import Iterable

from heredity.evolution import Budget
from heredity.gateway import Usage
from heredity.judging.budget import BudgetLedger
from heredity.judging.session_log import SessionLog, Submission
from heredity.records import Event
from heredity.records.events import MODEL_CALLED


class Accounts:
    """The ledger of a session, twice: as it is, and as its evolver sees it.

    The two differ while a deterministic method is resumed: it starts again from the beginning, and must see the budget
    that it saw the first time.
    """

    def __init__(self, budget: Budget, log: SessionLog, events: Iterable[Event], *, replay: bool) -> None:
        """Open the accounts with what the journal says was spent."""
        self._true = BudgetLedger(budget)
        self._true.charge(log.episodes, len(log.submissions))
        for submission in log.submissions.values():
            self._true.use(submission.usage or Usage(0, 0, 0, 0.0))
        for call in MODEL_CALLED.all(events):
            if call["usage"] is not None:
                self._true.use(Usage(**call["usage"]))
        self._shown = BudgetLedger(budget) if replay else self._true
        self._paid = set[int]() if replay else {s.submit_id for s in log.submissions.values() if s.status is not None}

    def left(self, clock_s: float) -> Budget:
        """Return what is left."""
        return self._true.remaining(clock_s)

    def seen(self, clock_s: float) -> Budget:
        """Return what is left as the evolver is to see it."""
        return self._shown.remaining(clock_s)

    def buy(self, episodes: int, submissions: int) -> None:
        """Spend episodes and submissions.

        Raises:
            BudgetError: if they are not covered; nothing is spent.
        """
        self._true.charge(episodes, submissions)
        self.show(episodes, submissions)

    def show(self, episodes: int, submissions: int) -> None:
        """Let the evolver see an earlier purchase that it has asked for again."""
        if self._shown is not self._true:
            self._shown.charge(episodes, submissions)

    def pay(self, usage: Usage, *, fresh: bool) -> None:
        """Count what a model call used; one that is not fresh was counted in an earlier process.

        Raises:
            ConfigError: as `BudgetLedger.use`.
        """
        if fresh:
            self._true.use(usage)
        if self._shown is not self._true:
            self._shown.use(usage)

    def pay_for(self, submission: Submission, *, fresh: bool) -> None:
        """Count once what the model calls of a submission's attempts used."""
        if submission.usage is not None and submission.submit_id not in self._paid:
            self._paid.add(submission.submit_id)
            self.pay(submission.usage, fresh=fresh)
