"""Length-controlled win rates, for runs whose answers are compared with reference answers (as in AlpacaEval 2.0)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heredity._core.errors import ConfigError, RecordError
from heredity._core.ids import generator
from heredity.analysis.contract import LoadBlob
from heredity.analysis.samples import GAP, SHARE, Clusters, cluster_codes, enough_runs
from heredity.analysis.statistics import CONFIDENCE, Floats, student_quantile
from heredity.engine.trajectory import decode_many
from heredity.protocols.post_training.analysis.record import GRADED, HELDOUT, Json, PostTraining, Step
from heredity.protocols.post_training.events import BASELINE_SCORED
from heredity.protocols.post_training.results import LengthControlled, WinRate, WinRateGain, WinRates
from heredity.records.events import JUDGING_SCORED, REFERENCE_SCORED, SUBMISSION_COMPLETED
from heredity.results.base import Interval
from heredity.session.rollouts import Comparison, comparison_of, comparisons_of

_RESAMPLES = 1000
_STEPS = 50
_LONGEST_STEP = 2.0
_SMALL = 1e-9
_RIDGE = 1e-3


def length_controlled(won: ArrayLike, lengths: ArrayLike, references: ArrayLike) -> float:
    """Return the win rate at equal length, 0 to 1: the prediction of a logistic model for answers as long as their references.

    Length-controlled AlpacaEval (Dubois et al. 2024, arXiv:2404.04475, section 3) without its term for each instruction's
    difficulty: logit P(win) = quality + slope · tanh(difference in length / its standard deviation), fitted by Newton's method
    with a slight ridge, and evaluated at a difference of 0.

    Args:
        won: 1 for a win, 0.5 for a tie, 0 for a loss; callers leave out missing comparisons.
        lengths: lengths of the answers, in characters.
        references: lengths of the reference answers, in characters.

    Raises:
        ConfigError: if there are no comparisons, or the numbers of values differ.
    """
    outcomes, excess = np.asarray(won, np.float64), _excess(lengths, references)
    if not outcomes.size or outcomes.shape != excess.shape:
        raise ConfigError(f"{outcomes.size} outcomes and {excess.size} lengths; expected equal numbers, at least one")
    return float(_at_equal_length(outcomes, excess))


def length_control(
    record: PostTraining, events: Sequence[Json], best: Step | None, load: LoadBlob
) -> LengthControlled | None:
    """Return win rates at equal length of the base model and of a run's best submission; None if no answers were compared.

    Args:
        record: the run, for the clusters of its tasks.
        events: the journal's lines as mappings.
        best: the submission.
        load: digest of a blob to its bytes, for the trajectories of the submission.
    """
    base = _listed(events, BASELINE_SCORED.name, view=GRADED)
    after = dict(zip(best.tasks, _graded(events, best, load), strict=False)) if best else {}
    task_indices = list(after) or range(len(base))
    judged = _listed(events, JUDGING_SCORED.name, view=HELDOUT, candidate=best.candidate) if best else ()
    before = [base[task_index] if task_index < len(base) else None for task_index in task_indices]
    together = record.clusters_of(GRADED, task_indices)
    graded = _view(before, [after.get(task_index) for task_index in task_indices], together)
    heldout = _view(_listed(events, REFERENCE_SCORED.name, view=HELDOUT), judged, record.clusters.get(HELDOUT))
    return LengthControlled(graded=graded, heldout=heldout) if graded or heldout else None


def described(compared: Sequence[Comparison | None], clusters: Clusters | None = None) -> WinRate | None:
    """Return the win rate of one model's answers on a view, with a bootstrap interval unless all comparisons agree.

    Args:
        compared: the comparison of each answer; None if missing.
        clusters: the cluster of each instruction (`samples.clustered`); the bootstrap resamples clusters, not answers.
    """
    present = [
        (comparison, drawn) for comparison, drawn in zip(compared, _filled(clusters), strict=False) if comparison
    ]
    if not present:
        return None
    won, lengths, references = _columns([comparison for comparison, _ in present])
    drawn = _Drawn.of([drawn for _, drawn in present])
    rate = length_controlled(won, lengths, references)
    return WinRate(
        rate=rate,
        ci=None
        if np.ptp(won) == 0.0
        else drawn.interval(rate, drawn.resampled(won, _excess(lengths, references)), SHARE),
        clusters=drawn.together,
        won=float(won.mean()),
        length=float(lengths.mean()),
        reference_length=float(references.mean()),
        n=len(present),
    )


def _view(
    before: Sequence[Comparison | None], after: Sequence[Comparison | None], clusters: Clusters | None
) -> WinRates | None:
    baseline, best = described(before, clusters), described(after, clusters)
    return WinRates(baseline=baseline, best=best, gain=_gain(before, after, clusters)) if baseline or best else None


def _gain(
    before: Sequence[Comparison | None], after: Sequence[Comparison | None], clusters: Clusters | None
) -> WinRateGain | None:
    triples = zip(before, after, _filled(clusters), strict=False)
    pairs = [(b, a, drawn) for b, a, drawn in triples if a is not None and b is not None]
    if not pairs:
        return None
    (old, *old_lengths), (new, *new_lengths) = map(_columns, ([b for b, *_ in pairs], [a for _, a, _ in pairs]))
    drawn = _Drawn.of([drawn for *_, drawn in pairs])
    gaps = drawn.resampled(new, _excess(*new_lengths)) - drawn.resampled(old, _excess(*old_lengths))
    alike = np.ptp(old) == np.ptp(new) == 0.0
    difference = length_controlled(new, *new_lengths) - length_controlled(old, *old_lengths)
    interval = None if alike else drawn.interval(difference, gaps, GAP)
    return WinRateGain(difference=difference, ci=interval, pairs=len(pairs), clusters=drawn.together)


def _graded(events: Sequence[Json], best: Step, load: LoadBlob) -> list[Comparison | None]:
    """Read the comparisons of a submission's answers from its trajectories."""
    blob = next((data.get("blob") for data in _of(events, SUBMISSION_COMPLETED.name, submit_id=best.submission)), None)
    if blob is None:
        return []
    try:
        return [comparison_of(trajectory) for trajectory in decode_many(load(blob))]
    except (RecordError, KeyError):
        return []


def _listed(events: Sequence[Json], kind: str, **fields: Any) -> tuple[Comparison | None, ...]:
    """Read the comparisons from the journal if trajectories are not kept."""
    return comparisons_of(next(_of(events, kind, **fields), {}))


def _of(events: Sequence[Json], kind: str, **fields: Any) -> Iterator[Json]:
    """Yield the data of the events of a kind with these fields, the latest first."""
    for event in reversed(events):
        if event["kind"] == kind and all(event["data"].get(name) == value for name, value in fields.items()):
            yield event["data"]


def _columns(compared: Sequence[Comparison]) -> list[Floats]:
    """Return outcomes, lengths and reference lengths."""
    return [np.array(column, np.float64) for column in zip(*compared, strict=True)]


def _excess(lengths: ArrayLike, references: ArrayLike) -> Floats:
    """Return the excess length of answers over their references, squashed into −1 to 1; 0 for equal length."""
    difference = np.asarray(lengths, np.float64) - np.asarray(references, np.float64)
    return np.tanh(difference / (difference.std() or 1.0)) if difference.size else difference


def _filled(clusters: Clusters | None) -> Iterable[int | str | None]:
    """Return the clusters of answers; unlabelled answers are clusters of one."""
    return chain(clusters or (), repeat(None))


@dataclass(frozen=True, slots=True)
class _Drawn:
    """The sampling of answers: singly, or in clusters, such as questions with their document.

    Attributes:
        codes: the cluster of each answer, from 0.
        count: number of clusters.
        together: number of clusters if any has several answers; else None.
    """

    codes: NDArray[np.int64]
    count: int
    together: int | None

    @classmethod
    def of(cls, clusters: Clusters) -> _Drawn:
        codes = cluster_codes(clusters, len(clusters))
        count = int(codes.max(initial=-1)) + 1
        return cls(codes, count, count if count < len(clusters) else None)

    def resampled(self, won: Floats, excess: Floats) -> Floats:
        """Return win rates at equal length of resampled clusters, the same samples for equal numbers of clusters."""
        draws = generator(0, "analysis", "length").integers(0, self.count, (_RESAMPLES, self.count))
        times = np.zeros((_RESAMPLES, self.count))
        np.add.at(times, (np.arange(_RESAMPLES)[:, None], draws), 1.0)
        return _at_equal_length(won, excess, times[:, self.codes])

    def interval(self, value: float, values: Floats, bounds: Interval) -> Interval | None:
        """Return the percentiles of resampled values, widened by Student's t; None with too few clusters."""
        if self.count < 2 or (self.together is not None and not enough_runs([self.count])):
            return None
        low, high = np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
        # Percentiles of few clusters are too narrow: they treat the spread as known.
        tail, freedom = (1 + CONFIDENCE) / 2, self.count - 1
        wider = student_quantile(tail, freedom) / student_quantile(tail, math.inf) * math.sqrt(self.count / freedom)
        ends = (value + (float(end) - value) * wider for end in (low, high))
        lowest, highest = (min(max(end, bounds[0]), bounds[1]) for end in ends)
        return lowest, highest


def _at_equal_length(won: Floats, excess: Floats, times: Floats | None = None) -> Floats:
    """Fit logit P(win) = quality + slope · excess along the last axis, and return P(win) at an excess of 0.

    `times` optionally weights each answer, shape (samples, answers).
    """
    counts = np.ones_like(won) if times is None else times
    quality = np.zeros(counts.shape[:-1])
    slope = np.zeros(counts.shape[:-1])
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-(quality[..., None] + slope[..., None] * excess)))
        weight, gap = counts * p * (1 - p), counts * (won - p)
        a, b = weight.sum(-1) + _RIDGE, (weight * excess).sum(-1)
        c = (weight * excess**2).sum(-1) + _RIDGE
        up, along = gap.sum(-1) - _RIDGE * quality, (gap * excess).sum(-1) - _RIDGE * slope
        step = np.stack([c * up - b * along, a * along - b * up]) / (a * c - b * b)
        longest = np.abs(step).max(0)
        # Shorten Newton's step: if everything was won, the full one would overshoot.
        step *= np.minimum(1.0, _LONGEST_STEP / np.maximum(_SMALL, longest))
        quality, slope = quality + step[0], slope + step[1]
        if longest.max() < _SMALL:
            break
    return 1 / (1 + np.exp(-quality))
