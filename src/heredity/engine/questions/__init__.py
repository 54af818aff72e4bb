"""Questions and their verifiers, shared by every kind of task that queries a language model."""

from heredity.engine.questions.contract import Presented, Question, Verification, option_lines, present
from heredity.engine.questions.judge import Comparison, Judgement, grade, pairwise
from heredity.engine.questions.verify import verify

__all__ = [
    "Comparison",
    "Judgement",
    "Presented",
    "Question",
    "Verification",
    "grade",
    "option_lines",
    "pairwise",
    "present",
    "verify",
]
