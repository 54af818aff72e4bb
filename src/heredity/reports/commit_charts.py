"""The pictures of a run by commits: its train scores with what was committed, and the evidence of every decision."""

from __future__ import annotations

from heredity.reports import svg, text
from heredity.reports.charts import WIDTH
from heredity.reports.model import Run
from heredity.reports.run_charts import budget_of


def progress(run: Run, width: float = WIDTH) -> str:
    """Return train means over budget: a ring for each submission, a line and filled marks for what was committed."""
    top, bottom = 24.0, 208.0 if width == WIDTH else 286.0
    commits, terms = run.commits, run.terms
    y = svg.fit([*(s.train_mean for s in run.submissions), *(mean for _, mean in commits.line)], bottom, top)
    left = 14.0 + max([svg.text_width(svg.tick_text(v, y.ticks(4))) for v in y.ticks(4)], default=20.0)
    x = svg.Axis(0.0, budget_of([run]), left, width - 10)
    marks = [
        svg.y_axis(y, left, width - 10, f"train {terms.score}"),
        svg.x_axis(x, bottom, bottom, f"{terms.attempts} of budget used"),
    ]
    for s in run.submissions:
        if s.train_mean is not None:
            tip = f"submission {s.index}: {text.number(s.train_mean)} over {s.episodes} {terms.attempts}"
            marks.append(svg.mark("ring", x.at(s.budget_used), y.at(s.train_mean), "c6", tip, 2.6))
        if s.failures or s.failure:
            marks.append(
                svg.mark("cross", x.at(s.budget_used), bottom - 5, "bad", f"submission {s.index}: {s.status}", 3.2)
            )
    used = max([run.budget.get("used") or 0.0, *(float(s.budget_used) for s in run.submissions)])
    marks.append(svg.step_line(commits.line, x, y, "c0", used))
    for d in commits.accepted:
        if d.train_mean is not None:
            tip = f"commit at {d.at} {terms.attempts}: {text.number(d.train_mean)}; {d.reason}"
            marks.append(svg.mark("circle", x.at(d.at), y.at(d.train_mean), "c0", tip, 4.0))
    if not run.submissions:
        marks.append(svg.label("no submission yet", (left + width) / 2, (top + bottom) / 2, "middle", "tick"))
    return svg.figure(width, bottom + 34, f"Train scores of {run.run_id} over its budget", *marks)


def differences(run: Run, width: float = WIDTH) -> str:
    """Return the paired difference of every decision with its interval: filled where accepted, hollow where refused."""
    found = run.commits.considered
    top, bottom = 24.0, 190.0
    ends = [v for d in found for v in (d.difference.value, *d.difference.bounds)]
    y = svg.fit([0.0, *ends], bottom, top)
    left = 14.0 + max([svg.text_width(svg.tick_text(v, y.ticks(4))) for v in y.ticks(4)], default=20.0)
    x = svg.Axis(0.5, max([1.5, *(d.number + 0.5 for d in found)]), left, width - 10)
    ticks = [t for t in x.ticks(5) if t == int(t)]
    zero = svg.element("line", x1=left, x2=width - 10, y1=y.at(0.0), y2=y.at(0.0), class_="reference")
    marks = [
        svg.y_axis(y, left, width - 10, f"difference in train {run.terms.score}"),
        svg.x_axis(x, bottom, bottom, "decision", ticks),
        zero,
    ]
    for d in found:
        if d.difference.value is None:
            marks.append(svg.mark("cross", x.at(d.number), y.at(0.0), "bad", f"decision {d.number}: {d.reason}", 3.2))
            continue
        at, tone = x.at(d.number), "c2" if d.accepted else "c6"
        low, high = d.difference.bounds
        if low is not None and high is not None:
            marks.append(svg.element("line", x1=at, x2=at, y1=y.at(low), y2=y.at(high), class_=f"whisker {tone}"))
        shown = f"{text.signed(d.difference.value, 3)} {text.interval(low, high, 3)}"
        tip = f"decision {d.number}, {'accepted' if d.accepted else 'refused'}: {shown}; {d.reason}"
        marks.append(svg.mark("circle" if d.accepted else "ring", at, y.at(d.difference.value), tone, tip, 3.6))
    if not found:
        marks.append(svg.label("nothing was considered yet", (left + width) / 2, (top + bottom) / 2, "middle", "tick"))
    return svg.figure(width, bottom + 34, f"Evidence of the decisions of {run.run_id}", *marks)
