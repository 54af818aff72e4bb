"""report.md: what the page says, in short, for terminals, pull requests and diffs. Tables are aligned as plain text too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from heredity.records.run_folder import write_atomic
from heredity.reports import harness_markdown, page, posttraining_markdown, posttraining_pages, text
from heredity.reports.annotations import annotation_tables
from heredity.reports.fields import Json, Mean
from heredity.reports.harness_pages import collapse_lines
from heredity.reports.learning import learning_markdown
from heredity.reports.model import Run, read_run
from heredity.reports.sentences import run_summary, suite_caution, suite_summary, trouble_summary
from heredity.reports.suite_model import Comparison, Suite, labelled, read_suite
from heredity.reports.terms import Terms

_ESCAPES = str.maketrans(
    {"|": "\\|", "<": "&lt;", ">": "&gt;", "&": "&amp;", "`": "\\`", "[": "\\[", "*": "\\*", "_": "\\_"}
)


def write_run_markdown(metrics: Json, path: Path) -> None:
    """Write the summary of one run, atomically.

    Raises:
        ConfigError: if `metrics` is not a metrics object of a known version.
        RecordError: if the file cannot be written.
    """
    write_atomic(path, run_markdown(metrics, annotation_tables(path.parent)).encode())


def write_suite_markdown(suite_metrics: Json, runs: Iterable[Json], path: Path) -> None:
    """Write the summary of a suite, atomically.

    Raises:
        ConfigError: if an argument is not a metrics object of a known version.
        RecordError: if the file cannot be written.
    """
    write_atomic(path, suite_markdown(suite_metrics, list(runs)).encode())


def escaped(value: str) -> str:
    """Return untrusted text as one line that Markdown shows as it is."""
    return " ".join(text.clean(value).split()).translate(_ESCAPES)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Return a Markdown table whose columns line up; the first `left` columns are left-aligned, the others right.

    Args:
        head: names of the columns, safe text.
        rows: cells, safe text, as many as there are columns.
        left: number of columns aligned to the left.
    """
    widths = [max(3, *(len(row[i]) for row in [head, *rows])) for i in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        placed = [c.ljust(w) if i < left else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths, strict=True))]
        return f"| {' | '.join(placed)} |"

    rule = ["-" * w if i < left else "-" * (w - 1) + ":" for i, w in enumerate(widths)]
    return "\n".join([line(head), f"| {' | '.join(rule)} |", *(line(row) for row in rows)])


def run_markdown(metrics: Json, labels: Sequence[harness_markdown.Table] = ()) -> str:
    """Return the summary of one run as Markdown; `labels` are tables of what its attempts were labelled as."""
    run = read_run(metrics)
    places = text.decimals_for(text.spread_of([run.heldout.bounds]), run.heldout.value or run.selected_validation)
    facts = [
        ["run", escaped(run.run_id)],
        ["seed", text.number(run.seed)],
        ["status", escaped(run.status)],
        ["held-out mean", f"{text.number(run.heldout.value, places)} {text.interval(*run.heldout.bounds, places)}"],
        ["held-out failed, missing", f"{run.heldout_failures}, {run.heldout_missing}"],
        [run.terms.reference, text.number(run.reference_mean, places)],
        *(
            _commit_facts(run)
            if run.terms.commits
            else []
            if run.terms.graded
            else [["selected on validation", text.number(run.selected_validation, places)]]
        ),
        [
            f"{run.terms.attempts} used",
            text.number(run.budget.get("used"))
            + (f" of {text.number(bought)}" if (bought := run.budget.get("episodes")) is not None else ""),
        ],
        ["wall time of the evolver", text.duration(run.budget.get("wall_seconds"))],
        ["isolation", escaped(run.isolation) or "not recorded"],
    ]
    told = posttraining_pages.summary(run) if run.posttraining else run_summary(run)
    parts = [f"# {escaped(text.short_task(run.taskset))}: {escaped(run.evolver)}", escaped(told)]
    parts.append(table(["", "value"], facts, left=2))
    if run.evolver_failure:
        parts.append(f"**The evolver stopped:** {escaped(run.evolver_failure.message)}")
    parts += [f"- {escaped(line)}" for line in collapse_lines(run.harness)]
    parts += _tables([*harness_markdown.run_tables(run.harness), *labels])
    if run.posttraining:
        parts += _tables(posttraining_markdown.run_tables(run.posttraining))
    elif run.terms.commits:
        parts += _commit_parts(run)
    else:
        rows = [[name, value] for name, value in page.diagnostic_rows(run.diagnostics)]
        parts += ["## Submissions", _submissions(run, places), "## Diagnostics", table(["measure", "value"], rows)]
    parts += ["## Reproduce", _fence("heredity run run.toml\nheredity report .")]
    return "\n\n".join(parts) + "\n"


def _tables(tables: Sequence[harness_markdown.Table]) -> list[str]:
    parts: list[str] = []
    for title, head, rows, left in tables:
        cells = [[escaped(cell) for cell in row] for row in rows]
        parts += [f"## {title}", table([escaped(name) for name in head], cells, left)]
    return parts


def _fence(commands: str) -> str:
    return f"```sh\n{commands}\n```"


def _commit_facts(run: Run) -> list[list[str]]:
    gain = run.commits.gain
    told = f"{_gap(gain.difference)}, {gain.verdict or 'not tested'}" if gain else text.DASH
    return [["paired gain", told], ["commits", f"{run.commits.gained}, {run.commits.refused} refused"]]


def _gap(difference: Mean) -> str:
    known = "" if difference.low is None else f" {text.interval(*difference.bounds, 3)}"
    return f"{text.signed(difference.value, 3)}{known}"


def _commit_parts(run: Run) -> list[str]:
    """Return decisions, changes and model usage."""
    rows = [
        [
            str(d.number),
            "**accepted**" if d.accepted else "refused",
            escaped(d.reason),
            text.number(d.at),
            text.number(d.train_mean, 3),
            _gap(d.difference),
        ]
        for d in run.commits.decisions
    ]
    head = ["#", "decision", "reason", f"{run.terms.attempts} used", f"train {run.terms.score}", "difference"]
    parts = ["## Commits", table(head, rows, left=3) if rows else "Nothing has been committed yet.", "## What changed"]
    for change in run.commits.changes or ():
        size = "" if change.added is None else f", +{change.added} {text.MINUS}{change.removed} lines"
        parts.append(f"{escaped(change.name)} ({escaped(change.status)}{size})")
        if change.diff:
            # Indented, since a text may hold any fence.
            parts.append("\n".join(f"    {line}" for line in change.diff.split("\n")))
    if not run.commits.changes:
        parts.append("Nothing, as far as is known.")
    used = [
        [u.purpose, page.tokens(u.usage.input_tokens), page.tokens(u.usage.output_tokens), page.cost(u.usage.cost_usd)]
        for u in run.commits.used
    ]
    if used:
        parts += ["## Model usage", table(["calls for", "input tokens", "output tokens", "cost"], used)]
    return parts


def _submissions(run: Run, places: int) -> str:
    if not run.submissions:
        return "Nothing has been submitted yet."
    rows = [
        [
            f"{s.index}{' (selected)' if s.index == run.selected_index else ''}",
            (escaped(s.edit.kind) or text.DASH) + (" ▲" if s.edit.hit else ""),
            escaped(s.status),
            text.number(s.budget_used),
            text.number(s.train_mean, places),
            text.number(s.validation_mean, places),
            text.number(s.best_so_far, places),
            page.lines(s.edit),
        ]
        for s in run.submissions
    ]
    head = ["#", "edit", "status", "budget used", "train mean", "validation mean", "best so far", "lines"]
    return table(head, rows, left=3) + "\n\n▲ raised the best validation mean of the run."


def suite_markdown(suite_metrics: Json, runs: Sequence[Json]) -> str:
    """Return the summary of a suite as Markdown."""
    suite = read_suite(suite_metrics)
    members = labelled(suite, (read_run(run) for run in runs))
    parts = [f"# {escaped(suite.suite_id)}", escaped(suite_summary(suite))]
    parts += [escaped(said) for said in (suite_caution(suite), trouble_summary(suite)) if said]
    parts.append(f"{suite.finished} of {suite.run_count} runs finished. Intervals are {suite.interval_name}s.")
    parts += _tables(harness_markdown.suite_tables(suite.harness))
    parts += _tables(posttraining_markdown.suite_tables(suite.posttraining))
    parts += ["## Leaderboard", _leaderboard(suite)]
    if suite.places:
        parts += [f"## Held-out {suite.terms.score} by {suite.terms.place}", _matrix(suite)]
    if suite.overall:
        parts += ["## Comparisons over the suite", _comparisons(suite.overall)]
    if suite.learning:
        rows = [[escaped(cell) for cell in row] for row in learning_markdown(suite.learning, suite.terms)]
        parts += ["## The space of learning methods", table(["entry", "held-out mean", "what it is"], rows)]
    if suite.skins:
        parts += ["## Skins and their inverse", _skins(suite)]
    if suite.edits and not (suite.terms.commits or suite.terms.graded):
        parts += ["## Edits that raised the validation best", _edits(suite)]
    troubled = [t for t in suite.problems if t.any]
    if troubled:
        names = ("failed_submissions", "failed_episodes", "missing_episodes", "heldout_failures", "heldout_missing")
        rows = [
            [escaped(t.evolver), *(text.number(t.counts.get(n)) for n in names), str(len(t.unfinished + t.absent))]
            for t in troubled
        ]
        head = [
            "evolver",
            *(
                n.replace("_", " ").replace("heldout", "held-out").replace("episodes", suite.terms.attempts)
                for n in names
            ),
            "runs unfinished or absent",
        ]
        parts += ["## Failures and missing", table(head, rows)]
    if members:
        parts += ["## Runs", _runs(members, suite.terms)]
    parts += ["## Reproduce", _fence("heredity run suite.toml\nheredity report .")]
    return "\n\n".join(parts) + "\n"


def _skins(suite: Suite) -> str:
    rows = [
        [
            escaped(suite.names.get(str(row["taskset"]), str(row["taskset"]))),
            escaped(str(row["evolver"])),
            text.number(row["plain"], 3),
            text.number(row["inverse"], 3),
            f"{text.signed(row['difference'], 3)} {text.interval(row['ci'][0], row['ci'][1], 3) if row['ci'] else ''}",
            escaped(str(row["verdict"])),
        ]
        for row in suite.skins
    ]
    return table([suite.terms.place, "entry", "plain", "inverse", "difference", "verdict"], rows, left=2)


def _leaderboard(suite: Suite) -> str:
    if not suite.leaderboard:
        return "No run of this suite has been judged yet."
    rows = [
        [
            escaped(e.evolver),
            text.number(e.rank_score, 3),
            text.number(e.iqm.value, 3),
            text.interval(*e.iqm.bounds, 3),
            str(e.wins),
            str(e.top2),
            f"{e.tasksets} of {e.tasksets + e.absent}",
        ]
        for e in suite.leaderboard
    ]
    head = ["evolver", "rank score", "normalised IQM", "interval", "wins", "top 2", suite.terms.places]
    return table(head, rows)


def _matrix(suite: Suite) -> str:
    columns: list[dict[str, str]] = []
    for place in suite.places:
        digits = text.decimals_for(text.spread_of(c.score.bounds for c in place.cells), place.reference_mean)
        columns.append(
            {
                c.evolver: f"{text.number(c.score.value, digits)} {text.interval(*c.score.bounds, digits)}"
                for c in place.cells
            }
        )
    rows = [[escaped(e.evolver), *(c.get(e.evolver, text.DASH) for c in columns)] for e in suite.leaderboard]
    return table(["evolver", *(escaped(suite.names[p.taskset]) for p in suite.places)], rows)


def _comparisons(found: Sequence[Comparison]) -> str:
    rows = [
        [
            escaped(c.a),
            escaped(c.b),
            f"**{c.verdict}**" if c.verdict in ("better", "worse") else escaped(c.verdict) or text.DASH,
            text.signed(c.difference.value, 3),
            text.interval(*c.difference.bounds, 3),
            text.p_value(c.p_holm).replace("<", "&lt;"),
            text.number(c.mde, 3),
        ]
        for c in found
    ]
    return table(
        ["first", "second", "verdict", "difference", "interval", "p (Holm)", "detectable effect"], rows, left=3
    )


def _edits(suite: Suite) -> str:
    rows = [
        [
            escaped(str(r.get("group") or "")),
            escaped(str(r.get("evolver") or "")),
            *(f(r.get(kind)) for kind in ("synthesis", "parametric") for f in (page.hits, page.rate)),
            text.number(r.get("rollbacks")),
            text.number(r.get("retests")),
        ]
        for r in suite.edits
    ]
    return table(["group", "evolver", "synthesis", "rate", "parametric", "rate", "rollbacks", "retests"], rows, left=2)


def _runs(members: Sequence[Run], terms: Terms) -> str:
    rows = [
        [
            escaped(run.run_id),
            escaped(run.status),
            text.number(run.heldout.value),
            _gained(run) if terms.commits or terms.graded else text.number(run.selected_validation),
            text.number(run.budget.get("used")),
            text.number(len(run.submissions)),
        ]
        for run in members
    ]
    second = "gain" if terms.commits or terms.graded else "validation"
    return table(["run", "status", "held-out", second, terms.attempts, "submissions"], rows, left=2)


def _gained(run: Run) -> str:
    return _gap(run.commits.gain.difference) if run.commits.gain else text.DASH
