"""Names of views on pages, and their order."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

from heredity.results import text

_NAMES = MappingProxyType(
    {
        "train": "train batches",
        "canary": "canaries",
        "update_validation": "update-validation",
        "id": "ID",
        "ood": "OOD",
        "replay": "replay",
    }
)


def view_name(name: str) -> str:
    """Return the name of a view on pages, such as `OOD gcd under small-model`."""
    base, under, model = name.partition(" under ")
    kind, colon, taskset = base.partition(":")
    return _NAMES.get(kind, kind) + (f" {text.short_task(taskset)}" if colon else "") + under + model


def in_order(views: Iterable[str]) -> list[str]:
    """Sort views for display: training, validation, ID, OOD, replay, then others; those under other models last."""
    kinds = list(_NAMES)

    def key(view: str) -> tuple[bool, int, bool, str]:
        kind = view.partition(" under ")[0].partition(":")[0]
        return " under " in view, kinds.index(kind) if kind in kinds else len(kinds), kind not in kinds, view

    return sorted(map(str, views), key=key)
