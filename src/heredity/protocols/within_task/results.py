"""Result types of evolution within tasks: tasks, curves over rounds, arms, and gains of evolution over them."""

from __future__ import annotations

from heredity.results.base import Interval, Result, Unknown
from heredity.results.run import Verdict


class TaskRow(Result):
    """A task; scores are true ones, from 0 to 1, looked up afterwards, and null where missing.

    Attributes:
        task: its index.
        first: score of the first answer, which is one-shot.
        rounds: score of the commit after each round, starting with the first answer.
        answered: score of each round's last answer, committed or not; null without an answer.
        final: score of the last commit, by visible feedback.
        best_of_k: score of the chosen sample; `samples`: number of samples.
        change: `kept` (right first and last), `repaired`, `lost` (right first, wrong last), `never`, or `missing`.
        slipped: True if a commit was right once but the last one is wrong.
        ended: why the rounds ended; "" while they continue.
        tokens, calls, cost_usd: of all rounds; `sample_tokens`: of the samples.
    """

    task: int
    first: float | None
    rounds: list[float | None]
    answered: list[float | None]
    final: float | None
    best_of_k: float | None
    samples: int | None
    change: str
    slipped: bool
    ended: str
    tokens: int | None
    calls: int
    cost_usd: float | None
    sample_tokens: int | None


class CurveRow(Result):
    """Commits after a round, over tasks; `open` is the number of tasks that played the round, the other figures are means."""

    round: int
    n: int
    open: int
    mean: float | None
    ci: Interval | None
    ci_unknown: Unknown | None = None
    tokens: float | None
    calls: float | None
    cost_usd: float | None


class ArmRow(Result):
    """One way to answer the tasks, `one-shot`, `evolved` or `best-of-k`: mean score, right answers, means per task."""

    name: str
    n: int
    right: int
    mean: float | None
    ci: Interval | None
    ci_unknown: Unknown | None = None
    tokens: float | None
    calls: float | None
    cost_usd: float | None


class ProgramFigures(Result):
    """The columns of table 6 of Autogenesis, for a set of programs.

    Attributes:
        n: number of programs.
        verdicts: number by verdict; `share` of `PR` with its interval over problems.
        ar_ms, am_mb: for accepted programs, mean CPU time on the slowest case and mean peak memory.
        apc: mean number of cases passed (before the first failed one).
        arb, amb: mean percent of a problem's stored solutions that take more time, or memory, than an accepted program; `ranked` of
            them have a rank.
    """

    n: int
    verdicts: dict[str, int]
    share: float | None
    ci: Interval | None
    ar_ms: float | None
    am_mb: float | None
    apc: float | None
    arb: float | None
    amb: float | None
    ranked: int


class ProgramRow(ProgramFigures):
    """Programs committed after a round: `of` all, or of one language, difficulty or tag, `value`."""

    of: str
    value: str
    round: int


class LanguageRow(ProgramFigures):
    """Programs of an `arm` in a `language`: `one-shot`, `evolved` or `best-of-k` (Autogenesis, table 3)."""

    language: str
    arm: str


class EntryLanguageRow(LanguageRow):
    """The same for one evolver on one taskset of a suite, over its `runs`; the interval is for single runs only."""

    evolver: str
    taskset: str
    model: str | None
    oracle: bool
    runs: int


class ProgramNoise(Result):
    """Stability of times and ranks of a run's accepted programs.

    Attributes:
        ranks: number of programs with a rank.
        time_typical, time_furthest: spread of a program's times over repeats (maximum minus minimum, over the median): median over
            programs, and maximum.
        arb_typical, arb_furthest: spread of a program's rank over repeats, in percentage points; `amb_…` likewise.
        moved_time, moved_memory: share of repeats in which a stored solution changes place by time, or by memory; mean over
            programs.
    """

    ranks: int
    time_typical: float
    time_furthest: float
    arb_typical: float
    arb_furthest: float
    amb_typical: float
    amb_furthest: float
    moved_time: float | None
    moved_memory: float | None


class Contrast(Result):
    """Gain of evolution over another arm, paired by task; positive is better.

    `percent` is relative to the other arm's mean, null where that is 0. `p_holm` is corrected over the contrasts shown together.
    Interval, tests and verdict are null if nothing is ranked.
    """

    over: str
    difference: float
    percent: float | None
    ci: Interval | None
    p: float | None
    p_holm: float | None
    mde: float | None
    pairs: int
    clusters: int | None
    verdict: Verdict | None
    because: Unknown | None


class WithinRun(Result):
    """The part of evolution within tasks in a run's results.

    Attributes:
        optimizer, mode, feedback: as configured; `oracle` is true if the agent saw ground truth.
        limit: maximum rounds.
        changes: number of tasks `kept`, `repaired`, `lost`, `never`, `missing`, and `slipped`.
        token_ratio: tokens of the samples over those of the rounds; null where unknown, `call_ratio` likewise.
    """

    optimizer: str
    mode: str
    feedback: str
    oracle: bool
    limit: int
    tasks: list[TaskRow]
    curve: list[CurveRow]
    arms: list[ArmRow]
    contrasts: list[Contrast]
    changes: dict[str, int]
    programs: list[ProgramRow]
    languages: list[LanguageRow]
    program_noise: ProgramNoise | None
    token_ratio: float | None
    call_ratio: float | None


class WithinRow(Result):
    """One evolver on one taskset of a suite, over its runs (Autogenesis, table 1); fields as in `WithinRun` and `ArmRow`.

    `programs` is true if a judge of programs checked the answers.
    """

    evolver: str
    method: str
    model: str | None
    taskset: str
    mode: str
    feedback: str
    oracle: bool
    runs: int
    programs: bool
    one_shot: float | None
    evolved: float | None
    best_of_k: float | None
    token_ratio: float | None
    lost: int
    slipped: int
    contrasts: list[Contrast]


class WithinSuite(Result):
    """The part of evolution within tasks in a suite's results."""

    rows: list[WithinRow]
    languages: list[EntryLanguageRow]
