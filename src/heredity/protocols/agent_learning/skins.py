"""Skin inversion: the same levels seen straight and inverted, compared in pairs (AutoEnv, appendix E.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from heredity.analysis.bounds import GAP
from heredity.analysis.claims import claims, compare
from heredity.analysis.suite_comparisons import by_seed
from heredity.analysis.suite_table import TasksetScores
from heredity.protocols.agent_learning.results import SkinComparison

_INVERSE = "skin=inverse"


def skin_comparisons(
    tasksets: Sequence[TasksetScores], name: Callable[[str], str] = str, *, ranked: bool = True
) -> list[SkinComparison]:
    """Compare each entry on a taskset and on the one that differs from it by an inverse skin alone.

    Args:
        tasksets: what every entry scored; the cases of two skins are the same levels in the same order.
        name: what an entry is called.
        ranked: whether differences are tested; else they are shown as they are.

    Returns:
        One row for each pair of tasksets and entry; the verdict `"worse"` means that the inversion hurts. Empty if no taskset
        has its inverse beside it.
    """
    by_name = {t.name: t for t in tasksets}
    rows: list[SkinComparison] = []
    for inverse in tasksets:
        plain = by_name.get(_plain(inverse.name))
        if plain is None or plain is inverse:
            continue
        entries = [
            *(e for e in plain.cells if e in inverse.cells),
            *(e for e in plain.references if e in inverse.references),
        ]
        rows += [row for e in entries if (row := _compared(plain, inverse, e, name(e), ranked)) is not None]
    return rows


def _compared(
    plain: TasksetScores, inverse: TasksetScores, entry: str, evolver: str, ranked: bool
) -> SkinComparison | None:
    before, after = plain.scores_of(entry), inverse.scores_of(entry)
    width, straight, turned = min(before.shape[1], after.shape[1]), by_seed(plain, entry), by_seed(inverse, entry)
    gaps = np.array([turned[seed][:width] - scores[:width] for seed, scores in straight.items() if seed in turned])
    if not gaps.size:
        return None
    bounds = GAP if plain.bounds else None
    both = compare([gaps], bounds=bounds, clusters=[plain.clusters], least=plain.coverage)
    if both is None:
        return None
    evolvers, candidates = claims([both])[0] if ranked else (None, None)
    return SkinComparison(
        taskset=plain.name,
        evolver=evolver,
        plain=float(np.nanmean(before)),
        inverse=float(np.nanmean(after)),
        difference=both.candidates.difference,
        evolvers=evolvers,
        candidates=candidates,
        cases=both.candidates.cases,
    )


def _plain(name: str) -> str:
    """Return the name of a taskset without the option that inverts its skin."""
    base, _, query = name.partition("?")
    options = [option for option in query.split("&") if option and option != _INVERSE]
    return f"{base}?{'&'.join(options)}" if options else base
