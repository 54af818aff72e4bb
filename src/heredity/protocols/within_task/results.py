"""The typed part of evolution within tasks in results: tasks, curves over rounds, arms, and what evolution gained over them."""

from __future__ import annotations

from heredity.results.base import Interval, Result, Unknown
from heredity.results.run import Verdict


class TaskRow(Result):
    """A task.

    Attributes:
        task: its index. Scores are true ones, from 0 to 1, looked up after the fact; null where missing.
        first: of the first answer, which is one-shot.
        rounds: of what was committed after each round, the first answer at the front.
        answered: of the last answer that each round gave, committed or not; null where it gave none.
        final: of what was committed last, by what could be seen.
        best_of_k: of the sample that was chosen likewise; `samples`: of how many.
        change: `kept` (right first and last), `repaired`, `lost` (right first, wrong last), `never`, or `missing`.
        slipped: whether what was committed was right once and is wrong in the end.
        ended: why the rounds ended; "" if they did not.
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
    """What was committed after a round, over tasks; `open` is how many tasks played the round, the other figures are means."""

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
    """One way to answer the tasks, `one-shot`, `evolved` or `best-of-k`: mean score, tasks that are right, means for a task."""

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
    """The columns of table 6 of Autogenesis, of some programs.

    Attributes:
        n: how many programs.
        verdicts: how many have each verdict; `share` of `PR` with its interval over problems.
        ar_ms, am_mb: of accepted programs, mean processor time on the slowest case and mean peak memory.
        apc: mean number of cases passed before the first that is failed.
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
    """Programs that were committed after a round: `of` all, or a language, difficulty or tag, `value`."""

    of: str
    value: str
    round: int


class LanguageRow(ProgramFigures):
    """Programs of an `arm` in a `language`: `one-shot`, `evolved` or `best-of-k` (Autogenesis, table 3)."""

    language: str
    arm: str


class EntryLanguageRow(LanguageRow):
    """The same of one evolver on one taskset in a suite, over its `runs`; the interval is there for a single run."""

    evolver: str
    taskset: str
    model: str | None
    oracle: bool
    runs: int


class ProgramNoise(Result):
    """How steady times and ranks of a run's accepted programs are.

    Attributes:
        ranks: how many programs have a rank.
        time_typical, time_furthest: of a program's times in single repeats, greatest less least, over their median: the median of
            programs and the most.
        arb_typical, arb_furthest: how far single repeats put a program's rank apart, in percent points; `amb_…` likewise.
        moved_time, moved_memory: in what share of repeats a stored solution has another place by time, or by memory; a mean over
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
    """What evolution gained over another arm, paired by task; positive is better.

    `percent` is of the other arm's mean, null where that is 0. `p_holm` is corrected for the contrasts that stand together.
    Interval, tests and verdict are null where nothing is ranked.
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
        optimizer, mode, feedback: as configured; `oracle` says that the agent saw ground truth.
        limit: most rounds.
        changes: how many tasks were `kept`, `repaired`, `lost`, `never`, `missing`, and how many `slipped`.
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
    """One evolver on one taskset in a suite, over its runs (Autogenesis, table 1); fields as in `WithinRun` and `ArmRow`.

    `programs` says that a judge of programs checked the answers.
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
