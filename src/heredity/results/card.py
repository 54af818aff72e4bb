"""Card of a claim: the reported results of a run or a suite, the data to verify them, and the checks made."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from heredity.results.base import Interval, Result, Times
from heredity.results.run import RunStatus

CARD_VERSION = 1


class CheckStatus(StrEnum):
    """Result of a check; a check that could not be made does not pass."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_CHECKED = "not checked"


class Check(Result):
    """One check of a claim.

    Attributes:
        name: name of the check, such as `"journal"`.
        run: the run checked; None for the suite as a whole.
        reason: the finding, or why there is none.
    """

    name: str
    run: str | None
    status: CheckStatus
    reason: str


class Replayed(Result):
    """Part of a run that was made again: `equal` and `different` of `recorded`, the others exempt or not drawn.

    Attributes:
        what: `"candidates"`, whose rollouts were played again, or `"methods"`.
        split: for candidates, the view or `"train"`; else empty.
        exempt: why some could not be compared, with their number. They are not a pass.
    """

    what: str
    run: str | None
    split: str
    recorded: int
    equal: int
    different: int
    exempt: dict[str, int]


class Figure(Result):
    """Claimed figure with its 95% interval, over `n` samples if known."""

    name: str
    value: float | None
    ci: Interval | None
    n: int | None


class RunCard(Result):
    """Claims of a run.

    Attributes:
        commitment: commitment to its hidden cases, from the start of its journal.
        head: head of the journal's chain, after `events` events.
        packages: versions of packages that can change a score.
        candidates: digests of all submitted candidates, in the order of their first submission.
        selected: digest of the final candidate.
        figures: held-out mean, that of the reference, and the gain.
        times: start, end and duration.
        organisation: who ran it (`run.organisation`); None if not configured.
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
    times: Times | None = None
    organisation: str | None = None


class Card(Result):
    """Card of a claim, as in card.json.

    Attributes:
        heredity: version that made it.
        figures: for a suite: held-out means of each evolver on each taskset, and interquartile means over all.
        checks: checks made; empty before `heredity verify`.
        organisation: that of its runs; None if they differ.
        higher_is_better: direction of all figures that are scores.
        replays: parts that were made again; empty without `--replay`.
        unproven: claims that could not be checked, where `--strict` asks for them.
    """

    schema_version: int = CARD_VERSION
    heredity: str
    figures: list[Figure]
    runs: list[RunCard]
    checks: list[Check]
    organisation: str | None = None
    higher_is_better: bool = True
    replays: list[Replayed] = Field(default_factory=list["Replayed"])
    unproven: list[str] = Field(default_factory=list[str])
