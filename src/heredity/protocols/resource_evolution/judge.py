"""How resource evolution is judged: the last committed candidate and the one it began with, on the same held-out tasks.

Commits are the method's own, made on the session's evidence (Autogenesis, section 3.2). The judge only asks what they
were worth: accuracy before and after, paired by task.
"""

from __future__ import annotations

from collections.abc import Sequence

from heredity.judging.bench import Bench, Evolved, Reference, Verdict, conclude, require, score, score_reference
from heredity.records import Event
from heredity.records.events import JUDGING_SELECTED


async def judge(bench: Bench, evolved: Evolved, reference: Reference | None = None) -> Verdict:
    """Judge a closed session and finish the run's journal; what is recorded already is not attempted again.

    Args:
        bench: what the judge works with; its validation is not used.
        evolved: what the session left.
        reference: the candidate that the run began with.

    Raises:
        HostError: if the runner fails, or not one held-out attempt could be made; judging continues from the
            journal when the run is resumed.
        RecordError: if the disk is full or fails.
    """
    committed = [d for d in evolved.decisions if d.accepted]
    candidate = selected(evolved)
    submit_id = next((s.submit_id for s in reversed(evolved.submissions) if s.candidate == candidate), None)
    refused = sum(not d.accepted for d in evolved.decisions)
    reason = (
        f"the last of {len(committed)} commits; {refused} candidates were refused"
        if committed
        else "nothing was committed"
    )
    await bench.journal_once(JUDGING_SELECTED.line({"submit_id": submit_id, "candidate": candidate, "reason": reason}))
    heldout = (
        None
        if candidate is None
        else require(await score(bench, bench.view("heldout"), candidate, submit_id), "held-out rollouts")
    )
    scores = await score_reference(bench, reference) if reference else None
    await conclude(bench, evolved.status)
    return Verdict(evolved.status, submit_id, candidate, reason, {}, heldout, scores)


def selected(evolved: Evolved, events: Sequence[Event] = ()) -> str | None:
    """Return the last committed candidate, from the decisions alone (see `Selection`)."""
    return next((decision.candidate for decision in reversed(evolved.decisions) if decision.accepted), None)
