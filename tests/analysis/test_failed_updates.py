"""Replies of a method's model that could not be used: told apart from a model that found nothing to change."""

from __future__ import annotations

from typing import Any

import pytest

from heredity._core.spans import collecting, span, watching
from heredity.analysis.usage import unusable_replies
from heredity.methods.operators.dialogue import Steps
from heredity.protocols.team_questions.judge import _unusable
from heredity.team.evolution.evolving import UNUSABLE


def steps(*failed: bool) -> Steps:
    counted = Steps()
    with watching(counted):
        for i, wrong in enumerate(failed):
            with span("improve", kind="operator", place=[i]) as step:
                if wrong:
                    step.set(failed=f"improve: reply {i} could not be used")
        with span("evaluate", kind="operator", candidates=2):
            pass
        with span("route", kind="route", failed="a/model"):
            pass
    return counted


def events(candidates: int, replies: int, errors: int = 0, unused: int = 0) -> list[dict[str, Any]]:
    called: list[dict[str, Any]] = [{"kind": "model.called", "data": {"error": None, "model": "a/b"}}] * replies
    called += [{"kind": "model.called", "data": {"error": "server", "model": "a/b"}}] * errors
    called += [{"kind": "reply.unused", "data": {"why": "it is empty"}}] * unused
    return [{"kind": "candidate", "data": {"digest": str(i)}} for i in range(candidates)] + called


def test_steps_in_which_a_model_is_asked_are_counted_and_no_others() -> None:
    counted = steps(True, False, True)
    assert (counted.asked, counted.failed, counted.reason) == (3, 2, "improve: reply 2 could not be used")


def test_who_watches_takes_no_span_from_who_collects() -> None:
    collected: list[str] = []
    watched: list[str] = []
    with collecting(lambda s: collected.append(s.name)), watching(lambda s: watched.append(s.name)), span("step"):
        pass
    assert collected == watched == ["step"]


@pytest.mark.parametrize(
    ("counted", "candidates", "replies", "errors", "unused", "said"),
    [
        ((True, True), 1, 4, 0, 4, "4 of 4 replies of a/b could not be used: it is empty"),
        ((True, True), 9, 4, 0, 4, "4 of 4 replies of a/b could not be used: it is empty"),
        (
            (True, False),
            1,
            4,
            0,
            2,
            "2 of 4 replies of a/b could not be used, and no candidate came of the others: it is",
        ),
        ((True, False), 1, 2, 1, 0, "no candidate came of 2 replies of a/b: improve: reply 0"),
        ((True, False), 9, 4, 0, 1, ""),
        ((False, False), 1, 4, 0, 0, ""),
        ((True, True), 1, 0, 4, 0, ""),
        ((), 0, 4, 0, 0, "nothing was made of 4 replies of a/b"),
        ((), 3, 0, 0, 0, ""),
    ],
    ids=[
        "no candidate",
        "candidates of its own",
        "one of two",
        "an outage after replies",
        "some used",
        "nothing to change",
        "an outage",
        "nothing built",
        "no model",
    ],
)
def test_a_run_failed_if_nothing_of_the_replies_could_be_used(
    counted: tuple[bool, ...], candidates: int, replies: int, errors: int, unused: int, said: str
) -> None:
    found_out = unusable_replies(events(candidates, replies, errors, unused), steps(*counted))
    assert found_out.startswith(said)
    assert bool(found_out) == bool(said)


def test_a_team_failed_if_its_optimizer_gave_nothing_usable_for_any_failure() -> None:
    def evolved(*whats: tuple[str, bool | None]) -> Any:
        return {"decisions": [{"what": what, "accepted": accepted, "reason": "why"} for what, accepted in whats]}

    unusable, again = (UNUSABLE, None), ("did not fail again", None)
    assert "asked to fix 2 failures" in _unusable([evolved(unusable), None, evolved(again, unusable)])
    assert _unusable([evolved(unusable), evolved(("edit", False))]) == "", "a refused edit was understood"
    assert _unusable([evolved(again), None]) == ""
