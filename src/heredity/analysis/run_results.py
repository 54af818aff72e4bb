"""The results of one run, computed from its journal (`metrics.json`, see `docs/file-formats.md`).

The same journal gives the same bytes. For an unfinished run, unknown values are None.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from heredity._core.errors import RecordError
from heredity._core.ids import generator
from heredity.analysis.contract import CommonMetrics, LoadCandidate, Metrics, RunEvidence
from heredity.analysis.mechanisms import stand_ins
from heredity.analysis.paired import compare_paired, verdict
from heredity.analysis.run_record import RunRecord, Submission, finite, lost, mean
from heredity.analysis.samples import (
    GAP,
    LARGEST,
    SHARE,
    Clusters,
    Floats,
    clustered,
    differences,
    finite_values,
    missing_bounds,
    scaled,
    share,
    times,
)
from heredity.analysis.statistics import CONFIDENCE, case_mean, combined
from heredity.analysis.suite_table import table_of
from heredity.analysis.syntax import Bundle, SourceReader, read_bundle
from heredity.analysis.traces import trace
from heredity.analysis.usage import accounts, best_known
from heredity.models import Usage
from heredity.models.contract import NOTHING_USED
from heredity.records.agent_starts import Start
from heredity.records.events import Scored
from heredity.resources import Candidate, SourceTree
from heredity.results.base import COVERAGE, SCHEMA_VERSION, Interval, Times
from heredity.results.run import (
    AgentStart,
    Budget,
    Change,
    ChangeStatus,
    Decision,
    Diagnostics,
    Edit,
    EditCounts,
    EditHits,
    EditKind,
    EditSize,
    Evolver,
    EvolverFailure,
    Failure,
    FurtherReference,
    Gain,
    HeldOut,
    MethodTokens,
    ModelTokens,
    ModelUsage,
    Phase,
    Reference,
    RunResults,
    RunStatus,
    Selected,
    Selection,
    SubmissionRow,
    Trace,
)
from heredity.results.status import Status

MOST_LINES = 400
"""Maximum lines of a file's diff."""
_CONTEXT = 2
_LINE_CHARS = 2000


def changes(before: Candidate, after: Candidate) -> list[Change]:
    """Return one entry per changed file, by part and path, with a truncated unified diff without its header."""
    empty = SourceTree({})
    entries: list[Change] = []
    for part in sorted({*before.parts, *after.parts}):
        old, new = before.parts.get(part, empty), after.parts.get(part, empty)
        entries += [_change(part, path, old, new) for path in sorted({*old, *new}) if old.get(path) != new.get(path)]
    return entries


def _change(part: str, path: str, old: SourceTree, new: SourceTree) -> Change:
    status = (
        ChangeStatus.ADDED if path not in old else ChangeStatus.REMOVED if path not in new else ChangeStatus.CHANGED
    )
    was, now = (tree.texts().get(path, None if path in tree else "") for tree in (old, new))
    if was is None or now is None:
        return Change(part=part, file=path, status=status, added=None, removed=None, diff=None)
    lines = list(difflib.unified_diff(was.splitlines(), now.splitlines(), n=_CONTEXT, lineterm=""))[2:]
    shown = [line if len(line) <= _LINE_CHARS else f"{line[:_LINE_CHARS]}…" for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        shown.append(f"… {len(lines) - MOST_LINES} more lines")
    added, removed = (sum(line[0] == sign for line in lines) for sign in "+-")
    return Change(part=part, file=path, status=status, added=added, removed=removed, diff="\n".join(shown))


_UNKNOWN: Mapping[str, Any] = Usage().to_json()


def decisions(record: RunRecord) -> list[Decision]:
    """Return commits and refusals, in order."""
    return [
        Decision(
            candidate=data["candidate"],
            baseline=data["baseline"],
            accepted=data["accepted"],
            reason=data["reason"],
            submissions=list(data["submissions"]),
            difference=finite(data["difference"]),
            interval=None if data["interval"] is None else (data["interval"][0], data["interval"][1]),
            pairs=data["pairs"],
            tolerance=data["tolerance"],
        )
        for data in record.decisions
    ]


def gain(
    heldout: HeldOut | None, reference: Reference | None, *, returns: bool, coverage: float = COVERAGE
) -> Gain | None:
    """Return held-out after minus before, paired by task; None unless both were scored.

    `returns` marks scores as returns, whose bounds are unknown; `coverage` is the share of pairs that a verdict
    requires.
    """
    if heldout is None or reference is None:
        return None
    after, before = table_of([heldout.scores, reference.heldout_scores])
    gaps = differences(after, before)
    paired = np.isfinite(gaps)
    bounds = GAP if share(after[paired], before[paired]) and not returns else None
    comparison = compare_paired([gaps[None, :]], bounds=bounds, clusters=[heldout.clusters], least=coverage)
    if comparison is None:
        return None
    return Gain(
        difference=comparison.difference,
        ci=comparison.interval,
        p=comparison.p,
        mde=comparison.mde,
        pairs=comparison.cases,
        verdict=verdict(comparison.difference, comparison.p, untold=comparison.untold),
        clusters=comparison.clusters,
        because=comparison.untold,
    )


def model_usage(record: RunRecord) -> ModelUsage | None:
    """Return the usage of model calls by rollouts, the method and judging. None if no rollout makes any.

    Unknown values stay None, and so do sums that include them.
    """
    rollouts = [s.completion.get("usage") for s in record.submissions.values() if s.completion]
    if not any(rollouts) and not record.calls:
        return None
    views = {(data["view"], data["candidate"]): data for data in record.scored.values()}
    method = _total(c["usage"] or _UNKNOWN for c in record.calls)
    return ModelUsage(
        rollouts=_tokens(_total(rollouts)),
        method=MethodTokens(
            input_tokens=method.input_tokens,
            output_tokens=method.output_tokens,
            cached_tokens=method.cached_tokens,
            cost_usd=finite(method.cost_usd),
            calls=len(record.calls),
        ),
        judging=_tokens(_total(data.get("usage") for data in views.values())),
        failed_calls=sum(c["error"] is not None for c in record.calls),
        unused_replies=len(record.unused),
        unused_because=Counter(data["why"] for data in record.unused).most_common(1)[0][0] if record.unused else None,
    )


def _total(usages: Iterable[Mapping[str, Any] | None]) -> Usage:
    return sum((Usage(**usage) for usage in usages if usage), NOTHING_USED)


def _tokens(usage: Usage) -> ModelTokens:
    return ModelTokens(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cached_tokens,
        cost_usd=finite(usage.cost_usd),
    )


PHASE_KINDS = {
    EditKind.INITIAL: EditKind.SYNTHESIS,
    EditKind.SYNTHESIS: EditKind.SYNTHESIS,
    EditKind.PARAMETRIC: EditKind.PARAMETRIC,
}
"""Edits that make phases; rollbacks and retests are events on the timeline and neither begin nor end a phase."""

_ALIGNED_LINES = 1000


class EditClassifier:
    """Classifies the edits of one run, submission by submission."""

    def __init__(self) -> None:
        self._previous: Bundle | None = None
        self._seen: set[str] = set()

    def next(self, bundle: Bundle, hit: bool | None = None) -> Edit:
        """Return the edit that led to the next score-bearing submission's bundle; `hit` is True if it raised the best."""
        kind = self._kind(bundle)
        added, removed = changed_lines({} if self._previous is None else self._previous.lines, bundle.lines)
        self._previous = bundle
        self._seen.add(bundle.topology)
        total = bundle.features.lines
        return Edit(kind=kind, hit=hit, lines_added=added, lines_removed=removed, lines_total=total)

    def _kind(self, bundle: Bundle) -> EditKind:
        if self._previous is None:
            return EditKind.INITIAL
        if bundle.digest == self._previous.digest:
            return EditKind.RETEST
        if bundle.topology == self._previous.topology:
            return EditKind.PARAMETRIC
        return EditKind.ROLLBACK if bundle.topology in self._seen else EditKind.SYNTHESIS


def changed_lines(before: Mapping[str, Sequence[str]], after: Mapping[str, Sequence[str]]) -> tuple[int, int]:
    """Return the numbers of lines (added, removed) between two sets of modules, file by file."""
    added = removed = 0
    for path in sorted({*before, *after}):
        plus, minus = _changed_in_file(before.get(path, ()), after.get(path, ()))
        added += plus
        removed += minus
    return added, removed


def _changed_in_file(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """Count added and removed lines, aligned if affordable, else as a difference of multisets."""
    head, limit = 0, min(len(before), len(after))
    while head < limit and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < limit - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if not old or not new:
        return len(new), len(old)
    if len(old) + len(new) <= _ALIGNED_LINES:
        blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
        kept = sum(block.size for block in blocks)
    else:
        kept = (Counter(old) & Counter(new)).total()
    return len(new) - kept, len(old) - kept


def phases(rows: Iterable[SubmissionRow]) -> list[Phase]:
    """Join adjacent edits of one kind into phases (EvoPolicyGym, figure 5); the initial submission counts as synthesis."""
    joined: list[Phase] = []
    for row in rows:
        kind = PHASE_KINDS.get(row.edit.kind) if row.edit else None
        if kind is None:
            continue
        start, first = row.budget_used - row.episodes, row.index
        if joined and joined[-1].kind is kind:
            before = joined.pop()
            start, first = before.start, before.first
        joined.append(Phase(kind=kind, start=start, stop=row.budget_used, first=first, last=row.index))
    return joined


FOLDS = 5
REPEATS = 20


def best_corrected(scores: ArrayLike, folds: int = FOLDS, repeats: int = REPEATS) -> list[float] | None:
    """Return the best mean among the first 1, 2, … candidates, without the bias of picking it on the same cases.

    Args:
        scores: shape (candidates, cases), in discovery order, higher is better; NaN is missing.
        folds: number of parts that cases are split into, at least 2.
        repeats: number of random splits.

    Returns:
        One value per candidate, not monotonic, unlike the naive curve; None with fewer than two cases or a candidate
        without a score on four fifths of them.
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 2:
        return None
    (table,), scale = scaled([table])
    draws = generator(0, "analysis", "folds")
    folds = min(folds, table.shape[1])
    curves = [_curve(table, draws.permutation(table.shape[1]) % folds, folds) for _ in range(repeats)]
    mean = np.mean(curves, axis=0)
    return None if np.isnan(mean).any() else [_sized(value, scale) for value in mean.tolist()]


def _sized(value: float, scale: float) -> float:
    return min(max(value * scale, -LARGEST), LARGEST)


def _curve(table: Floats, fold: np.ndarray, folds: int) -> Floats:
    present = ~np.isnan(table)
    values = np.where(present, table, 0.0)
    member = (np.arange(folds)[None, :] == fold[:, None]).astype(np.float64)
    sums, counts = values @ member, present @ member
    with np.errstate(invalid="ignore"):
        chosen_by = (sums.sum(axis=1, keepdims=True) - sums) / (counts.sum(axis=1, keepdims=True) - counts)
    # For each candidate the best up to it, picked in each fold without that fold; ties go to the earliest.
    picked = np.zeros(folds, dtype=np.intp)
    curve = np.empty(len(table))
    for i in range(len(table)):
        better = chosen_by[i] > chosen_by[picked, np.arange(folds)]
        picked = np.where(better, i, picked)
        own = np.arange(folds)
        curve[i] = sums[picked, own].sum() / counts[picked, own].sum()
    return curve


def gap(validation: Sequence[float], heldout: Sequence[float]) -> tuple[float, Interval | None]:
    """Return the validation mean minus the held-out mean, with its interval; their cases differ (Welch)."""
    sides, scale = scaled([finite_values(values) for values in (validation, heldout)])
    difference = float(sides[0].mean() - sides[1].mean())
    if min(side.size for side in sides) < 2:
        return _sized(difference, scale), None
    parts = [(float(side.var(ddof=1)) / side.size, side.size - 1) for side in sides]
    return _sized(difference, scale), times(combined(difference, parts, CONFIDENCE).interval, scale)


_COMMON = CommonMetrics()


def _dropped(record: RunRecord) -> list[str]:
    if not record.dropped:
        return []
    return [
        f"dropped from the agent's requests, since its model's API has no place for them: {', '.join(sorted(record.dropped))}"
    ]


def run_results(evidence: RunEvidence, metrics: Metrics | None = None) -> RunResults:
    """Compute a run's results.

    Args:
        evidence: its journal and blobs.
        metrics: its protocol's contribution to results; None for a protocol without specific figures.
    """
    record, terms = evidence.record, metrics or _COMMON
    rows = _submission_rows(record, _bundle_loader(evidence.load_candidate))
    started = record.started
    reference, *others = _references(record) or [None]
    heldout = _heldout(evidence, reference, terms)
    corrected = _best_corrected(record, rows)
    return RunResults(
        schema_version=SCHEMA_VERSION,
        run_id=started.get("run_id"),
        suite_id=started.get("suite_id"),
        protocol=started.get("protocol"),
        taskset=started.get("taskset"),
        family=started.get("family"),
        group=started.get("group"),
        labels=dict(started.get("labels") or {}),
        notes=[*(started.get("notes") or []), *_dropped(record)],
        evolver=_evolver(record),
        seed=started.get("seed"),
        status=RunStatus(record.status),
        isolation=started.get("isolation"),
        taskset_version=started.get("taskset_version"),
        packages=dict(started["packages"]) if "packages" in started else None,
        commitment=started.get("commitment"),
        coverage=record.coverage,
        conditions=dict(started.get("conditions") or {}),
        config_digest=started.get("config_digest"),
        stand_ins=stand_ins(record),
        evolver_failure=_evolver_failure(record),
        budget=_budget(record),
        submissions=rows,
        selected=_selected(record),
        selection=_selection(record, heldout, corrected),
        heldout=heldout,
        reference=reference,
        gain=gain(heldout, reference, returns=terms.returns, coverage=record.coverage),
        further=[
            FurtherReference(**dict(other), gain=gain(heldout, other, returns=terms.returns, coverage=record.coverage))
            for other in others
            if other is not None
        ],
        decisions=decisions(record),
        changes=_changes(record, evidence.load_candidate),
        model_usage=model_usage(record),
        best_so_far=_best_so_far(rows),
        best_corrected=corrected,
        phases=phases(rows),
        traces=_traces(record, rows),
        diagnostics=_diagnostics(record, rows),
        tokens=best_known(record.usage).results() if record.usage else None,
        agent_accounts=accounts(record.usage),
        starts=[_start(start) for start in record.starts],
        times=times_between(record.first_at, record.ended_at),
        organisation=started.get("organisation"),
        part=terms.of_run(evidence),
    )


def times_between(start: float | None, end: float | None) -> Times | None:
    """Return times from seconds since 1970, to the millisecond; None without a start."""
    if start is None:
        return None
    first, *last = (
        datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds") for at in (start, end) if at is not None
    )
    seconds = None if end is None else round(max(end - start, 0.0), 3)
    return Times(started=first, ended=last[0] if last else None, seconds=seconds)


def _evolver(record: RunRecord) -> Evolver:
    evolver = record.started.get("evolver") or {}
    return Evolver(name=evolver.get("name"), kind=evolver.get("kind"), options=evolver.get("options") or {})


def _evolver_failure(record: RunRecord) -> EvolverFailure | None:
    failure = record.evolver_failure
    return EvolverFailure(message=failure["message"], traceback=failure.get("traceback") or "") if failure else None


def _start(start: Start) -> AgentStart:
    ended = start.ended
    return AgentStart(
        number=start.number,
        submissions=start.submissions,
        code=ended["code"] if ended else None,
        reason=ended["reason"] if ended else None,
        seconds=ended["seconds"] if ended else None,
        output=ended["output"] if ended else "",
    )


def _changes(record: RunRecord, load: LoadCandidate) -> list[Change] | None:
    """Return the changes made by commits; None without commits, or if a candidate is gone."""
    committed = [decision["candidate"] for decision in record.decisions if decision["accepted"]]
    if not committed:
        return None
    try:
        return changes(load(committed[0]), load(committed[-1]))
    except (RecordError, KeyError):
        return None


def _bundle_loader(load_candidate: LoadCandidate) -> Callable[[str], Bundle | None]:
    reader = SourceReader()
    bundles: dict[str, Bundle | None] = {}

    def load(digest: str) -> Bundle | None:
        if digest not in bundles:
            try:
                bundles[digest] = read_bundle(load_candidate(digest), reader)
            except (RecordError, KeyError):
                bundles[digest] = None
        return bundles[digest]

    return load


def _submission_rows(record: RunRecord, load: Callable[[str], Bundle | None]) -> list[SubmissionRow]:
    rows: list[SubmissionRow] = []
    classifier = EditClassifier()
    used = 0
    best: float | None = None
    for submission in record.submissions.values():
        used += submission.charge
        bundle = load(submission.candidate)
        scored = record.scores_of("validation", submission.id, submission.candidate)
        validation = _mean_of(scored) if scored and submission.status == "ok" else None
        raised = None if validation is None else best is not None and validation > best
        edit = classifier.next(bundle, raised) if bundle is not None and submission.status == "ok" else None
        if validation is not None:
            best = validation if best is None else max(best, validation)
        rows.append(_submission_row(submission, used, validation, best, edit, bundle))
    return rows


def _submission_row(
    submission: Submission,
    used: int,
    validation: float | None,
    best: float | None,
    edit: Edit | None,
    bundle: Bundle | None,
) -> SubmissionRow:
    outcomes, done = submission.outcomes, submission.completion or {}
    lengths = [int(o.get("length") or 0) for o in outcomes]
    invalid = done.get("invalid_steps")
    return SubmissionRow(
        index=submission.id,
        candidate=submission.candidate,
        parents=list(submission.parents),
        note=submission.note,
        status=submission.status,
        episodes=submission.charge,
        budget_used=used,
        train_mean=submission.mean,
        train_scores=submission.scores,
        lengths=lengths,
        failures=sum(o.get("status") not in (Status.OK, Status.MISSING) for o in outcomes),
        missing=sum(o.get("status") == Status.MISSING for o in outcomes),
        failure=_failure(submission),
        invalid_steps=sum(invalid) if invalid is not None else None,
        invalid_rate=_ratio(sum(invalid), sum(lengths)) if invalid is not None else None,
        seconds=finite(done.get("seconds")),
        validation_mean=validation,
        best_so_far=best,
        edit=edit,
        features=None if bundle is None else bundle.features,
    )


def _failure(submission: Submission) -> Failure | None:
    failure = submission.failure
    if not failure:
        return None
    return Failure(
        category=failure.get("category") or "failed",
        message=failure.get("message") or "",
        traceback=failure.get("traceback") or "",
        step_index=failure.get("step_index"),
    )


def _budget(record: RunRecord) -> Budget:
    return Budget(
        episodes=(record.started.get("budget") or {}).get("episodes"),
        used=sum(s.charge for s in record.submissions.values()),
        submissions=len(record.submissions),
        rejected=record.rejected,
        wall_seconds=record.wall_seconds,
        resumes=record.resumes,
    )


def _selected(record: RunRecord) -> Selected | None:
    chosen = record.selected
    candidate = chosen["candidate"] if chosen else None
    if chosen is None or candidate is None:
        return None
    scored = record.scores_of("validation", chosen["submit_id"], candidate)
    return Selected(
        index=chosen["submit_id"],
        candidate=candidate,
        validation_mean=_mean_of(scored) if scored else None,
    )


def _mean_of(scored: Scored) -> float | None:
    """Return the mean of the values that are not missing; None if a rollout failed without a score."""
    return None if lost(scored["statuses"], scored["scores"]) else mean(map(finite, scored["scores"]))


def _validated(record: RunRecord, row: SubmissionRow) -> list[float | None] | None:
    """Return the validation scores of a score-bearing submission, by case."""
    scored = record.scores_of("validation", row.index, row.candidate)
    return None if scored is None or row.validation_mean is None else [finite(s) for s in scored["scores"]]


def _best_corrected(record: RunRecord, rows: Sequence[SubmissionRow]) -> list[tuple[int, float]]:
    """Return (budget used, best so far as picked on other cases) of each validated row."""
    scored = [(row.budget_used, scores) for row in rows if (scores := _validated(record, row)) is not None]
    width = min((len(scores) for _, scores in scored), default=0)
    table = np.array([scores[:width] for _, scores in scored], dtype=np.float64)
    curve = best_corrected(table) if scored else None
    return [] if curve is None else [(used, value) for (used, _), value in zip(scored, curve, strict=True)]


def _selection(record: RunRecord, heldout: HeldOut | None, corrected: Sequence[tuple[int, float]]) -> Selection | None:
    chosen = _selected(record)
    if chosen is None or chosen.validation_mean is None:
        return None
    scored = record.scores_of("validation", chosen.index, chosen.candidate)
    validation = [] if scored is None else _independent_values(map(finite, scored["scores"]), scored.get("clusters"))
    judged = [] if heldout is None else _independent_values(heldout.scores, heldout.clusters)
    difference, interval = gap(validation, judged) if len(judged) else (None, None)
    return Selection(
        candidates=len({data["candidate"] for data in record.scored.values() if data["view"] == "validation"}),
        validation_mean=chosen.validation_mean,
        corrected=corrected[-1][1] if corrected else None,
        heldout_mean=heldout.mean if heldout else None,
        gap=difference,
        ci=interval,
    )


def _independent_values(scores: Iterable[float | None], clusters: Clusters | None) -> Sequence[float]:
    """Return the known scores, or cluster values for cases that were drawn together."""
    return finite_values(clustered(np.array(list(scores), dtype=np.float64), clusters)).tolist()


def _heldout(evidence: RunEvidence, reference: Reference | None, terms: Metrics) -> HeldOut | None:
    record = evidence.record
    chosen = record.selected or {}
    scored = record.scores_of("heldout", chosen.get("submit_id"), chosen.get("candidate"))
    if scored is not None and lost(scored.get("statuses", ()), scored["scores"]):
        return None
    if scored is not None:
        return _heldout_of(scored["scores"], scored.get("statuses"), terms, scored.get("clusters"))
    selected_nothing = record.selected is not None and chosen.get("candidate") is None
    if selected_nothing and reference is not None and terms.keeps_reference(evidence):
        return _heldout_of(reference.heldout_scores, None, terms, _clusters_of_reference(record))
    return None


def _clusters_of_reference(record: RunRecord) -> Sequence[int | None] | None:
    scored = next((data for (_, view), data in record.references.items() if view == "heldout"), None)
    return scored.get("clusters") if scored else None


def _heldout_of(
    listed: Sequence[Any], statuses: Sequence[str] | None, terms: Metrics, clusters: Sequence[int | None] | None
) -> HeldOut:
    scores = [finite(s) for s in listed]
    present = [s for s in scores if s is not None]
    sides = statuses or ["ok"] * len(scores)
    bounds = SHARE if share(present) and not terms.returns else None
    estimate = case_mean([np.array(scores, np.float64)], bounds=bounds, clusters=[clusters])
    return HeldOut(
        scores=scores,
        mean=mean(scores),
        ci=None if estimate is None else estimate.interval,
        ci_unknown=None if estimate is None else estimate.unknown,
        n=len(present),
        failures=sum(side != "ok" and s is not None for side, s in zip(sides, scores, strict=True)),
        missing=len(scores) - len(present),
        if_missing=missing_bounds(np.array(scores, np.float64), bounds),
        clusters=None if clusters is None else list(clusters),
    )


def _references(record: RunRecord) -> list[Reference]:
    """Return the references of the run in recorded order: the protocol's first."""
    listed = {
        name: [finite(s) for s in scored["scores"]]
        for (name, view), scored in record.references.items()
        if view == "heldout"
    }
    return [Reference(name=name, heldout_mean=mean(s), heldout_scores=s) for name, s in listed.items()]


def _traces(record: RunRecord, rows: Sequence[SubmissionRow]) -> list[Trace]:
    scored = [row for row in rows if row.status == "ok"]
    return [trace(record, row, before) for row, before in zip(scored, [None, *scored], strict=False)]


def _diagnostics(record: RunRecord, rows: Sequence[SubmissionRow]) -> Diagnostics:
    edited = [(row, row.edit) for row in rows if row.edit is not None]
    kinds = Counter(edit.kind for _, edit in edited)
    hits = [row for row, edit in edited if edit.hit]
    hit_kinds = Counter(edit.kind for _, edit in edited if edit.hit)
    steps = [(row.invalid_steps, sum(row.lengths)) for row in rows if row.invalid_steps is not None]
    sizes = [edit.lines_total for _, edit in edited]
    scored = [row.validation_mean for row, _ in edited if row.validation_mean is not None]

    def hits_of(kind: EditKind) -> EditHits:
        return EditHits(n=kinds[kind], hits=hit_kinds[kind])

    return Diagnostics(
        improvements=len(hits),
        first_improvement=hits[0].budget_used if hits else None,
        score_drops=sum(after < before for before, after in pairwise(scored)),
        rollbacks=kinds[EditKind.ROLLBACK],
        retests=kinds[EditKind.RETEST],
        invalid_transition_rate=_ratio(sum(i for i, _ in steps), sum(n for _, n in steps)),
        complexity_growth=_ratio(sizes[-1], sizes[0]) if sizes else None,
        budget_per_submission=_ratio(sum(s.charge for s in record.submissions.values()), len(rows)),
        failed_submissions=sum(row.status not in (None, "ok") for row in rows),
        unreadable_candidates=len({row.candidate for row in rows if row.features is None}),
        edits=EditCounts(synthesis=hits_of(EditKind.SYNTHESIS), parametric=hits_of(EditKind.PARAMETRIC)),
        edit_size=_edit_sizes(edit for _, edit in edited),
    )


def _edit_sizes(edits: Iterable[Edit]) -> list[EditSize]:
    return [
        EditSize(lines=edit.lines_added + edit.lines_removed, improved=edit.hit)
        for edit in edits
        if edit.kind is not EditKind.INITIAL and edit.hit is not None
    ]


def _best_so_far(rows: Sequence[SubmissionRow]) -> list[tuple[int, float]]:
    """Return (budget used, validation mean) of each row that raises the best."""
    points: list[tuple[int, float]] = []
    for row, before in zip(rows, [None, *rows], strict=False):
        rises = row.best_so_far is not None and (before is None or row.best_so_far != before.best_so_far)
        if rises and row.validation_mean is not None:
            points.append((row.budget_used, row.validation_mean))
    return points


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
