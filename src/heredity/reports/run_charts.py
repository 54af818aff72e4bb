"""The pictures of one run's page: how its scores, its code and its held-out episodes look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from heredity.reports import svg, text
from heredity.reports.charts import WIDTH, Line, interval_axis, reference_mark
from heredity.reports.fields import Mean
from heredity.reports.model import Run

WIDE, WIDEST = 680.0, 1080.0
_FEW = 6
"""Up to how many different held-out scores are counted in words."""


def progress(run: Run, width: float = WIDTH) -> str:
    """Return a run's scores over budget: the best validation mean as a line, each submission's means as marks."""
    top, bottom = 24.0, 208.0 if width == WIDTH else 286.0
    submissions = run.submissions
    values = [v for s in submissions for v in (s.train_mean, s.validation_mean)]
    y = svg.fit([*values, *(v for _, v in run.best_so_far)], bottom, top)
    left = 14.0 + max([svg.text_width(svg.tick_text(v, y.ticks(4))) for v in y.ticks(4)], default=20.0)
    budget = budget_of([run])
    x = svg.Axis(0.0, budget, left, width - 10)
    marks = [svg.y_axis(y, left, width - 10, "mean return"), svg.x_axis(x, bottom, bottom, "episodes of budget used")]
    used = max([run.budget.get("used") or 0.0, *(float(s.budget_used) for s in submissions)])
    marks.append(svg.step_line(run.best_so_far, x, y, "c0", used))
    for s in submissions:
        at = x.at(s.budget_used)
        if s.train_mean is not None:
            tip = f"submission {s.index}: train mean {text.number(s.train_mean)}"
            marks.append(svg.mark("ring", at, y.at(s.train_mean), "c6", tip, 2.6))
        if s.validation_mean is not None:
            tip = f"submission {s.index}: validation mean {text.number(s.validation_mean)}"
            marks.append(svg.mark("circle", at, y.at(s.validation_mean), "c0", tip, 2.8))
        if s.failures or s.failure:
            marks.append(svg.mark("cross", at, bottom - 5, "bad", f"submission {s.index}: {s.status}", 3.2))
    chosen = run.selected
    if chosen is not None and chosen.validation_mean is not None:
        place = (x.at(chosen.budget_used), y.at(chosen.validation_mean))
        marks.append(svg.mark("ring", *place, "chosen", f"selected: submission {chosen.index}", 6.5))
    if not submissions:
        marks.append(svg.label("no submission yet", (left + width) / 2, (top + bottom) / 2, "middle", "tick"))
    return svg.figure(width, bottom + 34, f"Scores of {run.run_id} over its budget", *marks)


def budget_of(runs: Sequence[Run]) -> float:
    """Return the largest episode budget of the runs, at least what they used, at least 1."""
    known = [v for r in runs for v in (r.budget.get("episodes"), r.budget.get("used")) if v is not None]
    known += [float(s.budget_used) for r in runs for s in r.submissions[-1:]]
    return max([1.0, *known])


def heldout_strip(run: Run) -> str:
    """Return every held-out score as a tick, the mean with its interval below, the reference as a dashed line."""
    scores = [s for s in run.heldout_scores if s is not None]
    low, high = run.heldout.bounds
    lines = [Line("", Mean(score), "c0") for score in scores] + [Line("mean", run.heldout, "c0")]
    axis = interval_axis(lines, run.reference_mean, 10.0, WIDTH - 10)
    marks = [svg.x_axis(axis, 84.0, 14.0, f"held-out {run.terms.score}", axis.ticks(4))]
    for score in scores:
        at = axis.at(score)
        line = svg.element("line", x1=at, x2=at, y1=22, y2=46, class_="episode")
        marks.append(svg.group(line, tip=text.number(score)))
    if run.terms.commits:
        marks += _times(scores, axis)
    tip = f"mean {text.number(run.heldout.value)} {text.interval(low, high)}"
    marks.append(svg.dot_interval(axis, 64.0, run.heldout.value, (low, high), "c0", tip))
    if run.reference_mean is not None:
        places = text.decimals_for(
            text.spread_of([run.heldout.bounds]) if run.terms.commits else None, run.reference_mean
        )
        marks.append(reference_mark(axis, run.reference_mean, 14.0, 84.0, places, run.terms.mark))
    return svg.figure(WIDTH, 118, f"Held-out scores of {run.run_id}", *marks)


def _times(scores: Sequence[float], axis: svg.Axis) -> list[str]:
    """Return how often each score occurs: where answers are right or wrong, ticks alone would not show it."""
    marks: list[str] = []
    alike = Counter(scores)
    for score, times in alike.items() if len(alike) <= _FEW else ():
        at = axis.at(score)
        end = at > axis.stop - 30
        marks.append(svg.label(f"× {times}", at - 6 if end else at + 6, 38, "end" if end else "start", "tick"))
    return marks


def growth(run: Run) -> str:
    """Return the number of code lines over submissions, with the selected one marked."""
    points = [(float(s.index), lines) for s in run.submissions if (lines := s.features.get("lines")) is not None]
    top, bottom = 24.0, 150.0
    y = svg.fit([0.0, *(v for _, v in points)], bottom, top, pad=0.08)
    y = svg.Axis(0.0, y.high, bottom, top)
    left = 14.0 + max([svg.text_width(svg.tick_text(v, y.ticks(3))) for v in y.ticks(3)], default=20.0)
    last = points[-1][0] if points else 1.0
    x = svg.Axis(0.0, max(1.0, last), left, WIDTH - 10)
    marks = [svg.y_axis(y, left, WIDTH - 10, "lines of code", 3)]
    ticks = [t for t in x.ticks(5) if t == int(t)]
    marks.append(svg.x_axis(x, bottom, bottom, "submission", ticks))
    marks.append(svg.step_line(points, x, y, "c1"))
    chosen = run.selected
    if chosen is not None and (lines := chosen.features.get("lines")) is not None:
        tip = f"selected: submission {chosen.index}, {text.number(lines)} lines"
        marks.append(svg.mark("ring", x.at(chosen.index), y.at(lines), "chosen", tip, 6.0))
    return svg.figure(WIDTH, bottom + 34, f"Code size of {run.run_id}", *marks)
