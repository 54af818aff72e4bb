"""What a run by commits came to: its decisions, the gain on held-out tasks, and what its model calls used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from heredity.analysis.bounds import GAP, share
from heredity.analysis.run_record import RunRecord, finite
from heredity.analysis.statistics import compare_paired, verdict
from heredity.gateway import Usage
from heredity.gateway.contract import NOTHING_USED

_UNKNOWN: Mapping[str, Any] = Usage().to_json()


def decisions(record: RunRecord) -> list[dict[str, Any]]:
    """Return commits and refusals, in order."""
    return [dict(data) for data in record.decisions]


def gain(
    heldout: Mapping[str, Any] | None, reference: Mapping[str, Any] | None, *, returns: bool
) -> dict[str, Any] | None:
    """Return held-out after minus before, paired by task; None unless both were scored.

    `verdict` says whether the gain is more than noise: "better", "worse", "within noise", or "unclear" where there are
    too few tasks to tell. `returns` says that scores are returns, whose bounds are not known.
    """
    if heldout is None or reference is None:
        return None
    pairs = [
        (after, before)
        for after, before in zip(heldout["scores"], reference["heldout_scores"], strict=False)
        if after is not None and before is not None
    ]
    bounds = GAP if pairs and share(*zip(*pairs, strict=True)) and not returns else None
    comparison = compare_paired([[[after - before for after, before in pairs]]], bounds=bounds) if pairs else None
    if comparison is None:
        return None
    interval = comparison.interval
    return {
        "difference": comparison.difference,
        "ci": None if interval is None else list(interval),
        "p": comparison.p,
        "mde": comparison.mde,
        "pairs": len(pairs),
        "verdict": verdict(comparison.difference, interval, comparison.mde, comparison.p),
    }


def model_usage(record: RunRecord) -> dict[str, Any] | None:
    """Return what model calls used: of the attempts, of the method, of judging. None where no attempt makes any.

    What is unknown stays null, and so does every sum it enters.
    """
    attempts = [s.completion.get("usage") for s in record.submissions.values() if s.completion]
    if not any(attempts) and not record.calls:
        return None
    views = {(data["view"], data["candidate"]): data for data in record.scored.values()}
    judged = [data.get("usage") for data in views.values()]
    return {
        "attempts": _total(attempts),
        "method": {**_total(c["usage"] or _UNKNOWN for c in record.calls), "calls": len(record.calls)},
        "judging": _total(judged),
        "failed_calls": sum(c["error"] is not None for c in record.calls),
    }


def _total(used: Iterable[Mapping[str, Any] | None]) -> dict[str, Any]:
    total = sum((Usage(**each) for each in used if each), NOTHING_USED)
    return {name: finite(value) for name, value in total.to_json().items()}
