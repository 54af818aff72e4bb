"""Sessions, budgets, hidden cases, views, and judging."""

from heredity.session.cases import HiddenCases, Opening
from heredity.session.run import Conditions, RunPlan, run_evolution
from heredity.session.session import BudgetLedger, Session, SessionRules
from heredity.session.session_log import Submission
from heredity.session.views import ViewPlan

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
