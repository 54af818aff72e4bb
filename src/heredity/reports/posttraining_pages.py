"""The page of a post-training run: how scores went, by which code, what failed, and whether the mode was kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from heredity.protocols.post_training.analysis.failures import LIMITS
from heredity.reports import page, run_charts, text
from heredity.reports.fields import Json, Mean, count, items, mean_of, numbers, section, whole, words_of
from heredity.reports.model import Run
from heredity.reports.posttraining_charts import Spent, spent_plot, trajectory
from heredity.reports.sentences import plural, state_of
from heredity.reports.text import finite

_SECTIONS = {
    "progress": "Progress",
    "gains": "Gains",
    "iterations": "Iterations",
    "routes": "Routes",
    "process": "Process",
    "failures": "Failures",
    "audit": "Mode",
    "reproduce": "Reproduction",
}
SPENT = {"time": "minutes of the run", "submissions": "graded submissions", "tokens": "tokens of the agent"}
"""What improvement is shown over, and what it is called."""

_SAID = {"better": "a gain beyond noise", "worse": "a loss beyond noise", "within noise": "within noise"}
MOST_EVIDENCE = 12
"""Lines of evidence that a page shows of each revision; all are in metrics.json."""


def run_page(run: Run) -> str:
    """Return the page of one run."""
    found = run.posttraining
    gains = gain_rows(found)
    title = f"Submissions of {run.run_id}"
    return page.render(
        "run_posttraining.html.j2",
        run=run,
        about=found,
        sections=list(_SECTIONS.items()),
        summary=summary(run),
        state=state_of(run),
        gains=gains,
        graded=gains[0],
        heldout=gains[1],
        lengths=length_rows(found),
        noise=numbers(section(found, "noise")),
        route=words_of(section(found, "routes"), "run"),
        budget=process_rows(found),
        iterations=[_iteration(row) for row in items(found, "iterations")],
        revisions=[_revision(row) for row in items(found, "revisions")],
        failures=items(found, "failures"),
        audit=section(found, "audit"),
        findings=items(section(found, "audit"), "findings"),
        tasks=[row for task in items(found, "tasks") for row in _task_rows(task)],
        ended=section(found, "agent"),
        limit=LIMITS.get(words_of(section(found, "agent"), "reason"), ""),
        process=section(found, "process"),
        tokens=page.token_words(run.tokens),
        trajectory_plot=page.picture(trajectory(title, found)),
        trajectory_wide=page.picture(trajectory(title, found, run_charts.WIDE)),
        heldout_plot=page.picture(run_charts.heldout_strip(run)),
        spent_plots=_spent(found),
    )


def gain_rows(posttraining: Json) -> list[dict[str, Any]]:
    """Return how base and best checkpoint compare on the graded view and on the held-out slice, in this order."""
    best = section(posttraining, "best")
    baseline = section(posttraining, "baseline")
    graded = {"baseline": section(baseline, "graded"), "best": section(best, "score"), "gain": section(best, "gain")}
    heldout = section(posttraining, "heldout")
    rows = [_view("Graded view", graded), _view("Held-out slice", heldout)]
    if not heldout:
        rows[1]["before"] = mean_of(section(baseline, "heldout"))
    return rows


def length_rows(posttraining: Json) -> list[dict[str, Any]]:
    """Return win rates at equal length of base and best checkpoint, of each view on which answers were compared with references."""
    found = section(posttraining, "length_controlled")
    views = {"Graded view": section(found, "graded"), "Held-out slice": section(found, "heldout")}
    return [_lengths(name, view) for name, view in views.items() if view]


def _lengths(name: str, view: Json) -> dict[str, Any]:
    baseline, best = section(view, "baseline"), section(view, "best")
    return {
        "name": name,
        "before": mean_of(baseline, "rate"),
        "after": mean_of(best, "rate"),
        "gain": mean_of(section(view, "gain"), "difference"),
        "won": finite(best.get("won")),
        "length": finite(best.get("length")),
        "reference_length": finite(best.get("reference_length")),
        "n": whole(best, "n"),
    }


def _task_rows(task: Json) -> list[dict[str, Any]]:
    """Return how one of several tasks went, on the graded view and, where it was judged, on the held-out slice."""
    name, heldout = text.short_task(words_of(task, "name")), section(task, "heldout")
    rows = [_view(f"{name}, graded", task)]
    return [*rows, _view(f"{name}, held out", heldout)] if section(heldout, "gain") else rows


def _view(name: str, source: Json) -> dict[str, Any]:
    gain = section(source, "gain")
    return {
        "name": name,
        "before": mean_of(section(source, "baseline")),
        "after": mean_of(section(source, "best")),
        "gain": mean_of(gain, "difference"),
        "verdict": words_of(gain, "verdict"),
        "p": finite(gain.get("p")),
        "mde": finite(gain.get("mde")),
        "pairs": whole(gain, "pairs"),
    }


def summary(run: Run) -> str:
    """Say what the run reached, on the graded view and beyond it, and by which route."""
    found = run.posttraining
    process = section(found, "process")
    graded, heldout = gain_rows(found)
    spent = f"In {text.duration(process.get('ended_s'))}"
    if process.get("budget_s") is not None:
        spent += f" of {text.duration(process.get('budget_s'))}"
    graded_count = count(process, "graded")
    opening = f"{spent} {plural(graded_count, 'checkpoint')} {'was' if graded_count == 1 else 'were'} graded"
    if graded["after"].value is None:
        return f"{opening}, so the run {'ends' if run.finished else 'stands'} with the base model{_copies(process)}."
    reached = f"the best scores {text.number(graded['after'].value, 3)}"
    if graded["gain"].value is not None:
        reached += f", {_gain(graded['gain'])} over the base model on the view that chose it"
    if heldout["gain"].value is None:
        return f"{opening}; {reached}."
    return f"{opening}; {reached}. On held-out items it is {_gain(heldout['gain'])}: {_said(heldout['verdict'])}."


def _said(verdict: str) -> str:
    return _SAID.get(verdict, "too few items to tell")


def _copies(process: Json) -> str:
    copies = count(process, "copies")
    return f", which it submitted {plural(copies, 'time')}" if copies else ""


def _gain(gain: Mean) -> str:
    bounds = f" {text.interval(*gain.bounds, 3)}" if gain.low is not None else ""
    return f"{text.signed(gain.value, 3)}{bounds}"


def process_rows(posttraining: Json) -> list[tuple[str, str, str]]:
    """Return process metrics as (name, value, what it is)."""
    p, ended = section(posttraining, "process"), section(posttraining, "agent")
    best = f"{text.number(p.get('best_at'))} of {text.number(p.get('graded'))}" if p.get("best_at") else text.DASH
    return [
        ("Requests", text.number(p.get("requests")), "submissions asked for, refused ones and copies among them"),
        ("Graded", text.number(p.get("graded")), "checkpoints that were scored"),
        ("Copies", text.number(p.get("copies")), "the untouched base model"),
        (
            "Refused, failed",
            f"{text.number(p.get('refused'))}, {text.number(p.get('failed'))}",
            "before and in grading",
        ),
        ("Valid submissions", text.percent(p.get("valid_rate")), "graded or copies, of all requests"),
        ("Zero scores", text.percent(p.get("zero_rate")), "of graded and failed; a failure counts as zero"),
        ("First improvement", text.duration(p.get("first_improvement_s")), "when the first better score was asked for"),
        ("Best", text.duration(p.get("best_s")), "when the best score was asked for"),
        ("Best at submission", best, "its place among those graded"),
        ("Monotonic", text.percent(p.get("monotonic_ratio")), "graded submissions no worse than the one before"),
        ("Time used", text.percent(p.get("time_used_ratio")), "of the budget, until the agent ended"),
        ("Last-submit gap", text.duration(p.get("last_submit_gap_s")), "from the last request to the agent's end"),
        ("Code revisions", text.number(p.get("revisions")), "versions of its code that are on record"),
        ("Most memory", _size(ended, "memory_bytes"), "that the agent was seen to hold"),
        ("Most disk", _size(ended, "disk_bytes"), "that its files were seen to take"),
        ("Agent's end", words_of(ended, "reason").replace("_", " ") or text.DASH, "why it ended"),
        ("Tokens", text.amount(p.get("tokens")), "that the agent is known to have used"),
    ]


def _size(holder: Json, name: str) -> str:
    found = finite(holder.get(name))
    return text.DASH if found is None else f"{text.number(found / (1 << 20), 0)} MiB"


def _iteration(row: Json) -> dict[str, Any]:
    changed = row.get("changed")
    return {
        "iteration": whole(row, "iteration"),
        "at_s": finite(row.get("at_s")),
        "duration_s": finite(row.get("duration_s")),
        "best": finite(row.get("best")),
        "new_best": row.get("new_best") is True,
        "revision": whole(row, "revision"),
        "score": finite(row.get("score")),
        "improvement": finite(row.get("improvement")),
        "route": words_of(row, "train_type"),
        "failure": words_of(row, "failure_type"),
        "problem": words_of(row, "problem"),
        "restarts": [text.clean(why) for why in row.get("restarts") or ()],
        "note": words_of(row, "note"),
        "tried": words_of(row, "tried"),
        "because": words_of(row, "because"),
        "changed": [text.clean(name) for name in changed] if isinstance(changed, list | tuple) else [],
        "settings": [(text.clean(k), text.clean(v)) for k, v in section(row, "settings").items()],
        "excerpt": section(row, "excerpt"),
    }


def _revision(row: Json) -> dict[str, Any]:
    evidence = items(row, "evidence")
    names = row.get("components")
    return {
        "number": whole(row, "revision"),
        "at": finite(row.get("at_s")),
        "files": section(row, "files"),
        "unknown": row.get("files") is None,
        "reason": words_of(row, "reason"),
        "route": words_of(row, "route"),
        "components": ", ".join(map(text.clean, names)) if isinstance(names, list | tuple) else "",
        "also": [name for name in ("samples", "environment") if row.get(name) is True],
        "evidence": evidence[:MOST_EVIDENCE],
        "more": max(0, len(evidence) - MOST_EVIDENCE),
        "unreadable": [text.clean(n) for n in row.get("unreadable") or ()],
    }


def _spent(posttraining: Json) -> list[tuple[str, Any]]:
    curves = section(posttraining, "scaling")
    found: list[tuple[str, Any]] = []
    for name, title in SPENT.items():
        if points := spent_points([[*point, *point[1:], *point[1:]] for point in _pairs(curves.get(name))], name):
            found.append(
                (title, page.picture(spent_plot(f"Improvement over {title}", [Spent("", "c0", points)], title)))
            )
    return found


def _pairs(value: Any) -> list[list[Any]]:
    return (
        [list(point) for point in value if isinstance(point, list | tuple)] if isinstance(value, list | tuple) else []
    )


def spent_points(rows: Sequence[Sequence[Any]], name: str) -> tuple[tuple[float, float, float, float], ...]:
    """Return points of a scaling curve; time in minutes."""
    unit = 60.0 if name == "time" else 1.0
    known = [[finite(value) for value in row] for row in rows if len(row) == 4]
    return tuple((r[0] / unit, r[1], r[2], r[3]) for r in known if None not in r)  # pyright: ignore[reportOptionalOperand, reportReturnType]
