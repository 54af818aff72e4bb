"""The card of a claim: what a run or a suite says that it came to, by which it can be held to it, and what was checked."""

from __future__ import annotations

from enum import StrEnum

from heredity.results.base import Interval, Result
from heredity.results.run import RunStatus

CARD_VERSION = 1


class CheckStatus(StrEnum):
    """What a check came to; what could not be checked is no pass."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_CHECKED = "not checked"


class Check(Result):
    """One check of a claim.

    Attributes:
        name: what was checked, such as `"journal"`.
        run: of which run; None of the suite as a whole.
        reason: what was found, or why nothing was.
    """

    name: str
    run: str | None
    status: CheckStatus
    reason: str


class Figure(Result):
    """A figure that is claimed, with its 95% interval, over `n` samples where that is known."""

    name: str
    value: float | None
    ci: Interval | None
    n: int | None


class RunCard(Result):
    """What a run is held to.

    Attributes:
        commitment: to its hidden cases, as its journal began with.
        head: of the journal's chain, after so many `events`.
        packages: versions of what can change a score.
        candidates: digests of all that were submitted, in the order of their first submission.
        selected: digest of the one that it ended with.
        figures: held-out mean, that of the reference, and the gain.
    """

    run_id: str | None
    suite_id: str | None
    protocol: str | None
    status: RunStatus
    taskset: str | None
    taskset_version: str | None
    isolation: str | None
    packages: dict[str, str] | None
    config_digest: str | None
    commitment: str | None
    head: str
    events: int
    candidates: list[str]
    selected: str | None
    figures: list[Figure]


class Card(Result):
    """The card of a claim, as card.json holds it.

    Attributes:
        heredity: the version that made it.
        figures: of a suite: held-out means of each evolver on each taskset, and interquartile means over all.
        checks: what was checked; empty until `heredity verify` is asked.
    """

    schema_version: int = CARD_VERSION
    heredity: str
    figures: list[Figure]
    runs: list[RunCard]
    checks: list[Check]
