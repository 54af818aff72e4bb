"""What reports read out of a suite's metrics.json (`docs/file-formats.md`), and out of its runs for the pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from heredity.reports.fields import Json, Mean, count, items, mean_of, numbers, section, words_of
from heredity.reports.model import Run, check_schema
from heredity.reports.terms import Terms, terms_of
from heredity.reports.text import finite, percent, short_task, task_names

VERDICTS = ("better", "worse", "within noise")


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the leaderboard. Rank scores, family scores and normalised scores run from 0 (worst) to 1 (best)."""

    evolver: str
    kind: str
    reference: bool
    rank_score: float | None
    iqm: Mean
    family_scores: Mapping[str, float | None]
    group_scores: Mapping[str, float | None]
    wins: int
    top2: int
    tasksets: int
    absent: int
    runs: int


@dataclass(frozen=True, slots=True)
class Cell:
    """One evolver on one taskset over its seeds: the held-out mean with its interval, on the taskset's own scale."""

    evolver: str
    reference: bool
    score: Mean
    rank: int | None
    rank_score: float | None
    normalised: float | None
    seeds: int
    cases: int
    missing: int
    failures: int


@dataclass(frozen=True, slots=True)
class Place:
    """One taskset of the suite; `cells` best first."""

    taskset: str
    family: str
    group: str
    reference_mean: float | None
    cells: tuple[Cell, ...]
    absent: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A paired comparison of `a` against `b`; a positive difference is in favour of `a`."""

    taskset: str
    a: str
    b: str
    scale: str
    difference: Mean
    p: float | None
    p_holm: float | None
    mde: float | None
    unit: str
    pairs: int
    cases: int
    unpaired: int
    improvement: float | None
    verdict: str

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        if self.verdict == "better":
            return f"{self.a} is better than {self.b}"
        if self.verdict == "worse":
            return f"{self.a} is worse than {self.b}"
        return f"{self.a} and {self.b}: the difference is within noise"


@dataclass(frozen=True, slots=True)
class Troubles:
    """What failed or is missing for one evolver; episodes are counted, `unfinished` and `absent` name runs."""

    evolver: str
    counts: Mapping[str, float | None]
    unfinished: tuple[str, ...]
    absent: tuple[str, ...]

    @property
    def any(self) -> bool:
        """Whether there is anything to tell."""
        return any(self.counts.values()) or bool(self.unfinished or self.absent)


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite's metrics; tables that are only written out again stay JSON (`edits` to `budget`, `learning` to `harness`)."""

    suite_id: str
    run_count: int
    finished: int
    confidence: float
    evolvers: tuple[str, ...]
    leaderboard: tuple[Entry, ...]
    places: tuple[Place, ...]
    overall: tuple[Comparison, ...]
    by_taskset: tuple[Comparison, ...]
    edits: tuple[Json, ...]
    features: tuple[Json, ...]
    budget: tuple[Json, ...]
    problems: tuple[Troubles, ...]
    labels: Mapping[str, str]
    terms: Terms
    learning: Json
    skins: tuple[Json, ...]
    harness: Json
    posttraining: Json

    @property
    def names(self) -> dict[str, str]:
        """Each taskset's short name."""
        return task_names(place.taskset for place in self.places)

    @property
    def leader(self) -> Entry | None:
        """The best entry that is not a reference; None while nothing is scored."""
        return next((e for e in self.leaderboard if not e.reference and e.rank_score is not None), None)

    @property
    def interval_name(self) -> str:
        """What the intervals are, such as `95% interval`."""
        return f"{percent(self.confidence)} interval"

    def verdict_of_leader(self) -> Comparison | None:
        """The suite-wide comparison of the two best entries that are not references, seen from the leader."""
        ranked = [e.evolver for e in self.leaderboard if not e.reference and e.rank_score is not None][:2]
        for found in self.overall:
            if len(ranked) == 2 and {found.a, found.b} == set(ranked):
                return found if found.a == ranked[0] else turned(found)
        return None


def turned(comparison: Comparison) -> Comparison:
    """Return the same comparison seen from the other side."""
    d = comparison.difference
    flip = {"better": "worse", "worse": "better"}
    return replace(
        comparison,
        a=comparison.b,
        b=comparison.a,
        difference=Mean(*(None if v is None else -v for v in (d.value, d.high, d.low))),
        improvement=None if comparison.improvement is None else 1 - comparison.improvement,
        verdict=flip.get(comparison.verdict, comparison.verdict),
    )


def _entry(source: Json) -> Entry:
    return Entry(
        evolver=words_of(source, "evolver", "unknown evolver"),
        kind=words_of(source, "kind"),
        reference=source.get("reference") is True,
        rank_score=finite(source.get("rank_score")),
        iqm=mean_of(source, "iqm", "iqm_ci"),
        family_scores=numbers(section(source, "family_scores")),
        group_scores=numbers(section(source, "group_scores")),
        wins=count(source, "wins"),
        top2=count(source, "top2"),
        tasksets=count(source, "tasksets"),
        absent=count(source, "absent"),
        runs=count(source, "runs"),
    )


def _cell(source: Json) -> Cell:
    rank = finite(source.get("rank"))
    return Cell(
        evolver=words_of(source, "evolver", "unknown evolver"),
        reference=source.get("reference") is True,
        score=mean_of(source),
        rank=None if rank is None else int(rank),
        rank_score=finite(source.get("rank_score")),
        normalised=finite(source.get("normalised")),
        seeds=len(items(source, "seeds")),
        cases=count(source, "cases"),
        missing=count(source, "missing"),
        failures=count(source, "failures"),
    )


def _place(source: Json) -> Place:
    cells = sorted(
        (_cell(c) for c in items(source, "cells")),
        key=lambda c: (c.score.value is None, -(c.score.value or 0.0), c.evolver),
    )
    absent = source.get("absent")
    return Place(
        taskset=words_of(source, "taskset", "unknown taskset"),
        family=words_of(source, "family"),
        group=words_of(source, "group"),
        reference_mean=finite(source.get("reference_mean")),
        cells=tuple(cells),
        absent=tuple(str(name) for name in absent) if isinstance(absent, list | tuple) else (),
    )


def _comparison(source: Json) -> Comparison:
    return Comparison(
        taskset=words_of(source, "taskset"),
        a=words_of(source, "a"),
        b=words_of(source, "b"),
        scale=words_of(source, "scale"),
        difference=mean_of(source, "difference"),
        p=finite(source.get("p")),
        p_holm=finite(source.get("p_holm")),
        mde=finite(source.get("mde")),
        unit=words_of(source, "unit"),
        pairs=count(source, "pairs"),
        cases=count(source, "cases"),
        unpaired=count(source, "unpaired"),
        improvement=finite(source.get("probability_of_improvement")),
        verdict=words_of(source, "verdict"),
    )


def _troubles(source: Json) -> Troubles:
    counted = {k: finite(v) for k, v in source.items() if finite(v) is not None}
    unfinished = [
        f"{words_of(u, 'run_id', 'unnamed run')} ({words_of(u, 'status', 'unfinished')})"
        for u in items(source, "unfinished")
    ]
    absent = [
        f"no score on {short_task(words_of(a, 'taskset'))}, seed {words_of(a, 'seed')}" for a in items(source, "absent")
    ]
    return Troubles(words_of(source, "evolver"), counted, tuple(unfinished), tuple(absent))


def _labels(source: Json) -> dict[str, str]:
    found: dict[str, str] = {}
    for place in items(source, "tasksets"):
        for cell in items(place, "cells"):
            for seed in items(cell, "seeds"):
                found[words_of(seed, "run_id")] = words_of(cell, "evolver")
    for trouble in items(source, "problems"):
        for unfinished in items(trouble, "unfinished"):
            found[words_of(unfinished, "run_id")] = words_of(trouble, "evolver")
    return found


def _ranked(source: Json, key: str, leaderboard: Sequence[Entry]) -> tuple[Json, ...]:
    """Return the rows under `key` with the evolvers of each group in the leaderboard's order."""
    rows = items(source, key)
    places = order([e.evolver for e in leaderboard], (words_of(r, "evolver") for r in rows))
    groups = order([words_of(r, "group") for r in rows])
    return tuple(sorted(rows, key=lambda r: (groups[words_of(r, "group")], places[words_of(r, "evolver")])))


def read_suite(metrics: Json) -> Suite:
    """Return a suite's metrics as typed values.

    Raises:
        ConfigError: if `metrics` is not an object of a known schema version.
    """
    source = check_schema(metrics)
    comparisons = section(source, "comparisons")
    leaderboard = tuple(_entry(e) for e in items(source, "leaderboard"))
    named = source.get("evolvers")
    evolvers = tuple(str(n) for n in named) if isinstance(named, list | tuple) else ()
    return Suite(
        suite_id=words_of(source, "suite_id", "unnamed suite"),
        run_count=count(source, "runs"),
        finished=count(source, "finished"),
        confidence=finite(source.get("confidence")) or 0.95,
        evolvers=evolvers or tuple(e.evolver for e in leaderboard if not e.reference),
        leaderboard=leaderboard,
        places=tuple(_place(p) for p in items(source, "tasksets")),
        overall=tuple(_comparison(c) for c in items(comparisons, "suite")),
        by_taskset=tuple(_comparison(c) for c in items(comparisons, "tasksets")),
        edits=_ranked(source, "edits", leaderboard),
        features=_ranked(source, "features", leaderboard),
        budget=_ranked(source, "budget", leaderboard),
        problems=tuple(_troubles(p) for p in _ranked(source, "problems", leaderboard)),
        labels=_labels(source),
        terms=terms_of(words_of(source, "protocol"), words_of(source, "reference")),
        learning=section(source, "learning"),
        skins=tuple(items(source, "skins")),
        harness=section(source, "harness"),
        posttraining=section(source, "posttraining"),
    )


def labelled(suite: Suite, runs: Iterable[Run]) -> list[Run]:
    """Return the runs under the evolver names that the suite compares, in the suite's order of tasksets and evolvers."""
    named = [replace(run, evolver=suite.labels.get(run.run_id, run.evolver)) for run in runs]
    places = order([p.taskset for p in suite.places], (r.taskset for r in named))
    evolvers = order([e.evolver for e in suite.leaderboard], (r.evolver for r in named))
    return sorted(named, key=lambda r: (places[r.taskset], evolvers[r.evolver], r.seed or 0, r.run_id))


def order(first: Sequence[str], others: Iterable[str] = ()) -> dict[str, int]:
    """Number names: those of `first` in their order, then the others by alphabet."""
    rest = sorted(set(others) - set(first))
    return {name: i for i, name in enumerate([*dict.fromkeys(first), *rest])}


def shades(suite: Suite, runs: Iterable[Run]) -> dict[str, str]:
    """Give each evolver its colour class: `c0` to `c7` in the leaderboard's order, references `ref`."""
    names = order([e.evolver for e in suite.leaderboard if not e.reference], (r.evolver for r in runs))
    found = {name: f"c{i % 8}" for name, i in names.items()}
    return found | {e.evolver: "ref" for e in suite.leaderboard if e.reference}
