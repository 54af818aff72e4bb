"""How an agent failed, read from the journal of a closed session."""

from __future__ import annotations

from typing import Any

from heredity.protocols.post_training.analysis.record import BASE_MODEL
from heredity.records.agent_starts import failure_of
from heredity.records.journal import Event


def journal(*refused: str, code: int = 0) -> list[Event]:
    """A journal of an agent that had requests refused, by their categories, and ended."""
    ended: dict[str, Any] = {"start": 1, "code": code, "reason": "ended", "output": "", "seconds": 2.0, "at_s": 2.0}
    lines: list[tuple[str, dict[str, Any]]] = [("agent.started", {"start": 1, "at_s": 0.0})]
    lines += [("submission.rejected", {"key": str(i), "category": c, "message": c}) for i, c in enumerate(refused)]
    lines += [("agent.ended", ended), ("session.closed", {"reason": "finished"})]
    return [Event(i, float(i), kind, data) for i, (kind, data) in enumerate(lines)]


def test_an_agent_that_submitted_a_copy_of_the_base_model_has_not_failed() -> None:
    assert failure_of(journal(BASE_MODEL), answered=(BASE_MODEL,)) is None
    failed = failure_of(journal(BASE_MODEL))
    assert failed is not None, "where a copy is no answer, nothing was submitted"


def test_other_refusals_are_no_submissions() -> None:
    failed = failure_of(journal("malformed"), answered=(BASE_MODEL,))
    assert failed is not None
    assert "it submitted nothing (1 refused, the last because malformed" in failed["message"]
