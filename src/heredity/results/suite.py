"""Results of a suite, as its metrics.json holds them: every evolver on every taskset, compared in pairs."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field, SerializeAsAny

from heredity.results.base import SCHEMA_VERSION, Interval, MissingBounds, Result, Unknown
from heredity.results.coverage import COVERAGE
from heredity.results.run import RunStatus, Verdict
from heredity.results.selection import SelectionRow
from heredity.results.sequence import Scale, Sequential


class Unit(StrEnum):
    """What a claim takes as its sample: runs, for evolvers in general; cases, for the candidates that runs ended with."""

    RUN = "run"
    CASE = "case"


class Entry(Result):
    """One line of the leaderboard.

    Attributes:
        evolver: its label; a reference has the name that `SuiteResults.reference` gives, and where conditions differ its own.
        kind: `"method"`, `"agent"` or `"reference"`.
        rank_score: mean over tasksets of 1 (first) to 0 (last, and where it has no score or all its runs failed); None where that
            is so everywhere. `family_scores` inside each family.
        rank_score_at_best: what it would be, had the entry come first wherever it has no score.
        group_scores: mean normalised score in each group (0: the reference, 1: the best evolver of a taskset); 0 where it has none.
        wins: tasksets in which it is first; `top2`: first or second.
        tasksets: those in which it has a score that is ranked; `absent`: in which it has none, or all its runs failed.
        rank: place on the leaderboard, 1 for the best; None without a rank score.
        iqm: interquartile mean of normalised scores.
        p_best: how probable it is that the entry leads, over what chance may draw: seeds, cases, and tasksets where there are
            six or more; those who share the lead share it.
        spread_unknown: why `p_best` and the intervals of rank, rank score and interquartile mean are None, where they are.
        failed: how many of its runs failed.
        exit_codes: of the agents of its runs that ended with an error, distinct, in order.
        unspent: episodes of the budget that its runs left; None where it is not counted in episodes, and for the reference.
    """

    evolver: str
    kind: str | None
    reference: bool
    rank_score: float | None
    rank_score_at_best: float | None
    family_scores: dict[str, float | None]
    group_scores: dict[str, float | None]
    wins: int
    top2: int
    tasksets: int
    absent: int
    runs: int
    iqm: float | None
    iqm_ci: Interval | None
    rank: int | None = None
    rank_ci: Interval | None = None
    rank_score_ci: Interval | None = None
    p_best: float | None = None
    spread_unknown: Unknown | None = None
    failed: int = 0
    exit_codes: list[int] = Field(default_factory=list[int])
    unspent: int | None = None


class ProfilePoint(Result):
    """Share of runs whose normalised score is greater than `above`, and its pointwise interval, None where it is not known."""

    above: float
    share: float
    ci: Interval | None


class Profile(Result):
    """The performance profile of an evolver (Agarwal et al. 2021): the higher, the better; it ends at 0."""

    evolver: str
    points: list[ProfilePoint]


class CellSeed(Result):
    """Held-out mean of one run of a cell."""

    seed: int | None
    run_id: str | None
    mean: float


class CellResults(Result):
    """One evolver, or the reference, on one taskset over all seeds.

    Attributes:
        against: the reference of its own conditions; None if unknown, or for a reference. `reference_mean` is that one's mean.
        mean: over seeds of the held-out means; `ci` its interval over what `ci_unit` says, None where `ci_unknown` says why.
        if_missing: bounds of the mean over what is missing; None where nothing is.
        rank: 1 for the best; equals share the better rank; None where nothing is ranked. `rank_score` in [0, 1], None for a single
            entry.
        failed: whether all its runs failed: the mean is of what they had submitted before, and it has no rank.
        normalised: 0 for the reference, 1 for the best evolver, both under the cell's conditions.
        cases: held-out scores that are not missing.
        clusters: how many clusters of cases, such as documents, the interval takes for the sample; None where cases are by
            themselves.
    """

    evolver: str
    reference: bool
    against: str | None
    reference_mean: float | None
    mean: float
    ci: Interval | None
    ci_unit: Unit
    rank: int | None
    rank_score: float | None
    normalised: float | None
    seeds: list[CellSeed]
    cases: int
    missing: int
    failures: int
    ci_unknown: Unknown | None = None
    if_missing: MissingBounds | None = None
    clusters: int | None = None
    failed: bool = False


class FurtherResults(Result):
    """What else runs on a taskset are compared with, such as doing nothing, and whether the best evolver is better.

    Attributes:
        name: what it is called.
        mean: its held-out mean; `ci` over cases.
        best: the evolver with the best held-out mean.
        difference: that one's held-out mean less this one's, paired by case, with its interval `difference_ci`.
        p_holm: corrected for all such tests of the suite.
        verdict: of the best evolver, at 0.2% over runs, at 5% over cases: see `unit`; `because` as of a `Claim`.
    """

    name: str
    mean: float
    ci: Interval | None
    best: str
    difference: float
    difference_ci: Interval | None
    unit: Unit
    p_holm: float | None
    verdict: Verdict
    because: Unknown | None = None


class TasksetResults(Result):
    """All cells of one taskset, best first.

    Attributes:
        reference_mean: None if unknown, or where runs have several conditions, each with a reference of its own.
        further: what else runs are compared with; nothing of it is ranked.
        absent: evolvers without a held-out score.
    """

    taskset: str
    family: str
    group: str
    reference_mean: float | None
    best_mean: float | None
    entries: int
    cells: list[CellResults]
    further: list[FurtherResults] = Field(default_factory=list[FurtherResults])
    absent: list[str]


class Claim(Result):
    """What a difference says of one sample; interval, p and detectable effect come from one model and never contradict each other.

    Attributes:
        unit: what is taken as a sample: runs, for what the evolvers do; cases, for the candidates that these runs ended with.
        ci: interval of the difference; None where it cannot be estimated.
        p: two-sided, not corrected; `p_holm` corrected for the family of tests; None where there is no test.
        mde: minimum detectable effect at 80% power, after the correction.
        verdict: `"cannot tell yet"` of evolvers with fewer than six paired runs, which no exact test tells apart at 5%, or with
            fewer than three on one of fewer than six tasksets; of a suite that is run seed after seed, where nothing is decided; of
            cases that are drawn together in fewer than six clusters; where fewer scores are known than `SuiteResults.coverage`.
        because: why the verdict is `"cannot tell yet"`, where it is and where something is missing that could be had.
        always_valid: whether interval and p hold at every stopping time, of a suite that was looked at after every seed.
        clusters: how many clusters of cases, such as documents, stood for the cases; None where every case is by itself.
    """

    unit: Unit
    ci: Interval | None
    p: float | None
    p_holm: float | None
    mde: float | None
    verdict: Verdict
    always_valid: bool = False
    clusters: int | None = None
    because: Unknown | None = None


class Comparison(Result):
    """`a` against `b`, paired by taskset, seed and case; positive differences favour `a`.

    Attributes:
        evolvers: what it says of the evolvers: of new runs with new seeds, on new cases.
        candidates: what it says of the candidates that these runs ended with, on new cases.
        pairs: paired runs; `cases`: paired held-out cases; `unpaired`: cases that only one side has.
        probability_of_improvement: that a run of `a` beats one of `b`; its interval is None with too few runs to tell evolvers
            apart.
    """

    a: str
    b: str
    scale: Scale
    difference: float
    evolvers: Claim
    candidates: Claim
    pairs: int
    cases: int
    unpaired: int
    probability_of_improvement: float | None
    probability_of_improvement_ci: Interval | None = None


class TasksetComparison(Comparison):
    """A comparison on one taskset."""

    taskset: str


class Comparisons(Result):
    """Comparisons over the whole suite, and on each taskset."""

    suite: list[Comparison]
    tasksets: list[TasksetComparison]


class EditRate(Result):
    """Edits of a kind, how many raised the best validation mean, and their share."""

    n: int
    hits: int
    rate: float | None


class EditsRow(Result):
    """Edits of one evolver in one group of tasksets."""

    group: str
    evolver: str
    synthesis: EditRate
    parametric: EditRate
    rollbacks: int
    retests: int


class FeaturesRow(Result):
    """Mean features of the programs that an evolver's runs ended with, in one group; `runs` counts those that have any."""

    group: str
    evolver: str
    runs: int
    functions: float | None
    branches: float | None
    loops: float | None
    state: float | None
    lines: float | None


class BudgetRow(Result):
    """What an evolver's runs used together; a sum is None where a part of it is unknown."""

    evolver: str
    runs: int
    episodes: int | None
    used: int
    submissions: int
    rejected: int
    episodes_per_submission: float | None
    wall_seconds: float | None
    resumes: int
    input_tokens: int | None
    cache_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None


class UnfinishedRun(Result):
    """A run that did not finish, or whose evolver failed, for the reason `why`."""

    run_id: str | None
    taskset: str | None
    seed: int | None
    status: RunStatus
    why: str = ""


class AbsentRun(Result):
    """A taskset and seed of the suite's grid for which an evolver has no held-out score."""

    taskset: str | None
    seed: int | None


class Problems(Result):
    """What failed or is missing of one evolver's runs."""

    evolver: str
    failed_submissions: int
    failed_episodes: int
    missing_episodes: int
    heldout_failures: int
    heldout_missing: int
    unfinished: list[UnfinishedRun]
    absent: list[AbsentRun]


class SuiteResults(Result):
    """Results of a suite: the content of its metrics.json.

    Attributes:
        protocol: the rules of its runs, by name; `part` is what that protocol has of its own.
        reference: what the reference is called in all tables.
        runs: how many there are; `finished`: how many of them finished.
        confidence: of all intervals, such as 0.95.
        conditions: keys of the configuration in which its runs differ and on which scores hang; labels have them, and each run is
            compared with the reference of its own.
        coverage: the share of scores of both sides that every verdict asks for; of runs that differ in it, the greatest.
        ranked: whether evolvers are compared; if not, `unranked_because` says why, and there are no ranks, intervals and verdicts.
        evolvers: their labels; where a name occurs with several options, those that differ are in the label.
        leaderboard: best first.
        sequential: of a suite that is run seed after seed until a question is decided; then only its answer, and what is marked
            `always_valid`, holds.
        profiles: of the evolvers, in the order of the leaderboard; those without a normalised score have none.
    """

    schema_version: int = SCHEMA_VERSION
    protocol: str | None
    reference: str
    suite_id: str | None
    runs: int
    finished: int
    confidence: float
    conditions: list[str]
    coverage: float = COVERAGE
    ranked: bool
    unranked_because: str | None
    evolvers: list[str]
    leaderboard: list[Entry]
    profiles: list[Profile]
    tasksets: list[TasksetResults]
    comparisons: Comparisons
    edits: list[EditsRow]
    features: list[FeaturesRow]
    selection: list[SelectionRow]
    budget: list[BudgetRow]
    problems: list[Problems]
    sequential: Sequential | None = None
    part: SerializeAsAny[Result] | None = None
