"""Harness evolution (SEAGym): a harness is updated on batches of tasks, and its frozen snapshots are judged on every view."""

from __future__ import annotations

from heredity.configuration.sections import ModelLimitsSection, OpenBudgetSection
from heredity.protocols.contract import Protocol
from heredity.protocols.harness_evolution.events import EVENTS
from heredity.protocols.harness_evolution.judge import selected
from heredity.protocols.harness_evolution.metrics import METRICS
from heredity.protocols.harness_evolution.report import REPORT
from heredity.protocols.harness_evolution.sections import (
    HarnessRunSection,
    HarnessSolverSection,
    HarnessViewsSection,
    ScheduleSection,
    TransferSection,
)
from heredity.protocols.harness_evolution.setting import HarnessSetting
from heredity.protocols.harness_evolution.terms import NAME

PROTOCOL = Protocol(
    name=NAME,
    summary="frozen snapshots on update-validation, ID, OOD and replay, never pooled",
    setting=HarnessSetting(),
    sections={
        "run": HarnessRunSection,
        "budget": OpenBudgetSection,
        "limits": ModelLimitsSection,
        "solver": HarnessSolverSection,
        "views": HarnessViewsSection,
        "schedule": ScheduleSection,
        "transfer": TransferSection,
    },
    baselines=("static",),
    metrics=METRICS,
    report=REPORT,
    events=EVENTS,
    selection=selected,
)
