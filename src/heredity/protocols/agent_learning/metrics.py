"""Results of agent learning: scores on test levels, what the methods reach together, and what inverted skins cost."""

from __future__ import annotations

from dataclasses import dataclass

from heredity.analysis.contract import CommonMetrics
from heredity.analysis.evidence import SuiteEvidence
from heredity.analysis.suite_table import Named
from heredity.protocols.agent_learning.board import learning_board
from heredity.protocols.agent_learning.results import LearningSuite
from heredity.protocols.agent_learning.skins import skin_comparisons
from heredity.protocols.agent_learning.space import learning_space
from heredity.protocols.agent_learning.tables import learning_table
from heredity.results.base import Result


@dataclass(frozen=True)
class LearningMetrics(CommonMetrics):
    """Results of agent learning."""

    suite_part: type[Result] | None = LearningSuite

    def of_suite(self, evidence: SuiteEvidence) -> LearningSuite:
        """Return who learned how much, what the methods reach together and what inverted skins cost them."""
        table = learning_table(
            evidence.tasksets, evidence.runs, evidence.labels, Named(self.reference), ranked=evidence.ranked
        )
        return LearningSuite(
            table=table,
            board=learning_board(evidence.tasksets) if evidence.ranked else [],
            learning=learning_space(evidence.tasksets) if evidence.ranked else None,
            skins=skin_comparisons(evidence.tasksets, Named(self.reference), ranked=evidence.ranked),
        )


METRICS = LearningMetrics()
