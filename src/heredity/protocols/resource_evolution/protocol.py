"""Resource evolution (Autogenesis): registered resources are edited and committed on evidence, and judged before and after."""

from __future__ import annotations

from heredity.configuration.sections import ModelLimitsSection
from heredity.protocols.contract import Protocol
from heredity.protocols.resource_evolution.judge import selected
from heredity.protocols.resource_evolution.metrics import METRICS
from heredity.protocols.resource_evolution.report import REPORT
from heredity.protocols.resource_evolution.setting import ResourceSetting

PROTOCOL = Protocol(
    name="resource-evolution",
    summary="the last committed candidate against the first, on the same held-out tasks",
    setting=ResourceSetting(),
    sections={"limits": ModelLimitsSection},
    baselines=("best-of-n-edits", "sequential-edits"),
    metrics=METRICS,
    report=REPORT,
    selection=selected,
)
