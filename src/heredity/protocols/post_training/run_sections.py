"""The page of a run: gains first, then its submissions, then the code that made them; and the files next to reports."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from typing import Any

from heredity.protocols.post_training.analysis.failures import LIMITS
from heredity.protocols.post_training.results import (
    AgentEnd,
    Audit,
    AuditVerdict,
    Failure,
    Gain,
    Grade,
    Iteration,
    LengthControlled,
    Noise,
    Process,
    Revision,
    ScoreSummary,
    TextsMet,
    TrainingRunResults,
    ViewGain,
    WinRate,
    WinRateGain,
)
from heredity.results import text
from heredity.results.charts import Lines, Mark, Reference, Series
from heredity.results.claims import bounds_note, in_clusters, judged
from heredity.results.page import (
    Cell,
    Code,
    Column,
    Fact,
    Facts,
    File,
    Folded,
    Group,
    Mean,
    Mono,
    Number,
    Part,
    Row,
    Section,
    Table,
    Text,
    columns_of,
    of_rows,
)
from heredity.results.run import RunResults, RunStatus
from heredity.results.run import Verdict as Judged
from heredity.results.text import plural

MINUTES = 60.0
"""Seconds per unit."""

SPENT = {"time": "minutes of the run", "submissions": "graded submissions", "tokens": "tokens of the agent"}
"""X axes of improvement curves, and their headings."""


def level(of: ScoreSummary | WinRate | None) -> Mean:
    """Return a score or a win rate with its interval."""
    if of is None:
        return Mean()
    return Mean(of.mean if isinstance(of, ScoreSummary) else of.rate, *(of.ci or (None, None)), 3)


def difference(gain: Gain | WinRateGain | None) -> Mean:
    """Return a gain with its interval."""
    return Mean(gain.difference, *(gain.ci or (None, None)), 3, signed=True) if gain else Mean()


def spent_lines(title: str, spent: str, series: Sequence[Series]) -> Lines:
    """Return the best improvement so far against spending."""
    empty = "nothing graded yet"
    return Lines(title, spent, "best improvement so far", tuple(series), x_range=None, y_from=0.0, empty=empty)


FIELDS = (
    "iteration", "timestamp", "duration_s", "status", "exit_code", "score", "improvement", "best", "train_type",
    "failure_type", "submit_id", "candidate", "revision",
)  # fmt: skip
"""Fields of an iteration in summary.jsonl."""

COLUMNS = (
    *("run_id", "task", "level", "agent", "seed", "base_model", "mode", "baseline_score", "best_score", "improvement"),
    *("heldout_baseline", "heldout_score", "heldout_improvement", "total_submissions", "best_s", "route", "failure"),
)
"""Columns of a run in results.csv: scores are percentages, like the grading server's; unknown values are empty."""


def summary_files(run: RunResults, part: TrainingRunResults) -> tuple[File, File]:
    """Return summary.md, with a section per iteration on the change and its reason, and summary.jsonl."""
    rows = (row.model_dump(mode="json", include=set(FIELDS)) for row in part.iterations)
    lines = "".join(json.dumps({name: row[name] for name in FIELDS}) + "\n" for row in rows)
    sections = tuple(_section(row) for row in part.iterations)
    nothing = (Section("none", "No submissions yet", (Text("No iterations."),)),)
    title = f"{text.short_task(run.taskset or 'unknown taskset')}: iterations"
    return File("reports/summary.md", sections or nothing, title), File("reports/summary.jsonl", lines)


def _section(row: Iteration) -> Section:
    when = row.timestamp or f"at {text.duration(row.at_s)}"
    changed = ", ".join(row.changed)
    facts = {
        "Status": row.status,
        "Exit code": "" if row.exit_code is None else str(row.exit_code),
        "Score": _scored(row),
        "Train type": row.train_type or "not known",
        "Configuration": ", ".join(f"{name} {value}" for name, value in row.settings.items()),
        "Note": row.note,
        "Tried": row.tried or "not said",
        "Why": row.because or "not said",
        "Signal": row.failure_type or _signal(row),
        "Problem": row.problem,
        "Changed": changed,
    }
    parts: list[Part] = [Text(f"{name}: {value}", "item") for name, value in facts.items() if value]
    if row.excerpt and any(name.endswith((".py", ".sh")) for name in row.changed):
        parts.append(Code(row.excerpt.text, title=row.excerpt.file, note=f"from line {row.excerpt.line}"))
    title = f"Iteration {row.iteration} ({when}, took {text.duration(row.duration_s)})"
    return Section(f"iteration-{row.iteration}", title, tuple(parts))


def _signal(row: Iteration) -> str:
    if not row.new_best:
        return "no better than the best"
    return "a new best" if (row.improvement or 0.0) > 0 else "the best so far, not above the base model"


def _scored(row: Iteration) -> str:
    if row.score is None:
        return ""
    gained = f"{text.signed(row.improvement, 4)} over the base model"
    return f"{text.number(row.score, 4)}, {gained}, best so far {text.number(row.best, 4)}"


def results_csv(runs: Iterable[RunResults]) -> File:
    """Return results.csv of a suite: a line per post-training run, sorted by run."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for run in sorted(runs, key=lambda run: str(run.run_id)):
        if isinstance(run.part, TrainingRunResults):
            writer.writerow(_row(run, run.part))
    return File("results.csv", buffer.getvalue())


def _row(run: RunResults, part: TrainingRunResults) -> dict[str, Any]:
    best, heldout = part.best, part.heldout
    return {
        "run_id": run.run_id,
        "task": str(run.taskset).removeprefix("posttraining/"),
        "level": part.level,
        # A suite appends settings to names to tell runs apart; here they have separate columns.
        "agent": (run.evolver.name or "").partition(" (")[0],
        "seed": run.seed,
        "base_model": part.base_model,
        "mode": part.mode,
        "baseline_score": _mean(part.baseline.graded),
        "best_score": _mean(best.score if best else None),
        "improvement": _percent(best.gain.difference if best and best.gain else None),
        "heldout_baseline": _mean(heldout.baseline if heldout else None),
        "heldout_score": _mean(heldout.best if heldout else None),
        "heldout_improvement": _percent(heldout.gain.difference if heldout and heldout.gain else None),
        "total_submissions": part.process.graded,
        "best_s": part.process.best_s,
        "route": (best and best.route) or part.routes.run,
        "failure": "; ".join(failure.kind for failure in part.failures),
    }


def _mean(score: ScoreSummary | None) -> float | None:
    return _percent(score.mean if score else None)


def _percent(value: float | None) -> float | None:
    return None if value is None else round(100.0 * value, 4)


_SAID = {
    Judged.BETTER: "a gain beyond noise",
    Judged.WORSE: "a loss beyond noise",
    Judged.WITHIN_NOISE: "within noise",
}


def views(part: TrainingRunResults) -> tuple[ViewGain, ViewGain]:
    """Return the comparison of base and best checkpoint on the graded view and on the held-out slice.

    A run that only submitted the base model ends with it, so its gain is exactly 0.
    """
    best = part.best
    if best is None and part.process.copies:
        return _nothing_gained(part.baseline.graded), _nothing_gained(part.baseline.heldout)
    graded = ViewGain(
        baseline=part.baseline.graded, best=best.score if best else None, gain=best.gain if best else None
    )
    return graded, part.heldout or ViewGain(baseline=part.baseline.heldout, best=None, gain=None)


def _nothing_gained(base: ScoreSummary | None) -> ViewGain:
    gain = None
    if base is not None and base.mean is not None:
        gain = Gain(difference=0.0, ci=None, p=None, mde=None, pairs=base.n, verdict=Judged.WITHIN_NOISE)
    return ViewGain(baseline=base, best=base, gain=gain)


def summary(run: RunResults, part: TrainingRunResults) -> str:
    """Return a sentence on the result, on the graded view and on held-out items."""
    process = part.process
    graded, heldout = views(part)
    elapsed = f"In {text.duration(process.ended_s)}"
    if process.budget_s is not None:
        elapsed += f" of {text.duration(process.budget_s)}"
    opening = f"{elapsed} {plural(process.graded, 'checkpoint')} {'was' if process.graded == 1 else 'were'} graded"
    scored = graded.best if part.best is not None else None
    if (scored is None or scored.mean is None) and not process.copies and run.status is not RunStatus.UNFINISHED:
        tried = (
            plural(process.requests, "request") + (" was" if process.requests == 1 else " were") + " refused or failed"
        )
        why = tried if process.requests else "no checkpoint was submitted"
        return f"Nothing was graded: {elapsed.lower()} {why}. This says nothing about the agent's ability to train."
    if scored is None or scored.mean is None:
        stands = "ends" if run.status is RunStatus.FINISHED else "stands"
        copies = f", which it submitted {plural(process.copies, 'time')}" if process.copies else ""
        return f"{opening}, so the run {stands} with the base model{copies}."
    reached = f"the best scores {text.number(scored.mean, 3)}"
    if graded.gain is not None:
        reached += f", {_gain(graded.gain)} over the base model on the view that selected it"
    if heldout.gain is None:
        return f"{opening}; {reached}."
    if run.stand_ins:
        return f"{opening}; {reached}. On held-out items it is {text.signed(heldout.gain.difference, 3)}."
    because = f", with {heldout.gain.because}" if heldout.gain.because else ""
    judged = f"{_SAID[heldout.gain.verdict]}{because}, for this checkpoint on new items"
    return f"{opening}; {reached}. On held-out items it is {_gain(heldout.gain)}: {judged}."


def _gain(gain: Gain) -> str:
    return text.difference(gain.difference, *(gain.ci or (None, None)))


_VIEWS = {"graded": "graded", "heldout": "held-out"}

MOST_EVIDENCE = 12
"""Evidence lines per revision on a page; metrics.json has all."""


def run_sections(run: RunResults, part: TrainingRunResults) -> list[Section]:
    """Return the sections of a run's page."""
    audit = part.audit
    return [
        Section("head", "", _head(run, part), "head", "all"),
        Section("progress", "Progress over time", _progress(part), "lead", "page", "Progress"),
        Section("gains", "Gains over the base model", _gains(part), "lead", navigation="Gains"),
        Section("iterations", "Iterations", (*_iterations(part), *summary_files(run, part)), "lead"),
        # Checkpoints are weights: a comparison of their manifests is meaningless.
        Section("changes", ""),
        Section("routes", "Routes of the code", _routes(part), media="page", navigation="Routes"),
        Section("process", "Process", _process(part.process, part.agent)),
        Section("problems", "Failures", _failures(part.failures, finished=run.status is not RunStatus.UNFINISHED)),
        Section("audit", f"Audit of mode {audit.mode}: {audit.verdict}", _audit(part), navigation="Mode"),
    ]


# --- the head


def _head(run: RunResults, part: TrainingRunResults) -> tuple[Part, ...]:
    graded, heldout = views(part)
    process = part.process
    base = f"base model {text.number(heldout.baseline.mean if heldout.baseline else None, 3)}"
    facts = (
        Fact("Held-out gain", difference(heldout.gain), judged(heldout.gain)),
        Fact("Held-out score", Number(heldout.best.mean if heldout.best else None, 3), base),
        Fact("Graded gain", difference(graded.gain), judged(graded.gain)),
        Fact("Route", part.routes.run, "from the code in force"),
        Fact("Checkpoints graded", process.graded, plural(process.requests, "request")),
        Fact("Time used", Number(process.ended_s, form="duration"), f"of {text.duration(process.budget_s)}"),
        Fact("Mode", part.mode, f"base model {part.base_model or 'not recorded'}"),
    )
    return Text(summary(run, part), "summary"), Facts(facts), *_warnings(part)


def _warnings(part: TrainingRunResults) -> Iterable[Text]:
    limit = LIMITS.get(part.agent.reason or "") if part.agent else None
    if limit:
        yield Text(f"{limit.capitalize()}. Its submissions count.", "warning")
    for failure in part.failures:
        yield Text(f"{failure.kind.capitalize()}: {'; '.join(failure.evidence)}.", "warning")
    if part.texts and any(view.met for view in part.texts.views):
        yield Text(_texts(part.texts), "warning")
    if part.audit.verdict is AuditVerdict.BROKEN:
        broken = f"The run broke mode {part.audit.mode} or did something forbidden: see the audit."
        yield Text(broken, "warning")


def _texts(texts: TextsMet) -> str:
    held = " and ".join(
        f"{view.met} of {view.of} {_VIEWS.get(view.view, view.view)} items" for view in texts.views if view.met
    )
    warning = f"The agent's files held {held} ({', '.join(texts.files)})."
    if texts.clean is not None:
        warning += (
            f" Over the held-out items that they did not hold, the gain is {text.signed(texts.clean.difference, 3)}."
        )
    return warning


# --- how scores went


def _progress(part: TrainingRunResults) -> tuple[Part, ...]:
    about = (
        "Each mark is a graded checkpoint at its submission time; the line is the best so far, the large ring "
        "the judged one. Crosses were refused or failed; small rings are copies of the base model."
    )
    curves = {
        "time": [(at / MINUTES, best) for at, best in part.scaling.time],
        "submissions": part.scaling.submissions,
        "tokens": part.scaling.tokens,
    }
    charts = [
        spent_lines(f"Improvement over {SPENT[name]}", SPENT[name], [Series("", 0, tuple(points), steps=True)])
        for name, points in curves.items()
        if points
    ]
    return Text(about, "about"), _trajectory(part), *((Group(tuple(charts)),) if charts else ())


def _trajectory(part: TrainingRunResults) -> Lines:
    """Return the score of each submission over the run's time, the best so far, and the base model's score."""
    process, base = part.process, part.baseline.graded
    times = [row.at_s for row in part.iterations if row.at_s is not None]
    end = max([process.budget_s or 0.0, process.ended_s, *times, 1.0])
    unit, name = (MINUTES, "minutes") if end >= 5 * MINUTES else (1.0, "seconds")
    best = tuple(
        (row.at_s / unit, row.score)
        for row in part.iterations
        if row.new_best and row.at_s is not None and row.score is not None
    )
    marks = [_mark(row, row.at_s / unit) for row in part.iterations if row.at_s is not None]
    if best:
        marks.append(Mark(*best[-1], "ring", "ink", "best (judged)", 2.0))
    level = base.mean if base else None
    return Lines(
        "Scores of submissions",
        f"{name} of the run",
        "score on the graded view",
        (Series("", 0, best, steps=True, until=max(times, default=0.0) / unit),),
        tuple(marks),
        None if level is None else Reference(level, "base model"),
        x_range=(0.0, end / unit),
        y_from=level,
        empty="no submission yet",
        wide=True,
    )


def _mark(row: Iteration, at: float) -> Mark:
    what = f"iteration {row.iteration}, {text.duration(row.at_s)}"
    if row.score is None:
        return Mark(at, None, "cross", "bad", f"{what}: {row.failure_type or row.status}")
    tip = f"{what}: {text.number(row.score, 3)}, {row.train_type or 'route unknown'}"
    return Mark(at, row.score, "ring" if row.train_type == "copy" else "circle", 0, tip)


# --- gains


def _gains(part: TrainingRunResults) -> tuple[Part, ...]:
    graded, heldout = views(part)
    rows = [
        _gain_row(Cell("Graded view", ("fed back; selected the checkpoint",)), graded),
        Row(_gain_row(Cell("Held-out slice", ("never returned",)), heldout).cells, "chosen"),
    ]
    for task in part.tasks:
        name = text.short_task(task.name)
        rows.append(_gain_row(f"{name}, graded", task))
        if task.heldout.gain is not None:
            rows.append(_gain_row(f"{name}, held out", task.heldout))
    head = ("Items", "Base model", "Best checkpoint", "Gain", "Verdict", "Detectable effect", "Paired items")
    columns = columns_of(*head, left=("Items", "Verdict"))
    about = (
        "Paired item by item. A gain is better or worse only if its interval excludes zero and it is at least what these items "
        "could show."
    )
    caption = "Of the best graded checkpoint, with 95% intervals over items"
    lengths = _lengths(part.length_controlled) if part.length_controlled else ()
    return Text(about, "about"), Table(columns, tuple(rows), caption), *lengths, Text(_noise(part.noise), "note")


def _gain_row(name: str | Cell, view: ViewGain) -> Row:
    gain = view.gain
    scores = (_bounded(level(summary), summary) for summary in (view.baseline, view.best))
    shown = (*scores, _bounded(difference(gain), gain), judged(gain))
    return Row((name, *shown, Number(gain.mde if gain else None, 3), gain.pairs if gain else None))


def _bounded(shown: Mean, of: ScoreSummary | Gain | None) -> Cell:
    """Return a mean with its bounds over missing scores."""
    return Cell(shown, (bounds_note(of.if_missing),) if of and of.if_missing else ())


def _over_clusters(shown: Mean, of: WinRate | WinRateGain | None) -> Cell:
    """Return a win rate, with the number of clusters of its interval if instructions are clustered."""
    return Cell(shown, (in_clusters(of.clusters),) if of and of.clusters else ())


def _lengths(controlled: LengthControlled) -> tuple[Part, ...]:
    rows = [
        [
            name,
            *(_over_clusters(level(rates.baseline), rates.baseline), _over_clusters(level(rates.best), rates.best)),
            _over_clusters(difference(rates.gain), rates.gain),
            *(Number(best.won if best else None, 3), Number(best.length if best else None, 0)),
            *(Number(best.reference_length if best else None, 0), best.n if best else None),
        ]
        for name, rates in (("Graded view", controlled.graded), ("Held-out slice", controlled.heldout))
        if rates
        for best in (rates.best,)
    ]
    head = ("Items", "Base model", "Best checkpoint", "Gain", "Best, as it is", "Its mean length", "of references")
    about = "Win rate over the reference answers, corrected for equal length; 95% intervals over answers."
    return Text(about, "note"), of_rows([*head, "Answers"], rows, caption="Win rate at equal length")


def _noise(noise: Noise | None) -> str:
    if noise is None:
        return "Grading was not repeated, so its noise is unknown."
    return (
        f"Noise of grading: {text.number(noise.repeats)} repeated gradings of one checkpoint differ by "
        f"{text.number(noise.sd, 4)} (standard deviation); two gradings of equal checkpoints lie within "
        f"{text.number(noise.difference, 4)} in 95 of 100 cases; {text.percent(noise.flips, 1)} of items changed their score."
    )


# --- iterations and code


def _iterations(part: TrainingRunResults) -> tuple[Part, ...]:
    left = ("Route", "What is wrong", "What was tried")
    head = ("#", "At", "Score", "Improvement", "Best", "Route", "Revision", "What is wrong", "What was tried")
    columns = tuple(Column(name, "left" if name in left else "right", name.startswith("What")) for name in head)
    caption = "Every request to grade, in order; new bests are shaded. The route is read from the code in force"
    rows = tuple(_iteration_row(row) for row in part.iterations)
    table = Table(columns, rows, caption, "No submissions yet.")
    return table, *(_changed(row) for row in part.iterations if row.changed)


def _iteration_row(row: Iteration) -> Row:
    numbers = (Number(row.score, 3), Number(row.improvement, 3, "signed"), Number(row.best, 3))
    problems = (row.problem,) if row.problem else ()
    wrong = Cell(row.failure_type, problems, "bad" if row.failure_type else None)
    cells = (row.iteration, Number(row.at_s, form="duration"), *numbers, row.train_type, row.revision, wrong, row.tried)
    return Row(cells, "chosen" if row.new_best else "")


def _changed(row: Iteration) -> Folded:
    facts = {
        "Changed": ", ".join(row.changed),
        "Note": row.note,
        "Settings": ", ".join(f"{name} {value}" for name, value in row.settings.items()),
        "Took": text.duration(row.duration_s),
        "Process died": f"{'; '.join(row.restarts)}; a new process continued grading" if row.restarts else "",
    }
    parts: list[Part] = [Text(row.because)] if row.because else []
    parts.append(Facts(tuple(Fact(name, value) for name, value in facts.items() if value)))
    if row.excerpt:
        language = "sh" if row.excerpt.file.endswith(".sh") else "python"
        parts.append(Code(row.excerpt.text, language, row.excerpt.file, f"from line {row.excerpt.line}"))
    note = f"{row.train_type or 'route unknown'} · {plural(len(row.changed), 'file')} changed"
    return Folded(f"Iteration {row.iteration}", tuple(parts), note)


def _routes(part: TrainingRunResults) -> tuple[Part, ...]:
    about = (
        "The training route of each revision, with evidence. Comments, unused imports, functions that "
        "are never called and dead branches do not count."
    )
    last = part.revisions[-1] if part.revisions else None
    shown = tuple(_revision(revision, is_last=revision is last) for revision in part.revisions)
    return Text(about, "about"), *(shown or (Text("No code is on record."),))


def _revision(revision: Revision, *, is_last: bool) -> Folded:
    components = f" ({', '.join(revision.components)})" if revision.components else ""
    notes = [text.duration(revision.at_s), f"{revision.route or 'not available'}{components}"]
    notes += [] if revision.files is None else [plural(len(revision.files), "file")]
    notes += ["the model writes answers"] if revision.samples else []
    notes += ["steps through an environment"] if revision.environment else []
    warnings = {"Not on record": revision.blob and revision.reason, "Cannot be parsed": ", ".join(revision.unreadable)}
    parts: list[Part] = [Text(f"{what}: {which}", "warning") for what, which in warnings.items() if which]
    if revision.evidence:
        rows = [[e.component, f"{e.file}:{e.line}", Mono(e.text), e.why] for e in revision.evidence[:MOST_EVIDENCE]]
        columns = (Column("Shows"), Column("Line"), Column("Code", prose=True), Column("Why", prose=True))
        parts.append(Table(columns, tuple(Row(tuple(row)) for row in rows)))
        more = len(revision.evidence) - MOST_EVIDENCE
        parts += [Text(f"{more} more lines are in metrics.json.", "note")] if more > 0 else []
    elif revision.files is None:
        parts.append(Text(f"The code is unknown: {revision.reason or 'it is not available'}."))
    else:
        parts.append(Text("Nothing in it trains."))
    return Folded(f"Revision {revision.revision}", tuple(parts), " · ".join(notes), is_last)


# --- process, failures, audit


def _process(process: Process, ended: AgentEnd | None) -> tuple[Part, ...]:
    rank = None if process.best_at is None else f"{process.best_at} of {process.graded}"
    refused = f"{process.refused}, {process.failed}"
    first, best, gap = (
        Number(seconds, form="duration")
        for seconds in (process.first_improvement_s, process.best_s, process.last_submit_gap_s)
    )
    valid, zero, monotonic, used = (
        Number(share, form="percent")
        for share in (process.valid_rate, process.zero_rate, process.monotonic_ratio, process.time_used_ratio)
    )
    reason = ended.reason.replace("_", " ") if ended and ended.reason else None
    rows = [
        ["Requests", process.requests, "requested submissions, including refused ones and copies"],
        ["Graded", process.graded, "scored checkpoints"],
        ["Copies", process.copies, "the unchanged base model"],
        ["Refused, failed", refused, "before and in grading"],
        ["Valid submissions", valid, "graded or copies, of all requests"],
        ["Zero scores", zero, "of graded and failed; a failure counts as zero"],
        ["First improvement", first, "request time of the first better score"],
        ["Best", best, "request time of the best score"],
        ["Best at submission", rank, "its position among graded ones"],
        ["Monotonic", monotonic, "graded submissions at least as good as the previous one"],
        ["Time used", used, "of the budget, until the agent ended"],
        ["Last-submit gap", gap, "from the last request to the agent's end"],
        ["Code revisions", process.revisions, "recorded versions of its code"],
        ["Most memory", _size(ended.memory_bytes if ended else None), "maximum observed"],
        ["Most disk", _size(ended.disk_bytes if ended else None), "maximum observed for its files"],
        ["Agent's end", reason, "why it ended"],
        ["Exit code", ended.code if ended else None, "of the agent"],
        ["Tokens", Number(process.tokens, form="amount"), "known usage of the agent"],
    ]
    columns = (Column("Measure"), Column("Value", "right"), Column("What it is", prose=True))
    caption = "Process metrics; times are of the run's clock"
    return (Table(columns, tuple(Row(tuple(row)) for row in rows), caption),)


def _size(count: int | None) -> str | None:
    return None if count is None else f"{text.number(count / (1 << 20), 0)} MiB"


def _failures(failures: list[Failure], *, finished: bool) -> tuple[Part, ...]:
    about = Text("Each class follows a fixed rule on the record.", "about")
    head = (
        *(Column("Class"), Column("What it rests on", prose=True), Column("Rule", prose=True)),
        Column("Iterations"),
    )
    rows = tuple(
        Row((Cell(f.kind.value, tone="bad"), "; ".join(f.evidence), f.rule, ", ".join(map(str, f.iterations))))
        for f in failures
    )
    none = "None applies." if finished else "Determined after the run has ended."
    return about, Table(head, rows, empty=none)


def _audit(part: TrainingRunResults) -> tuple[Part, ...]:
    audit: Audit = part.audit
    unknown = "some of its code is unknown" if part.revisions else "no code is on record"
    none = "Nothing was found" + (f": {unknown}." if audit.verdict is AuditVerdict.UNKNOWN else ".")
    rows = tuple(
        Row(
            (
                *(Cell(f.grade.value, tone="bad" if f.grade is Grade.BREACH else None), f.what, f.revision),
                *(f"{f.file}:{f.line}" if f.line else f.file, Mono(f.text)),
            )
        )
        for f in audit.findings
    )
    head = (Column("Grade"), Column("What", prose=True), Column("Revision"), Column("Line"), Column("Code", prose=True))
    table = Table(head, rows, "Findings in the code; a look may be harmless", none)
    return table, Text(_looked(part.texts), "note")


def _looked(texts: TextsMet | None) -> str:
    if texts is None:
        return "The agent's files were not searched for hidden items."
    held = ", ".join(f"{view.met} of {view.of} {_VIEWS.get(view.view, view.view)}" for view in texts.views)
    return (
        f"Hidden items in the agent's files: {held}. {plural(texts.texts, 'file')} of text with"
        f" {_size(texts.bytes)} were read, {texts.unread} skipped (not text, or too large). Temporary files are not seen."
    )
