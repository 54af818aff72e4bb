"""Evolution methods, which propose candidates, and their view of the session's contract."""

from heredity.methods.contract import (
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
