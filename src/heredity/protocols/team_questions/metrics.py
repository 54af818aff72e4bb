"""Results of a team on tasks, from its journal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from heredity.analysis.bounds import wilson
from heredity.analysis.contract import CommonMetrics
from heredity.analysis.evidence import RunEvidence, SuiteEvidence
from heredity.gateway.contract import NOTHING_USED, Usage
from heredity.protocols.team_questions.events import TEAM_ANSWERED, TEAM_PRACTISED, TeamEvolved
from heredity.protocols.team_questions.gains import gains
from heredity.protocols.team_questions.results import (
    CheckRow,
    CourseRow,
    EditRow,
    EvolutionPart,
    LevelRow,
    QuestionRow,
    TeamRun,
    TeamSuite,
)
from heredity.results.base import Result


@dataclass(frozen=True)
class TeamMetrics(CommonMetrics):
    """What a team on tasks adds: its questions, levels, evolution; and of a suite, what evolution gains."""

    run_part: type[Result] | None = TeamRun
    suite_part: type[Result] | None = TeamSuite
    reference: str = "nothing"

    def of_run(self, evidence: RunEvidence) -> TeamRun | None:
        """Return what came of the questions, however many have been asked."""
        latest = {answered["task"]: answered for answered in TEAM_ANSWERED.all(evidence.events)}
        rows = [
            QuestionRow.model_validate({name: data[name] for name in QuestionRow.model_fields})
            for data in sorted(map(dict, latest.values()), key=lambda data: str(data["id"]))
        ]
        levels = sorted({row.level for row in rows})
        parts = [*levels, 0] if len(levels) > 1 else levels
        if not rows:
            return None
        practised = {data["task"]: data for data in TEAM_PRACTISED.all(evidence.events)}.values()
        asked = sorted(latest.values(), key=lambda data: data["place"])
        course = [(p["id"], True, p["right"], p["evolution"]) for p in practised]
        course += [(a["id"], False, a["correct"], a["evolution"]) for a in asked if a["evolution"]]
        return TeamRun(
            questions=rows,
            levels=[_level(n, [r for r in rows if n in (0, r.level)]) for n in parts],
            evolution=_evolution(course) if course else None,
        )

    def of_suite(self, evidence: SuiteEvidence) -> TeamSuite:
        """Return what evolution gains, by level."""
        return TeamSuite(gains=gains(evidence.runs, ranked=evidence.ranked))


def _evolution(course: Sequence[tuple[str, bool, bool, TeamEvolved]]) -> EvolutionPart:
    every = [evolved for *_, evolved in course]
    usage = sum((Usage(**evolved["usage"]) for evolved in every), NOTHING_USED)
    return EvolutionPart(
        mode=every[0]["mode"],
        commits=sum(evolved["commits"] for evolved in every),
        refusals=sum(evolved["refusals"] for evolved in every),
        rollbacks=sum(evolved["rollbacks"] for evolved in every),
        attempts=sum(evolved["attempts"] for evolved in every),
        calls=sum(evolved["calls"] for evolved in every),
        tokens=usage.tokens,
        cost_usd=usage.cost_usd,
        course=[
            CourseRow(
                id=name, practice=practice, right=right, edits=_edits(evolved),
                checks=[CheckRow.model_validate(dict(check)) for check in evolved["checks"]],
            )
            for name, practice, right, evolved in course
        ],
    )  # fmt: skip


def _edits(evolved: TeamEvolved) -> list[EditRow]:
    none: dict[str, Any] = {"parts": [], "versions": {}}
    decisions = [{name: one.get(name) for name in EditRow.model_fields} for one in evolved["decisions"]]
    return [EditRow.model_validate({n: none.get(n) if v is None else v for n, v in one.items()}) for one in decisions]


def _level(level: int, rows: Sequence[QuestionRow]) -> LevelRow:
    tried = [row for row in rows if row.status != "missing"]
    right = sum(row.correct for row in tried)

    def mean(name: str) -> float | None:
        values = [getattr(row, name) for row in tried]
        return None if not values or None in values else sum(values) / len(values)

    return LevelRow(
        level=level,
        right=right,
        tried=len(tried),
        missing=len(rows) - len(tried),
        ci=wilson(right, len(tried)) if tried else None,
        shown=sum(not row.lacking for row in tried),
        **{name: mean(name) for name in ("steps", "hops", "model_calls", "tokens", "cost_usd", "seconds")},
    )


METRICS = TeamMetrics()
