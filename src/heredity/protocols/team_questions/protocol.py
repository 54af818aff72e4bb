"""A team on a taskset of questions: it answers each, in a folder of its own, and its record is looked through (Autogenesis)."""

from __future__ import annotations

from heredity.protocols.contract import Protocol
from heredity.protocols.team_questions.events import EVENTS
from heredity.protocols.team_questions.kept import winning_files
from heredity.protocols.team_questions.metrics import METRICS
from heredity.protocols.team_questions.report import REPORT
from heredity.protocols.team_questions.sections import TeamBudgetSection, TeamQuestionsSection, TeamViewsSection
from heredity.protocols.team_questions.setting import TeamSetting

PROTOCOL = Protocol(
    name="team-questions",
    summary="a team of agents on held-out questions, by level, with what its record shows",
    setting=TeamSetting(),
    sections={"budget": TeamBudgetSection, "team": TeamQuestionsSection, "views": TeamViewsSection},
    metrics=METRICS,
    report=REPORT,
    events=EVENTS,
    best=winning_files,
)
