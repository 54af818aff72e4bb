"""How post-training is judged: the best graded checkpoint, and on a slice that no submission was ever graded on (Agent² RL-Bench).

The graded view's best score within the budget is the paper's result. It chose among submissions, so it flatters them; the held-out
slice says what the chosen checkpoint is worth, paired by item with the base model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from heredity.judging.bench import Bench, Evolved, Reference, Verdict, conclude, score, score_reference
from heredity.judging.session_log import Submission


async def judge(bench: Bench, evolved: Evolved, reference: Reference | None = None) -> Verdict:
    """Judge a closed session and finish the run's journal; what is journalled already is not attempted again.

    Args:
        bench: what the judge works with; its validation is not used, the graded view is the session's own tasks.
        evolved: what the session left.
        reference: the base model.

    Raises:
        HostError: if the grading worker fails; judging continues from the journal when the run is resumed.
        RecordError: if the disk is full or fails.
    """
    best, reason = _best(evolved.submissions)
    submit_id, candidate = (best.submit_id, best.candidate) if best else (None, None)
    await bench.journal_once("judging.selected", {"submit_id": submit_id, "candidate": candidate, "reason": reason})
    heldout = None if candidate is None else await score(bench, bench.heldout, candidate, submit_id)
    scores = await score_reference(bench, reference) if reference else None
    await conclude(bench, evolved.status)
    return Verdict(evolved.status, submit_id, candidate, reason, {}, heldout, scores)


def _best(submissions: Sequence[Submission]) -> tuple[Submission | None, str]:
    """Return the submission with the best graded score, the earliest of equals, and why."""
    graded = [(s.feedback().mean, -s.submit_id, s) for s in submissions if s.status is not None]
    known = [each for each in graded if not math.isnan(each[0])]
    if not known:
        return None, "no checkpoint was graded"
    mean, _, best = max(known, key=lambda each: each[:2])
    return best, f"best graded mean {mean:.6g} of {len(known)} checkpoints"
