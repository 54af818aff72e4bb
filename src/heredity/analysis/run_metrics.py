"""The metrics of one run, computed from its journal (`metrics.json`, see `docs/file-formats.md`).

The same journal gives the same bytes. An unfinished run gives what is known so far, the rest is None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from heredity.analysis.bounds import SHARE, share
from heredity.analysis.changes import changes
from heredity.analysis.code_features import Bundle, read_bundle
from heredity.analysis.commits import decisions, gain, model_usage
from heredity.analysis.edits import Edit, EditClassifier, Step, phases
from heredity.analysis.run_record import RunRecord, Submission, finite, mean, read_run
from heredity.analysis.statistics import mean_interval
from heredity.analysis.syntax import SourceReader
from heredity.analysis.traces import trace
from heredity.analysis.usage import accounts, best_known
from heredity.errors import RecordError
from heredity.protocols.harness_evolution.analysis.journal_metrics import journal_metrics
from heredity.protocols.post_training.analysis import posttraining_metrics
from heredity.resources import Candidate

SCHEMA_VERSION = 1
_CONDITIONS = ("isolation", "taskset_version", "packages", "commitment", "config_digest")
LoadCandidate = Callable[[str], Candidate]


def run_metrics(
    events: Iterable[Mapping[str, Any]],
    load_candidate: LoadCandidate,
    load_blob: Callable[[str], bytes] | None = None,
) -> dict[str, Any]:
    """Compute a run's metrics.

    Args:
        events: the journal's lines as mappings, in order.
        load_candidate: digest of a candidate to the candidate; a `RecordError` or `KeyError` from it means that the
            candidate is gone, and leaves its features and its edit unknown.
        load_blob: digest of a blob to its bytes, for the code of agents; None leaves what it says unknown.

    Returns:
        The content of `metrics.json`: JSON values only, no NaN.
    """
    listed = list(events)
    record = read_run(listed)
    rows = _submission_rows(record, _bundle_loader(load_candidate))
    started = record.started
    training = posttraining_metrics(listed, load_blob)
    reference = _reference(record)
    heldout = _heldout(record) or (_of_reference(record, reference) if training else None)
    evolver = started.get("evolver") or {}
    return {
        "schema_version": SCHEMA_VERSION,
        **{name: started.get(name) for name in ("run_id", "suite_id", "protocol", "taskset", "family", "group")},
        "evolver": {"name": evolver.get("name"), "kind": evolver.get("kind"), "options": evolver.get("options") or {}},
        "seed": started.get("seed"),
        "status": record.status,
        **{name: started.get(name) for name in _CONDITIONS},
        "evolver_failure": dict(record.evolver_failure) if record.evolver_failure else None,
        "budget": _budget(record),
        "submissions": rows,
        "selected": _selected(record),
        "heldout": heldout,
        "reference": reference,
        "gain": gain(heldout, reference, returns=_returns(record)),
        "decisions": decisions(record),
        "changes": _changes(record, load_candidate),
        "model_usage": model_usage(record),
        "best_so_far": [
            [row["budget_used"], row["validation_mean"]] for row, before in _adjacent(rows) if _raises(row, before)
        ],
        "phases": phases([_step(row) for row in rows if row["edit"]]),
        "traces": _traces(record, rows),
        "diagnostics": _diagnostics(record, rows),
        "tokens": best_known(record.usage).to_json() if record.usage else None,
        "agent_accounts": accounts(record.usage),
        "harness": journal_metrics(listed, load_candidate),
        "posttraining": training,
    }


def _changes(record: RunRecord, load: LoadCandidate) -> list[dict[str, Any]] | None:
    """Return what commits changed; None without commits, or if a candidate is gone."""
    committed = [decision["candidate"] for decision in record.decisions if decision["accepted"]]
    if not committed:
        return None
    try:
        return changes(load(committed[0]), load(committed[-1]))
    except (RecordError, KeyError):
        return None


def _bundle_loader(load_candidate: LoadCandidate) -> Callable[[str], Bundle | None]:
    reader = SourceReader()
    known: dict[str, Bundle | None] = {}

    def load(digest: str) -> Bundle | None:
        if digest not in known:
            try:
                known[digest] = read_bundle(load_candidate(digest), reader)
            except (RecordError, KeyError):
                known[digest] = None
        return known[digest]

    return load


def _submission_rows(record: RunRecord, load: Callable[[str], Bundle | None]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    classifier = EditClassifier()
    used = 0
    best: float | None = None
    for submission in record.submissions.values():
        used += submission.charge
        bundle = load(submission.candidate)
        scored = record.scores_of("validation", submission.id, submission.candidate)
        validation = mean(map(finite, scored["scores"])) if scored and submission.status == "ok" else None
        edit = classifier.next(bundle) if bundle is not None and submission.status == "ok" else None
        raised = None if validation is None else best is not None and validation > best
        if validation is not None:
            best = validation if best is None else max(best, validation)
        rows.append(
            {
                **_attempts(submission),
                "budget_used": used,
                "validation_mean": validation,
                "best_so_far": best,
                "edit": None if edit is None else _edit_row(edit, raised),
                "features": None if bundle is None else bundle.features.to_json(),
            }
        )
    return rows


def _attempts(submission: Submission) -> dict[str, Any]:
    outcomes, done = submission.outcomes, submission.completion or {}
    lengths = [int(o.get("length") or 0) for o in outcomes]
    invalid = done.get("invalid_steps")
    return {
        "index": submission.id,
        "candidate": submission.candidate,
        "parents": list(submission.parents),
        "note": submission.note,
        "status": submission.status,
        "episodes": submission.charge,
        "train_mean": submission.mean,
        "train_scores": submission.scores,
        "lengths": lengths,
        "failures": sum(o.get("status") != "ok" and o.get("score") is not None for o in outcomes),
        "missing": sum(o.get("score") is None for o in outcomes),
        "failure": submission.failure,
        "invalid_steps": sum(invalid) if invalid is not None else None,
        "invalid_rate": _ratio(sum(invalid), sum(lengths)) if invalid is not None else None,
        "seconds": finite(done.get("seconds")),
    }


def _edit_row(edit: Edit, hit: bool | None) -> dict[str, Any]:
    return {
        "kind": edit.kind,
        "hit": hit,
        "lines_added": edit.lines_added,
        "lines_removed": edit.lines_removed,
        "lines_total": edit.lines_total,
    }


def _budget(record: RunRecord) -> dict[str, Any]:
    return {
        "episodes": (record.started.get("budget") or {}).get("episodes"),
        "used": sum(s.charge for s in record.submissions.values()),
        "submissions": len(record.submissions),
        "rejected": record.rejected,
        "wall_seconds": record.wall_seconds,
        "resumes": record.resumes,
    }


def _selected(record: RunRecord) -> dict[str, Any] | None:
    chosen = record.selected
    if chosen is None or chosen.get("candidate") is None:
        return None
    scored = record.scores_of("validation", chosen.get("submit_id"), chosen["candidate"])
    return {
        "index": chosen.get("submit_id"),
        "candidate": chosen["candidate"],
        "validation_mean": mean(map(finite, scored["scores"])) if scored else None,
    }


def _heldout(record: RunRecord) -> dict[str, Any] | None:
    chosen = record.selected or {}
    scored = record.scores_of("heldout", chosen.get("submit_id"), chosen.get("candidate"))
    return None if scored is None else _scored(record, scored["scores"], scored.get("statuses"))


def _of_reference(record: RunRecord, reference: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the base model's scores for a run of post-training that ended with nothing else: that is what it leaves."""
    chosen = record.selected
    if reference is None or chosen is None or chosen.get("candidate") is not None:
        return None
    return _scored(record, reference["heldout_scores"], None)


def _returns(record: RunRecord) -> bool:
    """Say whether scores are returns of episodes, which may be anything, also where they happen to lie between 0 and 1."""
    return record.started.get("protocol") == "policy-evolution"


def _scored(record: RunRecord, listed: Sequence[Any], told: Sequence[str] | None) -> dict[str, Any]:
    scores = [finite(s) for s in listed]
    known = [s for s in scores if s is not None]
    interval = mean_interval(known, bounds=SHARE if share(known) and not _returns(record) else None)
    statuses = told or ["ok"] * len(scores)
    return {
        "scores": scores,
        "mean": mean(scores),
        "ci": None if interval is None else list(interval),
        "n": len(known),
        "failures": sum(x != "ok" and s is not None for x, s in zip(statuses, scores, strict=True)),
        "missing": len(scores) - len(known),
    }


def _reference(record: RunRecord) -> dict[str, Any] | None:
    found = [(name, data) for (name, view), data in record.references.items() if view == "heldout"]
    if not found:
        return None
    name, scored = found[0]
    scores = [finite(s) for s in scored["scores"]]
    return {"name": name, "heldout_mean": mean(scores), "heldout_scores": scores}


def _traces(record: RunRecord, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    before: dict[int, Mapping[str, Any] | None] = {}
    previous: Mapping[str, Any] | None = None
    for row in rows:
        if row["status"] == "ok":
            before[row["index"]] = previous
            previous = row
    return [trace(record, row, before[row["index"]]) for row in rows if row["index"] in before]


def _diagnostics(record: RunRecord, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    edited = [row for row in rows if row["edit"]]
    kinds = Counter(row["edit"]["kind"] for row in edited)
    hits = [row for row in edited if row["edit"]["hit"]]
    hit_kinds = Counter(row["edit"]["kind"] for row in hits)
    steps = [(row["invalid_steps"], sum(row["lengths"])) for row in rows if row["invalid_steps"] is not None]
    sizes = [row["edit"]["lines_total"] for row in edited]
    scored = [row["validation_mean"] for row in edited if row["validation_mean"] is not None]
    return {
        "improvements": len(hits),
        "first_improvement": hits[0]["budget_used"] if hits else None,
        "score_drops": sum(after < before for before, after in pairwise(scored)),
        "rollbacks": kinds["rollback"],
        "retests": kinds["retest"],
        "invalid_transition_rate": _ratio(sum(i for i, _ in steps), sum(n for _, n in steps)),
        "complexity_growth": _ratio(sizes[-1], sizes[0]) if sizes else None,
        "budget_per_submission": _ratio(sum(s.charge for s in record.submissions.values()), len(rows)),
        "failed_submissions": sum(row["status"] not in (None, "ok") for row in rows),
        "unreadable_candidates": len({row["candidate"] for row in rows if row["features"] is None}),
        "edits": {kind: {"n": kinds[kind], "hits": hit_kinds[kind]} for kind in ("synthesis", "parametric")},
        "edit_size": [
            {"lines": row["edit"]["lines_added"] + row["edit"]["lines_removed"], "improved": row["edit"]["hit"]}
            for row in edited
            if row["edit"]["kind"] != "initial" and row["edit"]["hit"] is not None
        ],
    }


def _adjacent(rows: Sequence[Mapping[str, Any]]) -> Iterable[tuple[Mapping[str, Any], Mapping[str, Any] | None]]:
    return zip(rows, [None, *rows][: len(rows)], strict=True)


def _raises(row: Mapping[str, Any], before: Mapping[str, Any] | None) -> bool:
    return row["best_so_far"] is not None and (before is None or row["best_so_far"] != before["best_so_far"])


def _step(row: Mapping[str, Any]) -> Step:
    return Step(row["index"], row["edit"]["kind"], row["budget_used"] - row["episodes"], row["budget_used"])


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
