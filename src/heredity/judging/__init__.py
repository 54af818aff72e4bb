"""Judging: budgets, sessions, hidden cases, and views."""

from heredity.judging.budget import BudgetLedger
from heredity.judging.cases import HiddenCases, Opening
from heredity.judging.run import Conditions, RunPlan, run_evolution
from heredity.judging.session import Session, SessionRules
from heredity.judging.session_log import Submission
from heredity.judging.views import ViewPlan

__all__ = [
    "BudgetLedger",
    "Conditions",
    "Opening",
    "RunPlan",
    "HiddenCases",
    "Session",
    "SessionRules",
    "Submission",
    "ViewPlan",
    "run_evolution",
]
