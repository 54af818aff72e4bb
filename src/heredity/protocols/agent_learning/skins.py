"""Skin inversion: the same levels seen straight and inverted, compared in pairs (AutoEnv, appendix E.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from heredity.analysis.bounds import GAP
from heredity.analysis.statistics import compare_paired, verdict
from heredity.analysis.suite_table import REFERENCE, TasksetScores

_INVERSE = "skin=inverse"


def skin_comparisons(tasksets: Sequence[TasksetScores]) -> list[dict[str, Any]]:
    """Compare each entry on a taskset and on the one that differs from it by an inverse skin alone.

    Args:
        tasksets: what every entry scored; the cases of two skins are the same levels in the same order.

    Returns:
        One row for each pair of tasksets and entry: means, the mean difference inverse minus plain with its interval, and a
        verdict; `"worse"` means that the inversion hurts. Empty if no taskset has its inverse beside it.
    """
    by_name = {t.name: t for t in tasksets}
    rows: list[dict[str, Any]] = []
    for inverse in tasksets:
        plain = by_name.get(_plain(inverse.name))
        if plain is None or plain is inverse:
            continue
        for entry in [*(e for e in plain.cells if e in inverse.cells), REFERENCE]:
            before, after = _scores(plain, entry), _scores(inverse, entry)
            width = min(before.shape[1], after.shape[1])
            runs = min(len(before), len(after))
            comparison = (
                compare_paired([after[:runs, :width] - before[:runs, :width]], bounds=GAP if plain.bounds else None)
                if runs and width
                else None
            )
            if comparison is None:
                continue
            interval = comparison.interval
            rows.append(
                {
                    "taskset": plain.name,
                    "evolver": entry,
                    "plain": float(np.nanmean(before)),
                    "inverse": float(np.nanmean(after)),
                    "difference": comparison.difference,
                    "ci": None if interval is None else list(interval),
                    "p": comparison.p,
                    "unit": comparison.unit,
                    "cases": comparison.cases,
                    "verdict": verdict(comparison.difference, interval, comparison.mde, comparison.p),
                }
            )
    return rows


def _plain(name: str) -> str:
    """Return the name of a taskset without the option that inverts its skin."""
    base, _, query = name.partition("?")
    options = [option for option in query.split("&") if option and option != _INVERSE]
    return f"{base}?{'&'.join(options)}" if options else base


def _scores(taskset: TasksetScores, entry: str) -> np.ndarray:
    return taskset.reference[np.newaxis, :] if entry == REFERENCE else taskset.cells[entry].scores
