"""Post-training (Agent² RL-Bench): an agent trains a model within its time, graded as often as it asks."""

from __future__ import annotations

from heredity.configuration.sections import OpenBudgetSection
from heredity.protocols.contract import Protocol
from heredity.protocols.post_training.events import EVENTS
from heredity.protocols.post_training.judge import selected
from heredity.protocols.post_training.metrics import METRICS
from heredity.protocols.post_training.report import REPORT
from heredity.protocols.post_training.sections import TrainingSection
from heredity.protocols.post_training.setting import TrainingSetting

PROTOCOL = Protocol(
    name="post-training",
    summary="the best graded checkpoint, and the same on a slice that was never graded",
    setting=TrainingSetting(),
    sections={"budget": OpenBudgetSection, "training": TrainingSection},
    metrics=METRICS,
    report=REPORT,
    events=EVENTS,
    selection=selected,
)
