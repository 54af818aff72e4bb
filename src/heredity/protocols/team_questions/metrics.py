"""Results of a team on tasks, from its journal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heredity.analysis.bounds import wilson
from heredity.analysis.contract import CommonMetrics
from heredity.analysis.evidence import RunEvidence
from heredity.protocols.team_questions.events import TEAM_ANSWERED
from heredity.protocols.team_questions.results import LevelRow, QuestionRow, TeamRun
from heredity.results.base import Result


@dataclass(frozen=True)
class TeamMetrics(CommonMetrics):
    """What a team on tasks adds: its questions, and levels."""

    run_part: type[Result] | None = TeamRun
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
        return (
            TeamRun(questions=rows, levels=[_level(n, [r for r in rows if n in (0, r.level)]) for n in parts])
            if rows
            else None
        )


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
