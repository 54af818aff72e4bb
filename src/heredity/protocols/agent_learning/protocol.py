"""Agent learning (AutoEnv): a method learns on levels of a world, and its agent is judged on levels that it never saw.

A run of it is one of resource evolution; what is asked of a suite is another thing: which method learns where.
"""

from __future__ import annotations

from heredity.configuration.sections import ModelLimitsSection
from heredity.protocols.agent_learning.metrics import METRICS
from heredity.protocols.agent_learning.report import REPORT
from heredity.protocols.contract import Protocol
from heredity.protocols.resource_evolution.judge import selected
from heredity.protocols.resource_evolution.setting import ResourceSetting

PROTOCOL = Protocol(
    name="agent-learning",
    summary="what a method has learned in each of many worlds, on levels that it never saw",
    setting=ResourceSetting(),
    sections={"limits": ModelLimitsSection},
    baselines=("best-of-n-edits", "sequential-edits"),
    metrics=METRICS,
    report=REPORT,
    selection=selected,
)
