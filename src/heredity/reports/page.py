"""Templates and their filters; every value that a template writes is escaped unless it is markup made by `svg`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jinja2
from markupsafe import Markup

from heredity.reports import text
from heredity.reports.fields import Json, Mean, section
from heredity.reports.model import Edit
from heredity.reports.suite_model import VERDICTS, Comparison


@functools.cache
def environment() -> jinja2.Environment:
    """Return the template environment: autoescaping on, undefined names are errors."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("heredity.reports", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Callable[..., Any]] = {
        "number": text.number,
        "signed": text.signed,
        "interval": text.interval,
        "percent": text.percent,
        "p_value": text.p_value,
        "duration": text.duration,
        "amount": text.amount,
        "task": text.short_task,
        "dollars": dollars,
        "tokens": tokens,
        "cost": cost,
        "lines": lines,
        "hits": hits,
        "rate": rate,
        "places": places,
        "groupby_key": grouped,
        "verdict_count": verdict_count,
    }
    for name, function in filters.items():
        made.filters[name] = function
    return made


def printable(value: Any) -> Any:
    """Return what a template is about to write, plain text without control characters."""
    return text.clean(value) if type(value) is str else value


def render(template: str, **context: Any) -> str:
    """Return a page from a template; the style sheet is put inside it."""
    loaded = environment()
    style = loaded.loader.get_source(loaded, "page.css")[0] if loaded.loader else ""
    return loaded.get_template(template).render(style=Markup(style), **context)


def picture(markup: str) -> Markup:
    """Mark a picture made by `svg` as safe to put into a page: the kit has escaped its texts."""
    return Markup(markup)


def dollars(value: Any) -> str:
    """Write a cost in US dollars; missing values are a dash."""
    known = text.finite(value)
    return text.DASH if known is None else f"${known:,.2f}"


def tokens(value: Any) -> str:
    """Write a number of tokens; unknown is said."""
    return "unknown" if text.finite(value) is None else text.amount(value)


def cost(value: Any) -> str:
    """Write a cost in US dollars, small ones with the digits that tell them from nothing; unknown is said."""
    known = text.finite(value)
    if known is None:
        return "unknown"
    return f"${known:.2g}" if 0 < known < 0.01 else f"${known:,.2f}"


def lines(edit: Edit) -> str:
    """Write the size of an edit as added and removed lines; a dash when it is not known."""
    if edit.added is None and edit.removed is None:
        return text.DASH
    return f"+{edit.added or 0} {text.MINUS}{edit.removed or 0}"


def hits(counts: Any) -> str:
    """Write `{"n": 9, "hits": 3}` as `3 of 9`."""
    if not isinstance(counts, dict) or counts.get("n") is None:
        return text.DASH
    return f"{text.number(counts.get('hits'))} of {text.number(counts['n'])}"


def rate(counts: Any) -> str:
    """Write the share of hits in `{"n": 9, "hits": 3}` as a percentage; a dash without any."""
    n, found = (text.finite(counts.get(k)) for k in ("n", "hits")) if isinstance(counts, dict) else (None, None)
    return text.percent(found / n) if n and found is not None else text.DASH


def places(difference: Mean) -> int:
    """Return the decimals that a mean's interval supports."""
    return text.decimals_for(text.spread_of([difference.bounds]), difference.value)


def grouped(rows: Iterable[Json], key: str) -> list[tuple[str, list[Json]]]:
    """Put rows together by the text under `key`, in order of appearance."""
    found: dict[str, list[Json]] = {}
    for row in rows:
        found.setdefault(text.clean(row.get(key) or "no group"), []).append(row)
    return list(found.items())


def verdict_count(rows: Sequence[Comparison]) -> str:
    """Say how many comparisons had which verdict."""
    decided = sum(row.verdict in VERDICTS[:2] for row in rows)
    return f"{decided} of {len(rows)} differences beyond noise"


def budget_totals(rows: Iterable[Json]) -> dict[str, float | None]:
    """Add up budget rows of evolvers; a sum of nothing known is None."""
    names = {"used": "used", "episodes": "episodes", "submissions": "submissions", "seconds": "wall_seconds"}
    listed = list(rows)
    sums: dict[str, float | None] = {}
    for name, key in names.items():
        known = [v for row in listed if (v := text.finite(row.get(key))) is not None]
        sums[name] = sum(known) if known else None
    return sums


def token_words(tokens: Json, accounts: Json | None = None) -> str:
    """Write token counts and cost in one line, and how far an agent's own account of them is from the broker's."""
    parts = [f"{text.amount(tokens.get(key))} {name}" for name, key in _COUNTS.items()]
    return ", ".join([*parts, f"cost {dollars(tokens.get('cost_usd'))}"]) + _compared(accounts)


_COUNTS = {"input": "input_tokens", "cached": "cache_tokens", "output": "output_tokens"}


def _compared(accounts: Json | None) -> str:
    if not accounts:
        return ""
    differences = section(accounts, "difference")
    off = [f"{differences[key]:+,} {name}" for name, key in _COUNTS.items() if differences.get(key)]
    unknown = [name for name, key in _COUNTS.items() if differences.get(key) is None]
    said = f"differs from the broker's: {', '.join(off)}" if off else "agrees with the broker's"
    return f"; the agent's own account {said}" + (f" ({', '.join(unknown)} unknown)" if unknown else "")


def diagnostic_rows(diagnostics: Json) -> list[tuple[str, str]]:
    """Return a run's diagnostics as (name, value) rows in words."""
    edits = section(diagnostics, "edits")
    return [
        ("Improvements of the validation best", text.number(diagnostics.get("improvements"))),
        ("Episodes until the first improvement", text.number(diagnostics.get("first_improvement"))),
        ("Synthesis edits that paid", hits(edits.get("synthesis"))),
        ("Parametric edits that paid", hits(edits.get("parametric"))),
        ("Rollbacks", text.number(diagnostics.get("rollbacks"))),
        ("Retests", text.number(diagnostics.get("retests"))),
        ("Score drops on validation", text.number(diagnostics.get("score_drops"))),
        ("Invalid actions, share of steps", text.percent(diagnostics.get("invalid_transition_rate"), 1)),
        ("Code size, last over first", _times(diagnostics.get("complexity_growth"))),
        ("Episodes per submission", text.number(diagnostics.get("budget_per_submission"))),
    ]


def _times(value: Any) -> str:
    known = text.finite(value)
    return text.DASH if known is None else f"{text.number(known, 2)}\u00d7"
