"""Policy evolution (EvoPolicyGym): a program is improved on bought episodes, and judged on hidden cases."""

from __future__ import annotations

from heredity.protocols.contract import Protocol
from heredity.protocols.policy_evolution.judge import selected
from heredity.protocols.policy_evolution.metrics import METRICS
from heredity.protocols.policy_evolution.report import REPORT
from heredity.protocols.policy_evolution.sections import ReferencesSection
from heredity.protocols.policy_evolution.setting import PolicySetting

PROTOCOL = Protocol(
    name="policy-evolution",
    summary="hidden validation picks a checkpoint of a program, hidden held-out cases score it",
    setting=PolicySetting(),
    sections={"references": ReferencesSection},
    baselines=("random", "best-of-n", "sequential"),
    metrics=METRICS,
    report=REPORT,
    selection=selected,
)
