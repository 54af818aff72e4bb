"""World generation (AutoEnv, section 3.2): an author builds and repairs a world on a theme; all gates admit or reject it."""

from __future__ import annotations

from heredity.protocols.contract import Protocol
from heredity.protocols.world_generation.events import EVENTS
from heredity.protocols.world_generation.judge import selected
from heredity.protocols.world_generation.metrics import METRICS
from heredity.protocols.world_generation.report import REPORT
from heredity.protocols.world_generation.sections import BuildBudgetSection, GateViewsSection, GenerationSection
from heredity.protocols.world_generation.setting import GenerationSetting

PROTOCOL = Protocol(
    name="world-generation",
    summary="the best build of a world on a theme, admitted by all gates or not",
    setting=GenerationSetting(),
    sections={"budget": BuildBudgetSection, "views": GateViewsSection, "generation": GenerationSection},
    metrics=METRICS,
    report=REPORT,
    events=EVENTS,
    selection=selected,
)
