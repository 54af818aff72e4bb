"""Judging: budgets, sessions, sealed cases, views, and the protocols that put them together."""

from heredity.judging.budget import BudgetLedger
from heredity.judging.cases import Opening, Sealed
from heredity.judging.run import Conditions, RunPlan, run_evolution
from heredity.judging.session import Session, SessionRules
from heredity.judging.session_log import Submission

__all__ = [
    "BudgetLedger",
    "Conditions",
    "Opening",
    "RunPlan",
    "Sealed",
    "Session",
    "SessionRules",
    "Submission",
    "run_evolution",
]
