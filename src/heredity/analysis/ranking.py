"""Ranks within an environment, and their averages over environments (EvoPolicyGym, appendix B.1 and section 5.1).

Returns of different environments share no scale, so entries are compared by rank within each environment. A missing
score stays missing and never helps: averages over environments count its entry as last there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def competition_ranks(scores: ArrayLike) -> Floats:
    """Return the rank of each score, 1 for the highest; equal scores share the better rank, and the next one skips.

    Args:
        scores: shape (entries,), higher is better; NaN is missing.

    Returns:
        Ranks of shape (entries,); NaN where the score is missing.
    """
    values = np.asarray(scores, dtype=np.float64)
    ranks = 1.0 + (values[None, :] > values[:, None]).sum(axis=1)
    return np.where(np.isnan(values), np.nan, ranks)


def rank_scores(scores: ArrayLike) -> Floats:
    """Return `1 - (rank - 1) / (N - 1)` for each of the N scores that are present; 1 is first, 0 is last.

    Args:
        scores: shape (entries,), higher is better; NaN is missing.

    Returns:
        Rank scores in [0, 1], shape (entries,); NaN where the score is missing, or is the only one.
    """
    ranks = competition_ranks(scores)
    present = int((~np.isnan(ranks)).sum())
    if present < 2:
        return np.full(ranks.shape, np.nan)
    return 1.0 - (ranks - 1.0) / (present - 1)


def normalised_score(score: float | None, random: float | None, best: float | None) -> float | None:
    """Place a held-out mean between a uniform random policy (0) and the best evolver (1), clipped to that range.

    Args:
        score: the mean return to place; higher is better.
        random: mean return of the uniform random policy on the same cases.
        best: mean return of the best compared evolver on the same cases.

    Returns:
        A value in [0, 1]; 0 where no evolver beats random; None if any of the three is missing.
    """
    if score is None or random is None or best is None:
        return None
    if best <= random:
        return 0.0
    if best - random == math.inf:
        score, random, best = score / 4, random / 4, best / 4
    return float(min(max((score - random) / (best - random), 0.0), 1.0))


def mean_of_known(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None; None without any."""
    present = [v for v in values if v is not None]
    return float(np.mean(present)) if present else None


@dataclass(frozen=True, slots=True)
class Standing:
    """Standing of one entry over many environments.

    Attributes:
        rank_score: mean rank score over all environments with a rank score, in [0, 1], counting 0 if the entry has no
            score there; None without such environments.
        at_best: `rank_score` if it came first in all environments where it has no score.
        family_scores: `rank_score` within each family of environments.
        wins: number of environments in which its rank is 1.
        top2: number of environments in which its rank is 1 or 2.
        present: number of environments in which it has a score.
        absent: number of environments in which it has none.
    """

    rank_score: float | None
    at_best: float | None = None
    family_scores: Mapping[str, float | None] = field(default_factory=dict[str, "float | None"])
    wins: int = 0
    top2: int = 0
    present: int = 0
    absent: int = 0


def standings(
    scores: Mapping[str, Mapping[str, float | None]], entries: Sequence[str], families: Mapping[str, str]
) -> dict[str, Standing]:
    """Rank entries in each environment and average over environments.

    Args:
        scores: environment to entry to held-out mean (higher is better); None, NaN or no key at all is missing.
        entries: entries to rank, including the random reference.
        families: environment to family label.

    Returns:
        The standing of each entry, in the order of `entries`.
    """
    table = score_table(scores, entries)
    ranks = np.array([competition_ranks(row) for row in table]).reshape(table.shape)
    points = counted_points(table)
    hoped = counted_points(table, missing=1.0)
    labels = [families.get(environment, "") for environment in scores]
    return {
        entry: Standing(
            rank_score=_mean(points[:, column]),
            at_best=_mean(hoped[:, column]),
            family_scores={
                f: _mean(points[[i for i, x in enumerate(labels) if x == f], column]) for f in _unique(labels)
            },
            wins=int((ranks[:, column] == 1).sum()),
            top2=int((ranks[:, column] <= 2).sum()),
            present=int((~np.isnan(table[:, column])).sum()),
            absent=int(np.isnan(table[:, column]).sum()),
        )
        for column, entry in enumerate(entries)
    }


def counted_points(table: Floats, missing: float = 0.0) -> Floats:
    """Return rank scores among all entries, with a given value for those without a score.

    Args:
        table: scores of shape (rows, entries), higher is better; NaN is missing.
        missing: rank score of an entry without a score.

    Returns:
        Rank scores of the same shape; NaN in rows without scores, and with a single entry.
    """
    present, entries = ~np.isnan(table), table.shape[1]
    ranks = 1.0 + (table[:, None, :] > table[:, :, None]).sum(axis=2)
    points = np.where(present, 1.0 - (ranks - 1.0) / max(entries - 1, 1), missing)
    return np.where(present.any(axis=1, keepdims=True) & (entries > 1), points, np.nan)


def score_table(scores: Mapping[str, Mapping[str, float | None]], entries: Sequence[str]) -> Floats:
    """Return the scores as an array of shape (environments, entries), NaN where one is missing."""
    rows = [[np.nan if (v := row.get(entry)) is None else v for entry in entries] for row in scores.values()]
    return np.array(rows, dtype=np.float64).reshape(len(scores), len(entries))


def group_means(
    scores: Mapping[str, Mapping[str, float | None]], groups: Mapping[str, str], random: str
) -> dict[str, dict[str, float | None]]:
    """Average normalised scores within each group of environments (EvoPolicyGym, figure 4).

    Args:
        scores: environment to entry to held-out mean (higher is better), the random reference included.
        groups: environment to group label, such as `"synthesis"` or `"tuning"`.
        random: name of the entry that is the uniform random policy.

    Returns:
        Group to entry to mean normalised score in [0, 1]; None if unknown. The reference is excluded. An entry without
        a score counts 0 in environments where others have one.
    """
    everybody = dict.fromkeys(entry for row in scores.values() for entry in row if entry != random)
    sums: dict[str, dict[str, list[float | None]]] = {}
    for environment, row in scores.items():
        others = {entry: value for entry, value in row.items() if entry != random}
        best = max((v for v in others.values() if v is not None), default=None)
        group = sums.setdefault(groups.get(environment, ""), {})
        for entry in everybody if best is not None else ():
            placed = normalised_score(others.get(entry), row.get(random), best)
            has_random = row.get(random) is not None
            group.setdefault(entry, []).append(0.0 if placed is None and has_random else placed)
    return {group: {entry: mean_of_known(v) for entry, v in row.items()} for group, row in sums.items()}


def _mean(values: Floats) -> float | None:
    present = values[~np.isnan(values)]
    return float(present.mean()) if present.size else None


def _unique(labels: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(labels))
