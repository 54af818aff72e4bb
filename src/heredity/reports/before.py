"""Results as the reports that read dictionaries know them; goes with the last of these."""

from __future__ import annotations

from typing import Any

from heredity.results import RunResults, SuiteResults

_PARTS = {"harness-evolution": "harness", "post-training": "posttraining"}


def before(results: RunResults | SuiteResults) -> dict[str, Any]:
    """Return results as a dictionary of version 1."""
    metrics: dict[str, Any] = {**results.model_dump(mode="json"), "schema_version": 1}
    part: dict[str, Any] | None = metrics.pop("part")
    for protocol, key in _PARTS.items():
        metrics[key] = part if results.protocol == protocol else None
    if isinstance(results, SuiteResults):
        learning = part if results.protocol == "agent-learning" else None
        return {**metrics, **(learning or {"learning": None, "skins": []})}
    for phase in metrics["phases"]:
        phase |= {"from": phase.pop("start"), "to": phase.pop("stop")}
    return metrics
