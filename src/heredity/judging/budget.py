"""The budget of a session: bounded supplies, charged exactly and never below zero."""

from __future__ import annotations

from heredity.errors import BudgetError, ConfigError
from heredity.evolution import Budget
from heredity.gateway import Usage
from heredity.gateway.contract import NOTHING_USED


class BudgetLedger:
    """What has been spent of each bounded supply.

    Episodes and submissions are bought before they are used, so they can never be overdrawn. Seconds are not bought:
    they pass, and are told to `remaining` by the run's clock. Tokens and dollars are known only after they were used:
    nothing new is admitted once they are spent, so they can be overdrawn by what was in flight, and by no more.
    """

    def __init__(self, total: Budget) -> None:
        """Start a ledger with nothing spent.

        Raises:
            ConfigError: if a supply is negative.
        """
        for name in ("episodes", "submissions", "tokens", "cost_usd", "seconds"):
            amount = getattr(total, name)
            if amount is not None and amount < 0:
                raise ConfigError(f"the budget's {name} is {amount}; expected 0 or more, or none for no limit")
        self.total = total
        self.episodes = 0
        self.submissions = 0
        self.used = NOTHING_USED

    def check(self, episodes: int, submissions: int) -> None:
        """Check that a purchase is covered.

        Raises:
            BudgetError: if it is not; the message says what is left.
        """
        asked = (("episodes", episodes, self.episodes), ("submissions", submissions, self.submissions))
        for name, amount, used in asked:
            limit: int | None = getattr(self.total, name)
            if limit is not None and used + amount > limit:
                raise BudgetError(f"the request costs {amount} {name} and {limit - used} are left; ask for fewer")

    def charge(self, episodes: int, submissions: int) -> None:
        """Spend episodes and submissions, both or neither.

        Raises:
            BudgetError: if the budget does not cover it; nothing is spent.
        """
        self.check(episodes, submissions)
        self.episodes += episodes
        self.submissions += submissions

    def use(self, usage: Usage) -> None:
        """Count what model calls have used.

        Raises:
            ConfigError: if a bounded supply is used and nobody knows how much: the limit could not be kept.
        """
        used = self.used + usage
        bounds = (("tokens", self.total.tokens, used.tokens), ("cost_usd", self.total.cost_usd, used.cost_usd))
        for name, limit, amount in bounds:
            if limit is not None and amount is None:
                raise ConfigError(
                    f"budget.{name} is {limit}, and the model does not say what a call used; give its prices under"
                    " [gateway.providers], or leave this limit out"
                )
        self.used = used

    def remaining(self, clock_s: float = 0.0) -> Budget:
        """Return what is left when the run's clock shows `clock_s` seconds; never negative."""
        total = self.total
        return Budget(
            episodes=None if total.episodes is None else total.episodes - self.episodes,
            submissions=None if total.submissions is None else total.submissions - self.submissions,
            tokens=None if total.tokens is None else max(0, total.tokens - (self.used.tokens or 0)),
            cost_usd=None if total.cost_usd is None else max(0.0, total.cost_usd - (self.used.cost_usd or 0.0)),
            seconds=None if total.seconds is None else max(0.0, total.seconds - clock_s),
        )
