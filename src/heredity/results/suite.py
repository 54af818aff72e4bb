"""Results of a suite, as in its metrics.json: every evolver on every taskset, compared in pairs."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import Field, SerializeAsAny

from heredity.results.base import COVERAGE, SCHEMA_VERSION, Interval, MissingBounds, Result, Times, Unknown
from heredity.results.run import RunStatus, SelectionRow, Verdict


class Component(Result):
    """Variance component as a standard deviation, with its interval and its share of the variance of one score."""

    sd: float
    ci: Interval
    share: float | None


class ComponentsRow(Result):
    """Variance components of scores.

    Attributes:
        taskset: the taskset; None for the mean over tasksets, in normalised scores.
        entry: entry with these scores; with `against`, of paired differences.
        seed: between seeds of the evolver; `case`: between held-out cases.
        residual: seed x case, plus the variance of one rollout: each case is run once, with a policy seed that the
            case fixes.
        note: why they are unknown; "" if they are known.
    """

    taskset: str | None
    entry: str
    against: str | None
    scale: Scale
    seeds: int
    cases: int
    seed: Component | None
    case: Component | None
    residual: Component | None
    note: str


class Amount(Result):
    """Cost (None is unknown, as is any sum with an unknown part).

    Attributes:
        rollouts: train, validation and held-out.
        seconds: wall time of evolvers, plus that of judging summed over rollouts.
        tokens: input and output of all models.
        cost_usd: US dollars.
    """

    rollouts: float | None
    seconds: float | None
    tokens: float | None
    cost_usd: float | None


class Design(Result):
    """Number of seeds and held-out cases.

    Attributes:
        cases: held-out cases on each taskset.
        seeds: smallest number that reaches the power (None if none does, as the variance between cases is too large).
        power: power with these, given the estimated components.
        power_ci: its 95% interval, given the pilot's precision; for the cheapest design of the first aim.
        cost: cost of both entries on all tasksets.
        cheapest: whether it is the cheapest of its aim.
    """

    cases: int
    seeds: int | None
    power: float | None
    power_ci: Interval | None
    cost: Amount | None
    cheapest: bool


class Aim(Result):
    """Difference to detect, and the designs that detect it."""

    effect: float
    designs: list[Design]


class Plan(Result):
    """Plan to distinguish two entries.

    Attributes:
        a: an entry; `b` the other one.
        tasksets: the tasksets; differences are means over them.
        scale: unit of effects.
        power: power that a design reaches; `level` of the test before the correction for `tests` of them.
        pilot_seeds: paired seeds of the pilot, on the taskset with the fewest; `pilot_cases` likewise.
        clustered: whether cases were drawn in clusters: then every case here is a cluster of the pilot's mean size.
        detectable: smallest difference that a suite of the pilot's size detects, with at least the seeds that a
            test needs.
        aims: the first is the requested one.
        curves: for each number of cases of the first aim, (seeds, power).
        components: of single entries and of paired differences, on each taskset and over all.
        cost_per_seed: of both entries on all tasksets, without held-out cases; `cost_per_case` of one held-out
            case for one seed.
    """

    a: str
    b: str
    tasksets: list[str]
    scale: Scale
    power: float
    level: float
    tests: int
    pilot_seeds: int
    pilot_cases: int
    detectable: float
    aims: list[Aim]
    curves: dict[int, list[tuple[int, float]]]
    components: list[ComponentsRow]
    cost_per_seed: Amount
    cost_per_case: Amount
    clustered: bool = False


class Scale(StrEnum):
    """Scale of a difference: the taskset's scores, or normalised ones."""

    RETURN = "return"
    NORMALISED = "normalised"


class Stop(StrEnum):
    """Reason to stop: the question is decided, or the maximum number of seeds was reached."""

    DECIDED = "decided"
    MOST_SEEDS = "most seeds"


class SeedLook(Result):
    """Result after a seed.

    Attributes:
        seed: the last seed run.
        pairs: seeds for which both entries have a score on every taskset.
        difference: `a` minus `b`; None without a pair.
        ci: interval of the confidence sequence, in which all hold simultaneously; None while it is unbounded.
        p: valid at every stopping time.
    """

    seed: int
    pairs: int
    difference: float | None
    ci: Interval | None
    p: float | None


class Sequential(Result):
    """Suite that adds seeds until a question is decided (`heredity run --until`).

    Attributes:
        a: an entry; `b` the one it is compared with.
        scale: scale of differences: the taskset's scores, or normalised ones over several tasksets.
        level: of the test (it holds for any number of looks).
        most_seeds: maximum number of seeds.
        looks: one after each seed.
        stopped: why it ended; None while it runs.
    """

    a: str
    b: str
    scale: Scale
    level: float
    most_seeds: int
    looks: list[SeedLook]
    stopped: Stop | None


class Unit(StrEnum):
    """Sample of a claim: runs, for evolvers in general; cases, for the final candidates of runs."""

    RUN = "run"
    CASE = "case"


class Entry(Result):
    """One line of the leaderboard.

    Attributes:
        evolver: its label. A reference has the name in `SuiteResults.reference`, or a separate one per condition.
        kind: `"method"`, `"agent"` or `"reference"`.
        rank_score: mean over tasksets of 1 (first) to 0 (last, without a score, or all runs failed); None if one of the
            latter two applies everywhere. `family_scores` inside each family.
        rank_score_at_best: its value if the entry were first wherever it has no score.
        group_scores: mean normalised score in each group (0: the reference, 1: the best evolver of a taskset); 0
            without a score.
        wins: tasksets in which it is first; `top2`: first or second.
        tasksets: those in which it has a ranked score; `absent`: without a score, or all its runs failed.
        rank: place on the leaderboard, 1 for the best (None without a rank score).
        iqm: interquartile mean of normalised scores.
        p_best: probability that the entry leads under resampling of seeds, cases, and tasksets if there are six or
            more; leaders that tie share it.
        spread_unknown: why `p_best` and the intervals of rank, rank score and interquartile mean are None, if they
            are.
        failed: number of its failed runs.
        exit_codes: of its agents that ended with an error, distinct, in order.
        unspent: episodes of the budget that its runs left; None if it is not counted in episodes, and for the
            reference.
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
    """Share of runs whose normalised score is greater than `above`, and its pointwise interval, None if unknown."""

    above: float
    share: float
    ci: Interval | None


class Profile(Result):
    """Performance profile of an evolver (Agarwal et al. 2021): higher is better; it ends at 0."""

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
        against: the reference under its conditions; None if unknown, or for a reference. `reference_mean` is that
            one's mean.
        mean: over seeds of the held-out means; `ci` its interval over the sample `ci_unit`, None for the reason
            `ci_unknown`.
        if_missing: bounds of the mean over missing scores; None if none is missing.
        rank: 1 for the best; ties share the better rank; None if nothing is ranked. `rank_score` in [0, 1], None for a
            single entry.
        failed: whether all its runs failed: the mean is of earlier submissions, and it has no rank.
        normalised: 0 for the reference, 1 for the best evolver, both under the cell's conditions.
        cases: held-out scores that are not missing.
        clusters: number of clusters of cases, such as documents, that the interval samples; None if cases are single.
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
    """Further baseline of a taskset, such as the null action, and whether the best evolver is better.

    Attributes:
        name: its name.
        mean: its held-out mean; `ci` over cases.
        best: the evolver with the best held-out mean.
        difference: held-out mean of `best` minus `mean`, paired by case, with its interval `difference_ci`.
        p_holm: corrected for all such tests of the suite.
        verdict: of the best evolver, at 0.2% over runs, at 5% over cases: see `unit`; `because` as in a `Claim`.
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
        reference_mean: None if unknown, or if runs have several conditions, each with a separate reference.
        further: further baselines, which are not ranked.
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
    """Difference on one sample; interval, p and detectable effect come from one model and never contradict each other.

    Attributes:
        unit: the sample: runs, for the evolvers; cases, for the final candidates of these runs.
        ci: interval of the difference, at 95% or, after a correction for several tests, more, so that it leaves out 0
            if and only if the verdict is better or worse; None if it cannot be estimated.
        freedom: degrees of freedom of that interval, of Student's t; None without one.
        p: two-sided, not corrected; `p_holm` corrected for the family of tests; None without a test.
        mde: minimum detectable effect at 80% power, after the correction.
        verdict: `"cannot tell yet"` for evolvers with fewer than four paired runs (five against a mark) on a single
            taskset, or than six in all on several, or fewer than three on one of fewer than six tasksets; if the
            seeds of one evolver all agree and scores have no bounds; for an undecided sequential suite; for fewer
            than six clusters of cases; for a smaller share of known scores than `SuiteResults.coverage`.
        because: reason for the verdict `"cannot tell yet"` if something that can be supplied is missing.
        more_seeds: about how many further seeds of each entry, on each taskset, would find a difference of the size
            seen, four times in five; None for candidates, for a verdict of better or worse, and where it is unknown.
        always_valid: whether interval and p hold at every stopping time, for a sequential suite.
        clusters: number of clusters of cases, such as documents, in the sample (None if every case is single).
    """

    unit: Unit
    ci: Interval | None
    freedom: float | None = None
    p: float | None
    p_holm: float | None
    mde: float | None
    verdict: Verdict
    always_valid: bool = False
    clusters: int | None = None
    because: Unknown | None = None
    more_seeds: int | None = None

    @property
    def turned(self) -> Claim:
        """The same claim about the difference the other way round."""
        opposite = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}.get(self.verdict, self.verdict)
        return self.model_copy(update={"ci": _mirrored(self.ci, 0.0), "verdict": opposite})


def _mirrored(interval: Interval | None, at: float) -> Interval | None:
    return None if interval is None else (at - interval[1], at - interval[0])


class Comparison(Result):
    """`a` against `b`, paired by taskset, seed and case; positive differences favour `a`.

    Attributes:
        evolvers: claim about the evolvers: new runs with new seeds, on new cases.
        candidates: claim about the final candidates of these runs, on new cases.
        pairs: paired runs; `cases`: paired held-out cases; `unpaired`: cases that only one side has.
        more_cost: cost of `evolvers.more_seeds` of both entries on all tasksets, without held-out cases, by the runs
            on record; None if no number of seeds is known.
        probability_of_improvement: probability that a run of `a` beats one of `b`; its interval is None with too
            few runs to distinguish evolvers.
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
    more_cost: Amount | None = None

    @property
    def verdict(self) -> Verdict:
        """The comparison of `a` with `b` as evolvers."""
        return self.evolvers.verdict

    @property
    def interval(self) -> Interval | None:
        """Interval of the difference between the evolvers; None where it cannot be estimated."""
        return self.evolvers.ci

    @property
    def p(self) -> float | None:
        """Two-sided p-value of the evolvers' difference, not corrected; None without a test."""
        return self.evolvers.p

    def seen_from(self, name: str) -> Self:
        """Return the comparison with the entry of that name as `a`."""
        if name == self.a:
            return self
        better = self.probability_of_improvement
        turned = {
            "a": self.b,
            "b": self.a,
            "difference": -self.difference,
            "evolvers": self.evolvers.turned,
            "candidates": self.candidates.turned,
            "probability_of_improvement": None if better is None else 1 - better,
            "probability_of_improvement_ci": _mirrored(self.probability_of_improvement_ci, 1.0),
        }
        return self.model_copy(update=turned)


class TasksetComparison(Comparison):
    """Comparison on one taskset."""

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
    """Mean features of the final programs of an evolver's runs, in one group; `runs` counts those with features."""

    group: str
    evolver: str
    runs: int
    functions: float | None
    branches: float | None
    loops: float | None
    state: float | None
    lines: float | None


class BudgetRow(Result):
    """Usage of an evolver's runs together; a sum with an unknown part is None."""

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
    """Run that did not finish, or whose evolver failed, for the reason `why`."""

    run_id: str | None
    taskset: str | None
    seed: int | None
    status: RunStatus
    why: str = ""


class AbsentRun(Result):
    """Taskset and seed of the suite's grid for which an evolver has no held-out score."""

    taskset: str | None
    seed: int | None


class Problems(Result):
    """Failures and missing results of one evolver's runs."""

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
        protocol: name of the protocol; `part` is its part of the results.
        reference: name of the reference in all tables.
        runs: number of runs; `finished`: number of finished runs.
        confidence: of all intervals, such as 0.95.
        conditions: keys of the configuration that differ between runs and affect all scores; labels include them, and
            each run is compared with the reference under its conditions.
        coverage: minimum share of scores of both sides for a verdict; the greatest value if runs differ.
        ranked: whether evolvers are compared; if not, `unranked_because` says why, and ranks, intervals and
            verdicts are missing.
        evolvers: their labels; if a name occurs with several options, the label has those that differ.
        leaderboard: best first.
        sequential: for a sequential suite; then only its answer, and anything marked `always_valid`, is valid.
        profiles: of the evolvers, in the order of the leaderboard; those without a normalised score have none.
        times: from the first start of a run to the last end; no end while one lasts.
        organisation: who ran it; None if not configured, or if its runs differ.
        higher_is_better: direction of all scores.
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
    times: Times | None = None
    organisation: str | None = None
    higher_is_better: bool = True
    part: SerializeAsAny[Result] | None = None
