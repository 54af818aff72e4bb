"""Evolution within a task (Autogenesis, sections 3.2.3 and 5.1): up to R rounds of edits of one answer, and of its prompt."""

from __future__ import annotations

from heredity.configuration.sections import ModelLimitsSection
from heredity.protocols.contract import Protocol
from heredity.protocols.within_task.answers import answers
from heredity.protocols.within_task.events import EVENTS
from heredity.protocols.within_task.metrics import METRICS
from heredity.protocols.within_task.report import REPORT
from heredity.protocols.within_task.sections import WithinBudgetSection, WithinSection, WithinViewsSection
from heredity.protocols.within_task.setting import WithinSetting

PROTOCOL = Protocol(
    name="within-task",
    summary="rounds on one task, committed by what the agent sees, against one-shot and best-of-k",
    setting=WithinSetting(),
    sections={
        "budget": WithinBudgetSection,
        "limits": ModelLimitsSection,
        "views": WithinViewsSection,
        "within": WithinSection,
    },
    metrics=METRICS,
    report=REPORT,
    events=EVENTS,
    best=answers,
)
