"""Comparisons of evaluations that were made elsewhere: entries on the same samples, paired by the sample's id.

The entries are fixed and the samples are drawn, so the sample is the unit. Epochs are repeats: a sample counts once, with
the mean of its epochs. Samples of one cluster, such as the questions of a document, were drawn together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from heredity._core.errors import ConfigError
from heredity._core.ids import canonical_json
from heredity.analysis.claims import Both, claims, compare
from heredity.analysis.samples import GAP, SHARE, Clusters, Floats, Interval, share
from heredity.analysis.statistics import CONFIDENCE, case_mean
from heredity.results.base import Unknown
from heredity.results.evaluations import EvaluatedEntry, EvaluatedPair, EvaluationComparison
from heredity.results.run import Verdict

LEAST_SAMPLES = 6
"""Fewest paired samples for a verdict."""

MOST_PAIRS = 1000
"""Most pairs of entries in one comparison."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One evaluation of one entry on one taskset.

    Attributes:
        source: where it was read, for messages.
        entry: name of the model or run; `settings` tell entries of one name apart.
        taskset: name of the task.
        version: version of the task; evaluations of different ones are not paired.
        scorer: name of the scorer.
        scores: id of each sample to one score for each epoch; None is missing.
        clusters: id of a sample to its cluster; absent for a single one.
        status: state of the evaluation, such as `"success"`.
        notes: what could not be read.
    """

    source: str
    entry: str
    settings: Mapping[str, Any]
    taskset: str
    version: str
    scorer: str
    scores: Mapping[str, Sequence[float | None]]
    clusters: Mapping[str, str] = field(default_factory=dict[str, str])
    status: str = "success"
    notes: Sequence[str] = ()


@dataclass(slots=True)
class _Column:
    """Scores of one entry on one taskset: id of each sample to the mean of its epochs, NaN without a score."""

    means: dict[str, float]
    evaluations: list[Evaluation]

    def values(self, ids: Sequence[str]) -> Floats:
        return np.array([self.means[sample] for sample in ids], dtype=np.float64)


def compare_evaluations(
    evaluations: Sequence[Evaluation], notes: Sequence[str] = (), *, higher_is_better: bool = True
) -> EvaluationComparison:
    """Compare every two entries on each taskset that both were given, and over all of these.

    Args:
        evaluations: the evaluations; several of one entry on one taskset are repeats.
        notes: what a reader should know of how they were read.
        higher_is_better: direction of the scores.

    Raises:
        ConfigError: if nothing can be paired, or there are too many entries.
    """
    names, told = _tasksets(evaluations), list(notes)
    labels = entry_labels(evaluations, names)
    columns: dict[str, dict[str, _Column]] = {}
    for evaluation, label, name in zip(evaluations, labels, names, strict=True):
        columns.setdefault(name, {}).setdefault(label, _Column({}, [])).evaluations.append(evaluation)
    for row in columns.values():
        for column in row.values():
            column.means = _means(column.evaluations)
    entries = list(dict.fromkeys(labels))
    pairs = [pair for pair in combinations(entries, 2) if any(_common(row, pair) for row in columns.values())]
    if not pairs:
        raise ConfigError(
            "nothing can be paired: give logs of two or more models, solvers or settings on the same samples of a task "
            f"(read: {'; '.join(f'{e} on {n}' for e, n in dict.fromkeys(zip(labels, names, strict=True)))[:500]})"
        )
    if len(pairs) > MOST_PAIRS:
        raise ConfigError(
            f"{len(entries)} entries make {len(pairs)} pairs; compare fewer at once (at most {MOST_PAIRS} pairs)"
        )
    bounds = {name: _bounds(row) for name, row in columns.items()}
    sign = 1.0 if higher_is_better else -1.0
    clusters = {name: _clusters_of(row) for name, row in columns.items()}
    asked = _Asked(columns, clusters, bounds, sign)
    single = asked.answers([(pair, [name]) for name in columns for pair in pairs if _common(columns[name], pair)])
    whole = asked.answers(
        [(p, common) for p in pairs if len(common := [n for n in columns if _common(columns[n], p)]) > 1]
    )
    told += [note for evaluation in evaluations for note in evaluation.notes]
    return EvaluationComparison(
        higher_is_better=higher_is_better,
        scorer=", ".join(dict.fromkeys(evaluation.scorer for evaluation in evaluations)),
        logs=len(evaluations),
        confidence=CONFIDENCE,
        entries=[
            entry
            for name, row in columns.items()
            for entry in sorted(
                (_entry(label, name, column, bounds[name], clusters[name]) for label, column in row.items()),
                key=lambda entry: (entry.mean is None, -sign * (entry.mean or 0.0)),
            )
        ],
        pairs=whole,
        tasksets=single,
        notes=list(dict.fromkeys(told)),
    )


def entry_labels(evaluations: Sequence[Evaluation], tasksets: Sequence[str]) -> list[str]:
    """Name the entry of each evaluation, with the settings in which entries of one name differ on one taskset."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for evaluation, taskset in zip(evaluations, tasksets, strict=True):
        groups.setdefault((evaluation.entry, taskset), []).append(evaluation.settings)
    differing: dict[str, dict[str, None]] = {}
    for (entry, _), several in groups.items():
        keys = dict.fromkeys(key for settings in several for key in settings)
        apart = (key for key in keys if len({canonical_json(settings.get(key)) for settings in several}) > 1)
        differing.setdefault(entry, {}).update(dict.fromkeys(apart))
    labels: list[str] = []
    for evaluation in evaluations:
        shown = [f"{k}={evaluation.settings[k]}" for k in differing[evaluation.entry] if k in evaluation.settings]
        labels.append(f"{evaluation.entry} ({', '.join(shown)})" if shown else evaluation.entry)
    return labels


def _tasksets(evaluations: Sequence[Evaluation]) -> list[str]:
    """Name the taskset of each evaluation, with its version where several were evaluated."""
    versions: dict[str, set[str]] = {}
    for evaluation in evaluations:
        versions.setdefault(evaluation.taskset, set()).add(evaluation.version)
    return [f"{e.taskset} version {e.version}" if len(versions[e.taskset]) > 1 else e.taskset for e in evaluations]


def _means(evaluations: Sequence[Evaluation]) -> dict[str, float]:
    repeats: dict[str, list[float]] = {}
    for evaluation in evaluations:
        for sample, scores in evaluation.scores.items():
            repeats.setdefault(sample, []).extend(score for score in scores if score is not None)
    return {sample: float(np.mean(known)) if known else float("nan") for sample, known in repeats.items()}


def _common(row: Mapping[str, _Column], pair: tuple[str, str]) -> list[str]:
    """Return the ids of samples that both entries were given."""
    if not all(entry in row for entry in pair):
        return []
    left, right = (row[entry].means for entry in pair)
    return [sample for sample in left if sample in right]


def _bounds(row: Mapping[str, _Column]) -> Interval | None:
    return SHARE if share(*(list(column.means.values()) for column in row.values())) else None


def _clusters_of(row: Mapping[str, _Column]) -> Mapping[str, str]:
    return {
        s: c for column in row.values() for evaluation in column.evaluations for s, c in evaluation.clusters.items()
    }


def _listed(clusters: Mapping[str, str], ids: Sequence[str]) -> Clusters | None:
    return [clusters.get(sample) for sample in ids] if clusters else None


def _entry(
    label: str, taskset: str, column: _Column, bounds: Interval | None, clusters: Mapping[str, str]
) -> EvaluatedEntry:
    ids = list(column.means)
    values = column.values(ids)
    known = int(np.isfinite(values).sum())
    estimate = case_mean([values[None, :]], bounds=bounds, clusters=[_listed(clusters, ids)]) if known else None
    epochs = Counter(sample for evaluation in column.evaluations for sample, s in evaluation.scores.items() for _ in s)
    return EvaluatedEntry(
        entry=label,
        taskset=taskset,
        logs=len(column.evaluations),
        epochs=max(epochs.values(), default=0),
        samples=known,
        missing=len(ids) - known,
        mean=estimate.mean if estimate else None,
        ci=estimate.interval if estimate else None,
        ci_unknown=estimate.unknown if estimate else Unknown.NO_SCORE,
        clusters=estimate.clusters if estimate else None,
        statuses=dict(Counter(evaluation.status for evaluation in column.evaluations)),
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    columns: Mapping[str, Mapping[str, _Column]]
    clusters: Mapping[str, Mapping[str, str]]
    bounds: Mapping[str, Interval | None]
    sign: float

    def answers(self, questions: Sequence[tuple[tuple[str, str], Sequence[str]]]) -> list[EvaluatedPair]:
        """Answer questions of one family: pairs of entries on tasksets."""
        rows = [
            (q, ids, both) for q in questions for ids in [self._ids(q)] if (both := self._both(q, ids, len(questions)))
        ]
        claimed = claims([both for _, _, both in rows])
        return [
            self._pair(question, ids, both, candidates.model_copy(update=_undecided(both)))
            for (question, ids, both), (_, candidates) in zip(rows, claimed, strict=True)
        ]

    def _ids(self, question: tuple[tuple[str, str], Sequence[str]]) -> list[list[str]]:
        pair, names = question
        return [_common(self.columns[name], pair) for name in names]

    def _both(
        self, question: tuple[tuple[str, str], Sequence[str]], ids: Sequence[Sequence[str]], tests: int
    ) -> Both | None:
        (a, b), names = question
        rows = [self.columns[name] for name in names]
        gaps = [
            self.sign * (row[a].values(own) - row[b].values(own))[None, :] for row, own in zip(rows, ids, strict=True)
        ]
        bounds = GAP if all(self.bounds[name] for name in names) else None
        clusters = [_listed(self.clusters[name], own) for name, own in zip(names, ids, strict=True)]
        return compare(gaps, tests, bounds, clusters=clusters)

    def _pair(
        self, question: tuple[tuple[str, str], Sequence[str]], ids: Sequence[Sequence[str]], both: Both, claim: Any
    ) -> EvaluatedPair:
        (a, b), names = question
        given = [self.columns[name][entry].means for name in names for entry in (a, b)]
        asked, compared = sum(map(len, ids)), both.candidates
        return EvaluatedPair(
            a=a,
            b=b,
            taskset=names[0] if len(names) == 1 else None,
            difference=compared.difference,
            claim=claim,
            samples=compared.cases,
            missing=asked - compared.cases,
            unpaired=sum(map(len, given)) - 2 * asked,
        )


def _undecided(both: Both) -> dict[str, Any]:
    """Return the changes to a claim that too few samples support."""
    compared = both.candidates
    if compared.cases >= LEAST_SAMPLES and compared.covered:
        return {}
    because = Unknown.UNSCORED if compared.cases >= LEAST_SAMPLES else Unknown.FEW_SAMPLES
    return {"verdict": Verdict.CANNOT_TELL, "because": because}
