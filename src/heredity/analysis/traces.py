"""Use of feedback: evidence, edit and outcome of each score-bearing submission (EvoPolicyGym, figure 7).

The rows are for people, so their numbers are rounded, unlike those in the rest of the metrics.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heredity.analysis.run_record import RunRecord, Submission
from heredity.results.run import EditKind, SubmissionRow, Trace

_NOTE_LENGTH = 200


def trace(record: RunRecord, row: SubmissionRow, previous: SubmissionRow | None) -> Trace:
    """Describe one score-bearing submission.

    Args:
        record: the run.
        row: the submission's row in the results.
        previous: the row of the score-bearing submission before it; None for the first.

    Returns:
        A row with the submission's number and three lines of text: the latest feedback its author had, the change, and
        its result.
    """
    submission = record.submissions[row.index]
    seen = record.submissions[submission.evidence] if submission.evidence is not None else None
    return Trace(
        submission=submission.id,
        evidence="no feedback yet" if seen is None else _evidence(seen),
        edit=_edit(row),
        outcome=_outcome(record, row, previous),
    )


def _evidence(seen: Submission) -> str:
    parts = [f"submission {seen.id}"]
    if seen.status != "ok":
        parts.append(f"failed ({seen.status})")
    if seen.mean is not None:
        parts.append(f"train mean {_number(seen.mean)} over {_count(len(seen.outcomes), 'episode')}")
        worst = min((o for o in seen.outcomes if o.get("score") is not None), key=lambda o: o["score"] or 0.0)
        if len(seen.outcomes) > 1:
            parts.append(f"worst task {worst['task']} with {_number(worst['score'] or 0.0)}")
    failed = [o for o in seen.outcomes if o.get("status") != "ok"]
    failure = seen.failure or next((o["failure"] for o in failed if o.get("failure")), None)
    if failed:
        parts.append(f"{len(failed)} of {_count(len(seen.outcomes), 'episode')} failed")
    if failure:
        parts.append(_failure(failure))
    return "; ".join(parts)


def _failure(failure: Mapping[str, Any]) -> str:
    step = failure.get("step_index")
    at = "" if step is None else f" at step {step}"
    return f"{failure.get('category')}{at}: {_short(str(failure.get('message') or ''))}"


def _edit(row: SubmissionRow) -> str:
    edit = row.edit
    if edit is None:
        described = "unknown (the candidate cannot be read)"
    elif edit.kind is EditKind.INITIAL:
        described = f"initial, {_count(edit.lines_total, 'line')}"
    elif edit.kind is EditKind.RETEST:
        described = "retest, unchanged"
    else:
        described = f"{edit.kind}, +{edit.lines_added} -{edit.lines_removed} lines"
    return f"{described}: {_short(row.note)}" if row.note else described


def _outcome(record: RunRecord, row: SubmissionRow, previous: SubmissionRow | None) -> str:
    parts: list[str] = []
    if row.train_mean is not None:
        parts.append(f"train mean {_number(row.train_mean)}")
        if previous is not None and previous.train_mean is not None:
            same = record.submissions[row.index].tasks == record.submissions[previous.index].tasks
            change = row.train_mean - previous.train_mean
            parts[-1] += f" ({'+' if change >= 0 else ''}{_number(change)} on {'the same' if same else 'other'} tasks)"
    parts.append(_validated(row, previous))
    return "; ".join(parts)


def _validated(row: SubmissionRow, previous: SubmissionRow | None) -> str:
    if row.validation_mean is None:
        return "not validated"
    validation = f"validation {_number(row.validation_mean)}"
    if row.edit is not None and row.edit.hit:
        return f"{validation}, a new best"
    if previous is None or row.best_so_far is None:
        return f"{validation}, the first"
    return f"{validation}, best stays {_number(row.best_so_far)}"


def _number(value: float) -> str:
    return f"{value:.4g}"


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _NOTE_LENGTH else f"{line[: _NOTE_LENGTH - 1]}…"
