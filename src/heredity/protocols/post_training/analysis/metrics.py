"""The post-training part of a run's `metrics.json`, including length-controlled win rates (as in AlpacaEval 2.0)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, repeat
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heredity._core.errors import ConfigError, RecordError
from heredity._core.ids import generator
from heredity.analysis.contract import LoadBlob, no_blob
from heredity.analysis.run_record import finite, mean
from heredity.analysis.samples import GAP, SHARE, Clusters, cluster_codes, enough_runs
from heredity.analysis.statistics import CONFIDENCE, Floats, student_quantile
from heredity.engine.trajectory import decode_many
from heredity.protocols.post_training.analysis.failures import (
    against_base,
    base_scores,
    best_step,
    described,
    exit_words,
    failure_of,
    heldout,
    noise,
    paired,
    run_failures,
)
from heredity.protocols.post_training.analysis.record import (
    GRADED,
    HELDOUT,
    Json,
    PostTraining,
    Scores,
    Step,
    read_posttraining,
)
from heredity.protocols.post_training.analysis.routes import (
    COPY,
    Code,
    CodeReader,
    Graded,
    Setting,
    audit,
    read_revision,
    route_of,
)
from heredity.protocols.post_training.events import BASELINE_SCORED
from heredity.protocols.post_training.results import (
    AgentEnd,
    Baseline,
    BestCheckpoint,
    Excerpt,
    Gain,
    ItemsMet,
    Iteration,
    LengthControlled,
    Points,
    Process,
    Revision,
    Routes,
    Scaling,
    TaskGain,
    TextsMet,
    TrainingRunResults,
    ViewGain,
    WinRate,
    WinRateGain,
    WinRates,
)
from heredity.records.events import JUDGING_SCORED, REFERENCE_SCORED, SUBMISSION_COMPLETED
from heredity.results.base import Interval
from heredity.session.rollouts import Comparison, comparison_of, comparisons_of

_RESAMPLES = 1000
_STEPS = 50
_LONGEST_STEP = 2.0
_SMALL = 1e-9
_RIDGE = 1e-3


def length_controlled(won: ArrayLike, lengths: ArrayLike, references: ArrayLike) -> float:
    """Return the win rate at equal length, 0 to 1: the prediction of a logistic model for answers as long as their references.

    Length-controlled AlpacaEval (Dubois et al. 2024, arXiv:2404.04475, section 3) without its term for each instruction's
    difficulty: logit P(win) = quality + slope · tanh(difference in length / its standard deviation), fitted by Newton's method
    with a slight ridge, and evaluated at a difference of 0.

    Args:
        won: 1 for a win, 0.5 for a tie, 0 for a loss (callers leave out missing comparisons).
        lengths: lengths of the answers, in characters.
        references: lengths of the reference answers, in characters.

    Raises:
        ConfigError: if comparisons are missing, or the numbers of values differ.
    """
    outcomes, excess = np.asarray(won, np.float64), _excess(lengths, references)
    if not outcomes.size or outcomes.shape != excess.shape:
        raise ConfigError(f"{outcomes.size} outcomes and {excess.size} lengths; expected equal numbers, at least one")
    return float(_at_equal_length(outcomes, excess))


def length_control(
    record: PostTraining, events: Sequence[Json], best: Step | None, load: LoadBlob
) -> LengthControlled | None:
    """Return win rates at equal length of the base model and of a run's best submission; None if no answers were compared.

    Args:
        record: the run (for the clusters of its tasks).
        events: the journal's lines as mappings.
        best: the submission.
        load: digest of a blob to its bytes, for the trajectories of the submission.
    """
    base = _listed(events, BASELINE_SCORED.name, view=GRADED)
    after = dict(zip(best.tasks, _graded(events, best, load), strict=False)) if best else {}
    task_indices = list(after) or range(len(base))
    judged = _listed(events, JUDGING_SCORED.name, view=HELDOUT, candidate=best.candidate) if best else ()
    before = [base[task_index] if task_index < len(base) else None for task_index in task_indices]
    together = record.clusters_of(GRADED, task_indices)
    graded = _view(before, [after.get(task_index) for task_index in task_indices], together)
    heldout = _view(_listed(events, REFERENCE_SCORED.name, view=HELDOUT), judged, record.clusters.get(HELDOUT))
    return LengthControlled(graded=graded, heldout=heldout) if graded or heldout else None


def win_rate(compared: Sequence[Comparison | None], clusters: Clusters | None = None) -> WinRate | None:
    """Return the win rate of one model's answers on a view, with a bootstrap interval unless all comparisons agree.

    Args:
        compared: the comparison of each answer; None if missing.
        clusters: the cluster of each instruction (`samples.clustered`); the bootstrap resamples clusters, not answers.
    """
    present = [
        (comparison, drawn) for comparison, drawn in zip(compared, _filled(clusters), strict=False) if comparison
    ]
    if not present:
        return None
    won, lengths, references = _columns([comparison for comparison, _ in present])
    drawn = _Drawn.of([drawn for _, drawn in present])
    rate = length_controlled(won, lengths, references)
    return WinRate(
        rate=rate,
        ci=None
        if np.ptp(won) == 0.0
        else drawn.interval(rate, drawn.resampled(won, _excess(lengths, references)), SHARE),
        clusters=drawn.together,
        won=float(won.mean()),
        length=float(lengths.mean()),
        reference_length=float(references.mean()),
        n=len(present),
    )


def _view(
    before: Sequence[Comparison | None], after: Sequence[Comparison | None], clusters: Clusters | None
) -> WinRates | None:
    baseline, best = win_rate(before, clusters), win_rate(after, clusters)
    return WinRates(baseline=baseline, best=best, gain=_gain(before, after, clusters)) if baseline or best else None


def _gain(
    before: Sequence[Comparison | None], after: Sequence[Comparison | None], clusters: Clusters | None
) -> WinRateGain | None:
    triples = zip(before, after, _filled(clusters), strict=False)
    pairs = [(b, a, drawn) for b, a, drawn in triples if a is not None and b is not None]
    if not pairs:
        return None
    (old, *old_lengths), (new, *new_lengths) = map(_columns, ([b for b, *_ in pairs], [a for _, a, _ in pairs]))
    drawn = _Drawn.of([drawn for *_, drawn in pairs])
    gaps = drawn.resampled(new, _excess(*new_lengths)) - drawn.resampled(old, _excess(*old_lengths))
    alike = np.ptp(old) == np.ptp(new) == 0.0
    difference = length_controlled(new, *new_lengths) - length_controlled(old, *old_lengths)
    interval = None if alike else drawn.interval(difference, gaps, GAP)
    return WinRateGain(difference=difference, ci=interval, pairs=len(pairs), clusters=drawn.together)


def _graded(events: Sequence[Json], best: Step, load: LoadBlob) -> list[Comparison | None]:
    """Read the comparisons of a submission's answers from its trajectories."""
    blob = next((data.get("blob") for data in _of(events, SUBMISSION_COMPLETED.name, submit_id=best.submission)), None)
    if blob is None:
        return []
    try:
        return [comparison_of(trajectory) for trajectory in decode_many(load(blob))]
    except (RecordError, KeyError):
        return []


def _listed(events: Sequence[Json], kind: str, **fields: Any) -> tuple[Comparison | None, ...]:
    """Read the comparisons from the journal if trajectories are not kept."""
    return comparisons_of(next(_of(events, kind, **fields), {}))


def _of(events: Sequence[Json], kind: str, **fields: Any) -> Iterator[Json]:
    """Yield the data of the events of a kind with these fields, the latest first."""
    for event in reversed(events):
        if event["kind"] == kind and all(event["data"].get(name) == value for name, value in fields.items()):
            yield event["data"]


def _columns(compared: Sequence[Comparison]) -> list[Floats]:
    """Return outcomes, lengths and reference lengths."""
    return [np.array(column, np.float64) for column in zip(*compared, strict=True)]


def _excess(lengths: ArrayLike, references: ArrayLike) -> Floats:
    """Return the excess length of answers over their references, squashed into −1 to 1; 0 for equal length."""
    difference = np.asarray(lengths, np.float64) - np.asarray(references, np.float64)
    return np.tanh(difference / (difference.std() or 1.0)) if difference.size else difference


def _filled(clusters: Clusters | None) -> Iterable[int | str | None]:
    """Return the clusters of answers; unlabelled answers are clusters of one."""
    return chain(clusters or (), repeat(None))


@dataclass(frozen=True, slots=True)
class _Drawn:
    """The sampling of answers: singly, or in clusters, such as questions with their document.

    Attributes:
        codes: the cluster of each answer, from 0.
        count: number of clusters.
        together: number of clusters if any has several answers; else None.
    """

    codes: NDArray[np.int64]
    count: int
    together: int | None

    @classmethod
    def of(cls, clusters: Clusters) -> _Drawn:
        codes = cluster_codes(clusters, len(clusters))
        count = int(codes.max(initial=-1)) + 1
        return cls(codes, count, count if count < len(clusters) else None)

    def resampled(self, won: Floats, excess: Floats) -> Floats:
        """Return win rates at equal length of resampled clusters, the same samples for equal numbers of clusters."""
        draws = generator(0, "analysis", "length").integers(0, self.count, (_RESAMPLES, self.count))
        times = np.zeros((_RESAMPLES, self.count))
        np.add.at(times, (np.arange(_RESAMPLES)[:, None], draws), 1.0)
        return _at_equal_length(won, excess, times[:, self.codes])

    def interval(self, value: float, values: Floats, bounds: Interval) -> Interval | None:
        """Return the percentiles of resampled values, widened by Student's t; None with too few clusters."""
        if self.count < 2 or (self.together is not None and not enough_runs([self.count])):
            return None
        low, high = np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
        # Percentiles of few clusters are too narrow: they treat the spread as known.
        tail, freedom = (1 + CONFIDENCE) / 2, self.count - 1
        wider = student_quantile(tail, freedom) / student_quantile(tail, math.inf) * math.sqrt(self.count / freedom)
        ends = (value + (float(end) - value) * wider for end in (low, high))
        lowest, highest = (min(max(end, bounds[0]), bounds[1]) for end in ends)
        return lowest, highest


def _at_equal_length(won: Floats, excess: Floats, times: Floats | None = None) -> Floats:
    """Fit logit P(win) = quality + slope · excess along the last axis, and return P(win) at an excess of 0.

    `times` optionally weights each answer, shape (samples, answers).
    """
    counts = np.ones_like(won) if times is None else times
    quality = np.zeros(counts.shape[:-1])
    slope = np.zeros(counts.shape[:-1])
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-(quality[..., None] + slope[..., None] * excess)))
        weight, gap = counts * p * (1 - p), counts * (won - p)
        a, b = weight.sum(-1) + _RIDGE, (weight * excess).sum(-1)
        c = (weight * excess**2).sum(-1) + _RIDGE
        up, along = gap.sum(-1) - _RIDGE * quality, (gap * excess).sum(-1) - _RIDGE * slope
        step = np.stack([c * up - b * along, a * along - b * up]) / (a * c - b * b)
        longest = np.abs(step).max(0)
        # Shorten Newton's step: if everything was won, the full one would overshoot.
        step *= np.minimum(1.0, _LONGEST_STEP / np.maximum(_SMALL, longest))
        quality, slope = quality + step[0], slope + step[1]
        if longest.max() < _SMALL:
            break
    return 1 / (1 + np.exp(-quality))


def process_metrics(record: PostTraining) -> Process:
    """Return the process metrics; times are seconds of the run's clock, which may stop during grading."""
    base = mean(record.baseline(GRADED))
    settled = [step for step in record.steps if step.status != "running"]
    graded = [step for step in settled if step.score is not None]
    scores = [step.score or 0.0 for step in graded]
    better = [step for step in graded if base is not None and (step.score or 0.0) > base]
    failed = [step for step in settled if step.submission is not None and step.score is None]
    copies = sum(record.is_copy(step) for step in settled)
    refused = sum(step.submission is None and not record.is_copy(step) for step in settled)
    best = best_step(record)
    budget = finite((record.started.get("budget") or {}).get("seconds"))
    last = record.steps[-1].asked_s if record.steps else None
    return Process(
        requests=len(record.steps),
        graded=len(graded),
        copies=copies,
        refused=refused,
        failed=len(failed),
        valid_rate=_share(len(settled) - len(failed) - refused, len(settled)),
        zero_rate=_share(sum(score == 0.0 for score in scores) + len(failed), len(graded) + len(failed)),
        improvements=_rises(scores, base),
        first_improvement_s=better[0].asked_s if better else None,
        best_s=best.asked_s if best else None,
        best_at=graded.index(best) + 1 if best else None,
        monotonic_ratio=_share(sum(b >= a for a, b in pairwise(scores)), len(scores) - 1),
        budget_s=budget,
        ended_s=record.clock_s,
        time_used_ratio=None if not budget else min(record.clock_s / budget, 1.0),
        last_submit_gap_s=None if last is None else max(record.clock_s - last, 0.0),
        revisions=len(record.revisions),
        checkpoints_kept=sum(c["kept"] for c in record.checkpoints.values()),
        checkpoints_dropped=sum(not c["kept"] for c in record.checkpoints.values()),
        tokens=record.tokens,
        cost_usd=record.cost_usd,
        calls=record.calls,
    )


def _rises(scores: Iterable[float], base: float | None) -> int:
    best, count = base, 0
    for score in scores:
        if best is None or score > best:
            count += best is not None
            best = score
    return count


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole > 0 else None


def scaling(record: PostTraining) -> Scaling:
    """Return the best improvement so far over time, submissions and tokens.

    Improvement is the graded mean minus the base model's (at least 0: an agent can keep the base model). Each curve starts
    at 0 and has a point at each graded submission; the one over tokens only if they are known.
    """
    base = mean(record.baseline(GRADED))
    if base is None:
        return Scaling(time=[], submissions=[], tokens=[])
    over_time, over_submissions, over_tokens = [(0.0, 0.0)], [(0.0, 0.0)], [(0.0, 0.0)]
    best = 0.0
    for number, step in enumerate((s for s in record.steps if s.score is not None), 1):
        best = max(best, (step.score or 0.0) - base)
        over_submissions.append((float(number), best))
        for curve, amount in ((over_time, _settled(step)), (over_tokens, step.tokens)):
            if amount is not None:
                curve.append((float(amount), best))
    if record.tokens is not None:
        over_tokens.append((float(record.tokens), best))
    return Scaling(
        time=_curve_or_none(over_time), submissions=_curve_or_none(over_submissions), tokens=_curve_or_none(over_tokens)
    )


def _curve_or_none(curve: Points) -> Points:
    """Return a curve; None if it never left its start."""
    return curve if len(curve) > 1 else []


def _settled(step: Step) -> float | None:
    return step.asked_s if step.done_s is None else step.done_s


MET = "held-out items met"
"""Label prefix of runs whose agent had held-out items in its texts."""


def texts_met(record: PostTraining) -> TextsMet | None:
    """Return the hidden items found; None if not searched."""
    data = record.texts
    if data is None:
        return None
    return TextsMet(
        views=[ItemsMet(view=view, met=len(met), of=data["sizes"][view]) for view, met in data["views"].items()],
        files=list(data["files"]),
        texts=data["texts"],
        bytes=data["bytes"],
        unread=data["unread"],
        clean=_clean(record),
    )


def labels_of(record: PostTraining) -> list[str] | None:
    """Return the labels of the task, and an extra one if held-out items were found."""
    labels, met = record.about.get("labels"), _heldout(record)
    if not met or record.texts is None:
        return labels
    return [*(labels or ()), f"{MET} in the agent's files: {len(met)} of {record.texts['sizes'][HELDOUT]}"]


def _heldout(record: PostTraining) -> set[int]:
    return set((record.texts or {}).get("views", {}).get(HELDOUT, ()))


def _clean(record: PostTraining) -> Gain | None:
    """Return the held-out gain over the items not found in the agent's files; None if all or none were found, or before judging."""
    met = _heldout(record)
    after = record.judged.get(record.chosen, ())
    before = record.baseline(HELDOUT) or record.judged.get(record.base, ())
    kept = [position for position in range(min(len(after), len(before))) if position not in met]
    if not met or not kept:
        return None
    clusters = record.clusters_of(HELDOUT, kept)
    return paired([after[i] for i in kept], [before[i] for i in kept], clusters, record.coverage)


def by_task(record: PostTraining, best: Step | None) -> list[TaskGain]:
    """Return the best submission's scores on each of a run's tasks; empty for a single task."""
    after = dict(zip(best.tasks, best.scores, strict=False)) if best else {}
    chosen = record.judged.get(record.chosen, ())
    rows: list[TaskGain] = []
    for task in record.about.get("tasks") or ():
        graded = _compared(
            [after.get(task_index) for task_index in task["task_indices"]],
            record.baseline(GRADED),
            task["task_indices"],
            record.clusters_of(GRADED, task["task_indices"]),
            record.coverage,
        )
        places = task.get("heldout") or ()
        clusters = record.clusters_of(HELDOUT, places)
        hidden = _compared(_at(chosen, places), record.baseline(HELDOUT), places, clusters, record.coverage)
        rows.append(
            TaskGain(name=task["name"], baseline=graded.baseline, best=graded.best, gain=graded.gain, heldout=hidden)
        )
    return rows


def _compared(
    after: Scores, baseline: Scores, places: Sequence[int], clusters: Clusters | None, coverage: float
) -> ViewGain:
    before = _at(baseline, places)
    present = [score is not None for score in after]
    return ViewGain(
        baseline=described(before, clusters) if baseline else None,
        best=described(after, clusters) if any(present) else None,
        gain=paired(after, before, clusters, coverage),
    )


def _at(scores: Scores, places: Sequence[int]) -> list[float | None]:
    return [scores[index] if index < len(scores) else None for index in places]


def posttraining_metrics(events: Sequence[Json], load: LoadBlob = no_blob) -> TrainingRunResults:
    """Compute the metrics of a post-training run, as in `docs/post-training-diagnosis.md`.

    Args:
        events: the journal's lines as mappings, in order.
        load: digest of a blob to its bytes, for the code revisions; a `RecordError` or `KeyError` means that it is lost
            and its content unknown.
    """
    record = read_posttraining(events)
    files = _revisions(record, load)
    before = dict(zip(files, [{}, *files.values()], strict=False))
    reader = CodeReader()
    codes = {n: reader.read(revision, _changed(before[n], revision)) for n, revision in files.items()}
    best = best_step(record)
    about, tasks = record.about, record.about.get("tasks") or ()
    mode = str(about.get("mode") or "free")
    answered = [step for step in record.steps if step.score is not None or record.is_copy(step)]
    graded = [Graded(step.revision, _route(record, step, codes), step is best) for step in answered]
    return TrainingRunResults(
        level=record.level or None,
        mode=mode,
        metric=about.get("metric"),
        base_model=about.get("base_model"),
        structure=about.get("structure"),
        labels=labels_of(record),
        grading_counts=about.get("grading_counts"),
        baseline=Baseline(
            graded=described(record.baseline(GRADED), record.clusters.get(GRADED)),
            heldout=described(record.baseline(HELDOUT), record.clusters.get(HELDOUT)),
        ),
        best=_best(record, best, codes),
        heldout=heldout(record),
        length_controlled=length_control(record, events, best, load),
        noise=noise(record),
        process=process_metrics(record),
        scaling=scaling(record),
        iterations=_iterations(record, codes, files),
        revisions=[_revision(n, data, files.get(n), codes.get(n)) for n, data in record.numbered],
        routes=_routes(record, graded, codes),
        failures=run_failures(record, codes),
        audit=audit(
            mode,
            codes,
            graded,
            private=about.get("private") or (),
            tasks=max(1, len(tasks)),
            whole=len(codes) == len(record.revisions) and not any(data.get("reason") for _, data in record.numbered),
        ),
        tasks=by_task(record, best),
        agent=_ended(record.ended),
        driver=about.get("model"),
        texts=texts_met(record),
    )


def _ended(ended: Json | None) -> AgentEnd | None:
    if not ended:
        return None
    return AgentEnd(
        code=ended.get("code"),
        reason=ended.get("reason"),
        seconds=finite(ended.get("seconds")),
        memory_bytes=ended.get("memory_bytes"),
        disk_bytes=ended.get("disk_bytes"),
    )


def _revisions(record: PostTraining, load: LoadBlob) -> dict[int, dict[str, bytes]]:
    revisions: dict[int, dict[str, bytes]] = {}
    for number, revision in record.numbered:
        try:
            if revision["blob"] is not None:
                revisions[number] = read_revision(load(revision["blob"]))
        except (RecordError, KeyError):
            continue
    return revisions


def _changed(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[str]:
    return sorted(name for name, data in after.items() if before.get(name) != data)


def _route(record: PostTraining, step: Step, codes: Mapping[int, Code]) -> str | None:
    code = None if step.revision is None else codes.get(step.revision)
    return route_of(code, is_base=record.is_copy(step))


def _best(record: PostTraining, best: Step | None, codes: Mapping[int, Code]) -> BestCheckpoint | None:
    """Return the best graded submission, and its gain over the base model on the graded view."""
    if best is None:
        return None
    clusters = record.clusters_of(GRADED, best.tasks)
    return BestCheckpoint(
        iteration=record.steps.index(best) + 1,
        submit_id=best.submission,
        candidate=best.candidate,
        route=_route(record, best, codes),
        score=described(best.scores, clusters),
        gain=against_base(record, best),
        scores=list(best.scores),
        baseline_scores=base_scores(record, best),
        clusters=clusters,
    )


def _iterations(
    record: PostTraining, codes: Mapping[int, Code], files: Mapping[int, Mapping[str, bytes]]
) -> list[Iteration]:
    base = mean(record.baseline(GRADED))
    rows: list[Iteration] = []
    best: Step | None = None
    then, shown = 0.0, None
    for number, step in enumerate(record.steps, 1):
        code = None if step.revision is None else codes.get(step.revision)
        score = record.score(step)
        improvement = None if score is None or base is None else score - base
        new_best = step.score is not None and (best is None or step.score > (best.score or 0.0))
        end = step.done_s if step.done_s is not None else step.asked_s
        rows.append(
            Iteration(
                iteration=number,
                timestamp=step.time,
                at_s=step.asked_s,
                duration_s=None if end is None else max(end - then, 0.0),
                status=step.status,
                exit_code=None,
                submit_id=step.submission,
                candidate=step.candidate or None,
                score=score,
                improvement=improvement,
                best=step.score if new_best else (best.score if best else None),
                new_best=new_best,
                train_type=_route(record, step, codes),
                failure_type=failure_of(record, step, best),
                problem=step.problem,
                errors=step.errors,
                restarts=list(step.restarts),
                missing=sum(score is None for score in step.scores),
                revision=step.revision,
                changed=_changed_since(shown, step.revision, files),
                **_tried(step.note, code),
            )
        )
        best, then = step if new_best else best, then if end is None else end
        shown = shown if step.revision is None else step.revision
    return [*rows, *_ending(record, codes, files, shown, then)]


def _changed_since(shown: int | None, revision: int | None, files: Mapping[int, Mapping[str, bytes]]) -> list[str]:
    if revision is None or revision == shown or revision not in files:
        return []
    return _changed({} if shown is None else files.get(shown, {}), files[revision])


class _Tried(TypedDict):
    note: str
    tried: str
    because: str
    settings: dict[str, Setting]
    excerpt: Excerpt | None


def _tried(note: str, code: Code | None) -> _Tried:
    """Return the change and its reason, from the code's own description, or else the note of the submission."""
    if code is None:
        return _Tried(note=note, tried=note, because="", settings={}, excerpt=None)
    settings = dict(code.settings)
    return _Tried(note=note, tried=code.says or note, because=code.because, settings=settings, excerpt=code.excerpt)


def _ending(
    record: PostTraining,
    codes: Mapping[int, Code],
    files: Mapping[int, Mapping[str, bytes]],
    shown: int | None,
    then: float,
) -> list[Iteration]:
    """Return an iteration for work after the last submission, if the agent changed its code or submitted nothing."""
    last = record.numbered[-1][0] if record.revisions else None
    if not record.ended or (record.steps and last == shown):
        return []
    code, exit_code = None if last is None else codes.get(last), record.ended.get("code")
    end = record.clock_s
    return [
        Iteration(
            iteration=len(record.steps) + 1,
            timestamp=None,
            at_s=end,
            duration_s=max(end - then, 0.0),
            status="not submitted",
            exit_code=exit_code,
            submit_id=None,
            candidate=None,
            score=None,
            improvement=None,
            best=mean(best.scores) if (best := best_step(record)) else None,
            new_best=False,
            train_type=route_of(code, is_base=False),
            failure_type=exit_words(record) or "never submitted",
            problem="",
            errors=0,
            restarts=[],
            missing=0,
            revision=last,
            changed=_changed_since(shown, last, files),
            **_tried("", code),
        )
    ]


def _revision(number: int, data: Json, files: Mapping[str, bytes] | None, code: Code | None) -> Revision:
    return Revision(
        revision=number,
        at_s=data.get("at_s"),
        blob=data.get("blob"),
        reason=data.get("reason"),
        files=None if files is None else {name: content.count(b"\n") for name, content in sorted(files.items())},
        route=code and code.route,
        components=list(code.components) if code else [],
        samples=code and code.samples,
        environment=code and code.environment,
        evidence=list(code.evidence) if code else [],
        unreadable=list(code.unreadable) if code else [],
    )


def _routes(record: PostTraining, graded: Sequence[Graded], codes: Mapping[int, Code]) -> Routes:
    """Return the routes of graded submissions, counted; `run` is that of all the run's training, as in table 20."""
    counts = Counter(submission.route for submission in graded if submission.route)
    last = codes.get(record.numbered[-1][0]) if record.revisions else None
    own = [submission for submission in graded if submission.route and submission.route != COPY]
    best = next((submission for submission in graded if submission.best), None)
    others = (own[-1].route if own else None) or (COPY if graded and counts[COPY] else last and last.route)
    trains = any(code.trains for code in codes.values())
    # Unknown code may have trained.
    idle = None if not codes or len(codes) < len(record.revisions) else False
    counted = dict(sorted(counts.items()))
    return Routes(submissions=counted, run=best.route if best else others, coding_success=True if trains else idle)
