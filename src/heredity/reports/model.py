"""What reports read out of metrics.json: one typed picture of a run, made once at the edge.

The format is `docs/file-formats.md`. Reports are made of unfinished and of damaged runs too, so every key may be missing or
null: what is not known becomes None and is written as a dash, never as a zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from heredity.errors import ConfigError
from heredity.reports.commits import Commits, read_commits
from heredity.reports.fields import Json, Mean, count, items, mean_of, numbers, section, whole, words_of
from heredity.reports.terms import Terms, terms_of
from heredity.reports.text import clean, finite

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Edit:
    """How a submission's program differs from the one before (kinds as in `docs/file-formats.md`); sizes in lines."""

    kind: str = ""
    hit: bool = False
    added: int | None = None
    removed: int | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """A failure as its author reads it."""

    category: str
    message: str
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class Submission:
    """One submission; means are returns, `budget_used` counts episodes up to and including it, `seconds` is wall time."""

    index: int
    candidate: str
    note: str
    status: str
    episodes: int
    budget_used: int
    train_mean: float | None
    validation_mean: float | None
    best_so_far: float | None
    failures: int
    failure: Problem | None
    invalid_rate: float | None
    seconds: float | None
    edit: Edit
    features: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Phase:
    """Neighbouring edits of one kind, from `start` to `stop` episodes of budget, submissions `first` to `last`."""

    kind: str
    start: float
    stop: float
    first: int | None = None
    last: int | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """How one submission used the feedback before it."""

    submission: int | None
    evidence: str
    edit: str
    outcome: str


@dataclass(frozen=True, slots=True)
class Run:
    """One run, as its metrics.json tells it.

    `harness` and `posttraining`, empty in other protocols, are read by the pages that show them.
    """

    run_id: str
    suite_id: str
    taskset: str
    family: str
    group: str
    evolver: str
    evolver_kind: str
    seed: int | None
    status: str
    isolation: str
    packages: Mapping[str, str]
    budget: Mapping[str, float | None]
    submissions: tuple[Submission, ...]
    selected_index: int | None
    selected_candidate: str
    selected_validation: float | None
    heldout: Mean
    heldout_scores: tuple[float | None, ...]
    heldout_failures: int
    heldout_missing: int
    reference_mean: float | None
    best_so_far: tuple[tuple[float, float], ...]
    phases: tuple[Phase, ...]
    traces: tuple[Trace, ...]
    diagnostics: Json
    tokens: Mapping[str, float | None]
    terms: Terms
    commits: Commits
    harness: Json
    posttraining: Json
    agent_accounts: Json
    evolver_failure: Problem | None = None
    extra: Json = field(default_factory=dict[str, Any])

    @property
    def finished(self) -> bool:
        """Whether the run was judged to its end."""
        return self.status == "finished"

    @property
    def selected(self) -> Submission | None:
        """The submission that validation selected, if any."""
        return next((s for s in self.submissions if s.index == self.selected_index), None)


def check_schema(metrics: Any) -> Json:
    """Return `metrics` if it is a metrics object that this version reads.

    Raises:
        ConfigError: if it is not an object, or of another schema version.
    """
    if not isinstance(metrics, Mapping):
        raise ConfigError(f"metrics of type {type(metrics).__name__}: expected a JSON object; rebuild metrics.json")
    version = metrics.get("schema_version", SCHEMA_VERSION)
    if version != SCHEMA_VERSION:
        raise ConfigError(
            f"metrics with schema_version {version!r}: this version of heredity reads {SCHEMA_VERSION}; "
            "rebuild metrics.json with `heredity report`"
        )
    return metrics


def problem(value: Any) -> Problem | None:
    """Return a failure given as an object or as one line of text; None when there is none."""
    if isinstance(value, Mapping):
        category = words_of(value, "category", "failed")
        return Problem(category, words_of(value, "message"), words_of(value, "traceback"))
    return Problem("failed", clean(value)) if value else None


def _submission(source: Json) -> Submission:
    edit = section(source, "edit")
    return Submission(
        index=count(source, "index"),
        candidate=words_of(source, "candidate"),
        note=words_of(source, "note"),
        status=words_of(source, "status", "unfinished"),
        episodes=count(source, "episodes"),
        budget_used=count(source, "budget_used"),
        train_mean=finite(source.get("train_mean")),
        validation_mean=finite(source.get("validation_mean")),
        best_so_far=finite(source.get("best_so_far")),
        failures=count(source, "failures"),
        failure=problem(source.get("failure")),
        invalid_rate=finite(source.get("invalid_rate")),
        seconds=finite(source.get("seconds")),
        edit=Edit(
            words_of(edit, "kind"), edit.get("hit") is True, whole(edit, "lines_added"), whole(edit, "lines_removed")
        ),
        features=numbers(section(source, "features")),
    )


def _phases(entries: Iterable[Json]) -> tuple[Phase, ...]:
    found: list[Phase] = []
    for entry in entries:
        start, stop = finite(entry.get("from")), finite(entry.get("to"))
        if start is not None and stop is not None:
            found.append(Phase(words_of(entry, "kind"), start, stop, whole(entry, "first"), whole(entry, "last")))
    return tuple(found)


def _points(value: Any) -> tuple[tuple[float, float], ...]:
    found: list[tuple[float, float]] = []
    for pair in value if isinstance(value, list | tuple) else ():
        if isinstance(pair, list | tuple) and len(pair) == 2:
            at, score = finite(pair[0]), finite(pair[1])
            if at is not None and score is not None:
                found.append((at, score))
    return tuple(sorted(found))


def read_run(metrics: Json) -> Run:
    """Return a run's metrics as typed values.

    Raises:
        ConfigError: if `metrics` is not an object of a known schema version.
    """
    source = check_schema(metrics)
    evolver, heldout, selected = section(source, "evolver"), section(source, "heldout"), section(source, "selected")
    scores, reference = heldout.get("scores"), section(source, "reference")
    submissions = tuple(_submission(entry) for entry in items(source, "submissions"))
    return Run(
        run_id=words_of(source, "run_id", "unnamed run"),
        suite_id=words_of(source, "suite_id"),
        taskset=words_of(source, "taskset", "unknown taskset"),
        family=words_of(source, "family"),
        group=words_of(source, "group"),
        evolver=words_of(evolver, "name", "unknown evolver"),
        evolver_kind=words_of(evolver, "kind"),
        seed=whole(source, "seed"),
        status=words_of(source, "status", "unfinished"),
        isolation=words_of(source, "isolation"),
        packages={clean(k): clean(v) for k, v in sorted(section(source, "packages").items())},
        budget=numbers(section(source, "budget")),
        submissions=submissions,
        selected_index=whole(selected, "index"),
        selected_candidate=words_of(selected, "candidate"),
        selected_validation=finite(selected.get("validation_mean")),
        heldout=mean_of(heldout),
        heldout_scores=tuple(finite(s) for s in scores) if isinstance(scores, list | tuple) else (),
        heldout_failures=count(heldout, "failures"),
        heldout_missing=count(heldout, "missing"),
        reference_mean=finite(reference.get("heldout_mean")),
        best_so_far=_points(source.get("best_so_far")),
        phases=_phases(items(source, "phases")),
        traces=tuple(
            Trace(whole(t, "submission"), words_of(t, "evidence"), words_of(t, "edit"), words_of(t, "outcome"))
            for t in items(source, "traces")
        ),
        diagnostics=section(source, "diagnostics"),
        tokens=numbers(section(source, "tokens")),
        agent_accounts=section(source, "agent_accounts"),
        terms=terms_of(words_of(source, "protocol"), words_of(reference, "name")),
        commits=read_commits(source, submissions),
        harness=section(source, "harness"),
        posttraining=section(source, "posttraining"),
        evolver_failure=problem(source.get("evolver_failure")),
        extra={key: source[key] for key in ("commitment", "config_digest", "taskset_version") if source.get(key)},
    )
