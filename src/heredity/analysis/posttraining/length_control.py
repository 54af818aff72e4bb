"""A win rate that length does not buy, of runs whose answers are compared with reference answers (AlpacaEval 2.0's)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from heredity.analysis.posttraining.record import HELDOUT, Json, Step
from heredity.analysis.run_record import mean
from heredity.analysis.statistics import CONFIDENCE, Floats
from heredity.errors import ConfigError, RecordError
from heredity.ids import generator
from heredity.judging.attempts import Comparison, comparison_of
from heredity.rollouts.trajectory import decode_many

_RESAMPLES = 1000
_STEPS = 50
_LONGEST_STEP = 2.0
_SMALL = 1e-9
_RIDGE = 1e-3


def length_controlled(won: ArrayLike, lengths: ArrayLike, references: ArrayLike) -> float:
    """Return the win rate at equal length, 0 to 1: what a logistic model expects of answers as long as their references.

    Length-controlled AlpacaEval (Dubois et al. 2024, arXiv:2404.04475, section 3) without its term for each instruction's
    difficulty: logit P(win) = quality + slope · tanh(difference in length / its standard deviation), fitted by Newton's method
    with a slight ridge, and read at a difference of 0.

    Args:
        won: 1 for a win, 0.5 for a tie, 0 for a loss; missing comparisons are left out by the caller.
        lengths: of the answers, in characters.
        references: of the reference answers.

    Raises:
        ConfigError: if there is nothing to compare, or the numbers of values differ.
    """
    outcomes, excess = np.asarray(won, np.float64), _excess(lengths, references)
    if not outcomes.size or outcomes.shape != excess.shape:
        raise ConfigError(
            f"{outcomes.size} outcomes and {excess.size} lengths; expected as many of each, and at least one"
        )
    return float(_at_equal_length(outcomes, excess))


def length_control(
    events: Sequence[Json], best: Step | None, load: Callable[[str], bytes] | None
) -> dict[str, Any] | None:
    """Return the win rate at equal length of a run's best submission; None where no answers were compared, or none is at hand.

    Args:
        events: the journal's lines as mappings.
        best: the submission.
        load: digest of a blob to its bytes, for the trajectories of the submission.

    Returns:
        graded, heldout: of either view rate, ci (95%, bootstrap over the answers; null where all ended alike), won (the plain win
        rate), length and reference_length (mean characters) and n; None where nothing of it is known.
    """
    if best is None:
        return None
    views = {"graded": _graded(events, best, load), HELDOUT: _heldout(events, best)}
    return {name: described(found) for name, found in views.items()} if any(views.values()) else None


def described(found: Sequence[Comparison]) -> dict[str, Any] | None:
    """Return what is to be said of comparisons; None without any."""
    if not found:
        return None
    won, lengths, references = (np.array(column, np.float64) for column in zip(*found, strict=True))
    return {
        "rate": length_controlled(won, lengths, references),
        "ci": _interval(won, _excess(lengths, references)),
        "won": mean(list(won)),
        "length": mean(list(lengths)),
        "reference_length": mean(list(references)),
        "n": len(found),
    }


def _graded(events: Sequence[Json], best: Step, load: Callable[[str], bytes] | None) -> list[Comparison]:
    """Read what was found of a submission's answers out of its trajectories."""
    blob = next((data.get("blob") for data in _of(events, "submission.completed", submit_id=best.submission)), None)
    if load is None or blob is None:
        return []
    try:
        trajectories = decode_many(load(blob))
    except (RecordError, KeyError):
        return []
    return [found for found in map(comparison_of, trajectories) if found is not None]


def _heldout(events: Sequence[Json], best: Step) -> list[Comparison]:
    """Read what was found on the held-out slice, where trajectories are not kept and the journal itself says it."""
    found = next(_of(events, "judging.scored", view=HELDOUT, candidate=best.candidate), {})
    return [
        (float(won), int(length), int(other)) for won, length, other in filter(None, found.get("comparisons") or ())
    ]


def _of(events: Sequence[Json], kind: str, **fields: Any) -> Iterator[Json]:
    """Give the data of the events of a kind with these fields, the latest first."""
    for event in reversed(events):
        if event["kind"] == kind and all(event["data"].get(name) == value for name, value in fields.items()):
            yield event["data"]


def _excess(lengths: ArrayLike, references: ArrayLike) -> Floats:
    """Return by how much answers are longer than their references, squeezed into −1 to 1; 0 for as long."""
    difference = np.asarray(lengths, np.float64) - np.asarray(references, np.float64)
    return np.tanh(difference / (difference.std() or 1.0)) if difference.size else difference


def _interval(won: Floats, excess: Floats) -> list[float] | None:
    if np.ptp(won) == 0.0:  # resamples of outcomes that are all alike say nothing
        return None
    draws = generator(0, "analysis", "length").integers(0, won.size, (_RESAMPLES, won.size))
    rates = _at_equal_length(won[draws], excess[draws])
    low, high = np.quantile(rates, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return [float(low), float(high)]


def _at_equal_length(won: Floats, excess: Floats) -> Floats:
    """Fit logit P(win) = quality + slope · excess along the last axis, and return P(win) at an excess of 0."""
    quality = np.zeros(won.shape[:-1])
    slope = np.zeros(won.shape[:-1])
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-(quality[..., None] + slope[..., None] * excess)))
        weight, gap = p * (1 - p), won - p
        a, b = weight.sum(-1) + _RIDGE, (weight * excess).sum(-1)
        c = (weight * excess**2).sum(-1) + _RIDGE
        up, along = gap.sum(-1) - _RIDGE * quality, (gap * excess).sum(-1) - _RIDGE * slope
        step = np.stack([c * up - b * along, a * along - b * up]) / (a * c - b * b)
        longest = np.abs(step).max(0)
        # Newton's step, shortened: where everything was won, the full one would overshoot.
        step *= np.minimum(1.0, _LONGEST_STEP / np.maximum(_SMALL, longest))
        quality, slope = quality + step[0], slope + step[1]
        if longest.max() < _SMALL:
            break
    return 1 / (1 + np.exp(-quality))
