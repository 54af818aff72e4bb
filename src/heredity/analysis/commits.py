"""What a run by commits came to: its decisions, the gain on held-out tasks, and what its model calls used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from heredity.analysis.bounds import GAP, share
from heredity.analysis.paired import compare_paired, verdict
from heredity.analysis.run_record import RunRecord, finite
from heredity.analysis.samples import differences
from heredity.analysis.suite_table import table_of
from heredity.gateway import Usage
from heredity.gateway.contract import NOTHING_USED
from heredity.results.agents import MethodTokens, ModelTokens, ModelUsage
from heredity.results.coverage import COVERAGE
from heredity.results.run import Decision, Gain, HeldOut, Reference

_UNKNOWN: Mapping[str, Any] = Usage().to_json()


def decisions(record: RunRecord) -> list[Decision]:
    """Return commits and refusals, in order."""
    return [
        Decision(
            candidate=data["candidate"],
            baseline=data["baseline"],
            accepted=data["accepted"],
            reason=data["reason"],
            submissions=list(data["submissions"]),
            difference=finite(data["difference"]),
            interval=None if data["interval"] is None else (data["interval"][0], data["interval"][1]),
            pairs=data["pairs"],
            tolerance=data["tolerance"],
        )
        for data in record.decisions
    ]


def gain(
    heldout: HeldOut | None, reference: Reference | None, *, returns: bool, coverage: float = COVERAGE
) -> Gain | None:
    """Return held-out after minus before, paired by task; None unless both were scored.

    `returns` says that scores are returns, whose bounds are not known; `coverage` what share of pairs a verdict asks for.
    """
    if heldout is None or reference is None:
        return None
    after, before = table_of([heldout.scores, reference.heldout_scores])
    gaps = differences(after, before)
    paired = np.isfinite(gaps)
    bounds = GAP if share(after[paired], before[paired]) and not returns else None
    comparison = compare_paired([gaps[None, :]], bounds=bounds, clusters=[heldout.clusters], least=coverage)
    if comparison is None:
        return None
    return Gain(
        difference=comparison.difference,
        ci=comparison.interval,
        p=comparison.p,
        mde=comparison.mde,
        pairs=comparison.cases,
        verdict=verdict(comparison.difference, comparison.p, untold=comparison.untold),
        clusters=comparison.clusters,
        because=comparison.untold,
    )


def model_usage(record: RunRecord) -> ModelUsage | None:
    """Return what model calls used: of the rollouts, of the method, of judging. None where no rollout makes any.

    What is unknown stays None, and so does every sum it enters.
    """
    rollouts = [s.completion.get("usage") for s in record.submissions.values() if s.completion]
    if not any(rollouts) and not record.calls:
        return None
    views = {(data["view"], data["candidate"]): data for data in record.scored.values()}
    method = _total(c["usage"] or _UNKNOWN for c in record.calls)
    return ModelUsage(
        rollouts=_tokens(_total(rollouts)),
        method=MethodTokens(
            input_tokens=method.input_tokens,
            output_tokens=method.output_tokens,
            cached_tokens=method.cached_tokens,
            cost_usd=finite(method.cost_usd),
            calls=len(record.calls),
        ),
        judging=_tokens(_total(data.get("usage") for data in views.values())),
        failed_calls=sum(c["error"] is not None for c in record.calls),
        unused_replies=len(record.unused),
        unused_because=Counter(data["why"] for data in record.unused).most_common(1)[0][0] if record.unused else None,
    )


def _total(usages: Iterable[Mapping[str, Any] | None]) -> Usage:
    return sum((Usage(**usage) for usage in usages if usage), NOTHING_USED)


def _tokens(usage: Usage) -> ModelTokens:
    return ModelTokens(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cached_tokens,
        cost_usd=finite(usage.cost_usd),
    )
