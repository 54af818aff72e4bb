"""Failed updates: a method asked its model and got no usable answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from heredity.methods.operators.dialogue import Steps
from heredity.records.events import BATCH_STARTED, CANDIDATE, MODEL_CALLED, REPLY_UNUSED


def failed_updates(events: Iterable[Mapping[str, Any]]) -> str:
    """Report the number of a run's updates whose model calls all failed; `""` for none.

    The updates on one batch count as one; a run without batches is one update. After a failed update the run has not
    learned from all configured tasks, which no score shows.

    Args:
        events: the journal's lines as mappings, in order.
    """
    batch = 0
    calls, errors = Counter[int](), dict[int, list[str]]()
    for event in events:
        if event["kind"] == BATCH_STARTED.name:
            batch = event["data"]["number"]
        elif event["kind"] == MODEL_CALLED.name:
            calls[batch] += 1
            if event["data"]["error"] is not None:
                errors.setdefault(batch, []).append(event["data"]["error"])
    failed = [number for number in calls if len(errors.get(number, ())) == calls[number]]
    if not failed:
        return ""
    kinds = Counter(kind for number in failed for kind in errors[number])
    reasons = ", ".join(f"{kind} {count} times" if count > 1 else kind for kind, count in sorted(kinds.items()))
    where = f" (batches {', '.join(map(str, failed))})" if batch else ""
    return f"{len(failed)} of {len(calls)} updates could not be made{where}: every call of the model failed: {reasons}"


def unusable_replies(events: Iterable[Mapping[str, Any]], steps: Steps) -> str:
    """Report that all replies of a method's model were unusable; `""` otherwise.

    Understood replies that change nothing do not count.

    Args:
        events: the journal's lines as mappings.
        steps: the method's requests to its model.
    """
    candidates, replies = set[str](), 0
    for event in events:
        if event["kind"] == CANDIDATE.name:
            candidates.add(event["data"]["digest"])
        elif event["kind"] == MODEL_CALLED.name:
            replies += event["data"]["error"] is None
    if replies and not candidates:
        return f"the model replied {replies} times, and nothing was made of it"
    if not steps.failed or not replies:
        return ""
    if len(candidates) <= 1:
        return f"the model replied {replies} times, and no candidate came of it: {steps.reason}"
    if steps.failed == steps.asked:
        return f"the model replied {replies} times, and nothing of it could be used: {steps.reason}"
    return ""


def unused(events: Iterable[Mapping[str, Any]]) -> tuple[int, int, str]:
    """Return the number of unusable replies, the number of replies, and the most common reason."""
    events = list(events)
    replies = sum(e["kind"] == MODEL_CALLED.name and e["data"]["error"] is None for e in events)
    reasons = Counter(str(e["data"]["why"]) for e in events if e["kind"] == REPLY_UNUSED.name)
    return sum(reasons.values()), replies, reasons.most_common(1)[0][0] if reasons else ""
