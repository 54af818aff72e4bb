"""Counts of the labels that annotators gave to rollouts; labels never affect scores."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

Counts = dict[str, dict[str, dict[str, dict[str, int]]]]


def counts(annotations: Iterable[Mapping[str, Any]]) -> Counts:
    """Count rollouts by annotator, view, place (snapshot, or batch of training) and label.

    Places are in training order.
    """
    tally: dict[str, dict[str, dict[str, Counter[str]]]] = {}
    for row in annotations:
        view = row["view"] if row["model"] is None else f"{row['view']} under {row['model']}"
        own = tally.setdefault(annotator(row["by"]), {}).setdefault(view, {})
        for point in row["places"]:
            own.setdefault(point, Counter())[row["label"]] += 1
    return {
        by: {
            view: {point: dict(places[point]) for point in sorted(places, key=_order)} for view, places in views.items()
        }
        for by, views in tally.items()
    }


def annotator(by: str) -> str:
    """Return the annotator without the digest of its instructions: `"rules"`, `"judge:openai/gpt-5"`."""
    return by.rpartition(":")[0]


def _order(point: str) -> tuple[int, int, str]:
    rank = {"A_0": 0, "A_T": 2}.get(point, 1)
    number = re.search(r"\d+", point)
    return rank, int(number[0]) if number else 0, point
