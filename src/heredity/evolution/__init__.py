"""Evolution: what proposes the next candidate, and the session's contract as it sees it."""

from heredity.evolution.contract import (
    Batch,
    Budget,
    Decision,
    EvolverContext,
    Feedback,
    Method,
    Outcome,
    SessionContract,
    Trial,
)

__all__ = [
    "Batch",
    "Budget",
    "Decision",
    "EvolverContext",
    "Feedback",
    "Method",
    "Outcome",
    "SessionContract",
    "Trial",
]
