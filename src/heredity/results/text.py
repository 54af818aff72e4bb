"""Formatting of numbers, names, times and sentences in reports: the same on pages, in Markdown and in the terminal.

Missing values (None, NaN, infinite) are always a dash, never a zero. Digits follow from the uncertainty: a mean has as
many
decimals as its interval supports.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from types import MappingProxyType
from typing import Any, Literal

from heredity._core import errors

_NAMES = MappingProxyType(
    {
        "train": "train batches",
        "canary": "canaries",
        "update_validation": "update-validation",
        "id": "ID",
        "ood": "OOD",
        "replay": "replay",
    }
)


def view_name(name: str) -> str:
    """Return the name of a view on pages, such as `OOD gcd under small-model`."""
    base, under, model = name.partition(" under ")
    kind, colon, taskset = base.partition(":")
    return _NAMES.get(kind, kind) + (f" {short_task(taskset)}" if colon else "") + under + model


def in_order(views: Iterable[str]) -> list[str]:
    """Sort views for display: training, validation, ID, OOD, replay, then others; those under other models last."""
    kinds = list(_NAMES)

    def key(view: str) -> tuple[bool, int, bool, str]:
        kind = view.partition(" under ")[0].partition(":")[0]
        return " under " in view, kinds.index(kind) if kind in kinds else len(kinds), kind not in kinds, view

    return sorted(map(str, views), key=key)


Form = Literal["plain", "signed", "percent", "p", "duration", "amount", "dollars", "tokens", "cost"]
"""Format of a number, see `write`."""

DASH = "\u2013"
MINUS = "\u2212"
THIN_SPACE = "\u202f"

clean = errors.clean


def finite(value: Any) -> float | None:
    """Return `value` as a float, or None when it is not a finite number (booleans are not numbers)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def decimals_for(spread: float | None, magnitude: float | None = None) -> int:
    """Return the number of decimals: two significant digits of `spread`, or four of `magnitude` without a spread.

    Args:
        spread: half-width of an interval, or another scale of uncertainty; None or 0 if unknown.
        magnitude: a typical value, used without a spread.
    """
    if spread and math.isinf(spread):
        return 0  # The difference of the largest and smallest float overflows.
    if spread:
        return min(6, max(0, 1 - math.floor(math.log10(abs(spread)))))
    if magnitude:
        return min(6, max(0, 3 - math.floor(math.log10(abs(magnitude)))))
    return 2


def number(value: Any, decimals: int | None = None) -> str:
    """Format a number with `decimals` decimals (four significant digits by default); missing values are a dash."""
    figure = finite(value)
    if figure is None:
        return DASH
    if figure and abs(figure) >= 1e9:
        return f"{figure:.2e}".replace("-", MINUS)
    if decimals is None:
        if figure == int(figure) and abs(figure) < 1e6:
            return _grouped(f"{int(figure):,}")
        if figure and abs(figure) < 1e-4:
            return f"{figure:.1e}".replace("-", MINUS)
        decimals = decimals_for(None, figure)
    written = f"{figure:,.{decimals}f}"
    return written.removeprefix("-") if float(written.replace(",", "")) == 0 else _grouped(written)


def _grouped(written: str) -> str:
    # Thousands are separated by spaces from 10 000 on, since a comma would look like an interval's separator.
    digits = written.lstrip("-").partition(".")[0].replace(",", "")
    return written.replace(",", THIN_SPACE if len(digits) > 4 else "").replace("-", MINUS)


def signed(value: Any, decimals: int | None = None) -> str:
    """Format a difference with its sign; missing values are a dash."""
    written = number(value, decimals)
    figure = finite(value)
    return f"+{written}" if figure is not None and figure > 0 and written.strip("0.") else written


def interval(low: Any, high: Any, decimals: int | None = None) -> str:
    """Format an interval as `[low, high]`; a dash unless both ends are known."""
    lower, upper = finite(low), finite(high)
    if lower is None or upper is None:
        return DASH
    places = decimals_for((upper - lower) / 2, max(abs(lower), abs(upper))) if decimals is None else decimals
    return f"[{number(lower, places)}, {number(upper, places)}]"


def percent(value: Any, decimals: int = 0) -> str:
    """Format a fraction (0 to 1) as a percentage; missing values are a dash."""
    figure = finite(value)
    return DASH if figure is None else f"{number(100 * figure, decimals)}%"


def p_value(value: Any) -> str:
    """Format a p-value with two significant digits, small ones as a bound; missing values are a dash."""
    probability = finite(value)
    if probability is None:
        return DASH
    if probability < 0.001:
        return "< 0.001"
    return f"{probability:.3f}" if probability < 0.1 else f"{probability:.2f}"


def duration(seconds: Any) -> str:
    """Format seconds in a readable unit (ms, s, min, h); missing values are a dash."""
    elapsed = finite(seconds)
    if elapsed is None:
        return DASH
    if elapsed < 1:
        return f"{1000 * elapsed:.0f} ms"
    if elapsed < 90:
        return f"{elapsed:.1f} s" if elapsed < 10 else f"{elapsed:.0f} s"
    if elapsed < 5400:
        return f"{elapsed / 60:.1f} min"
    return f"{elapsed / 3600:.1f} h"


def amount(value: Any) -> str:
    """Format a count in short (950, 12.3k, 4.56M), as for tokens; missing values are a dash."""
    figure = finite(value)
    if figure is None:
        return DASH
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(figure) >= size:
            return f"{figure / size:.3g}{unit}".replace("-", MINUS)
    return number(figure)


def shorten(value: str, limit: int) -> str:
    """Cut text to `limit` characters, 3 or more, with an ellipsis in its middle: names differ at either end."""
    if len(value) <= limit:
        return value
    tail = (limit - 1) // 2
    return value[: limit - 1 - tail].rstrip() + "…" + value[-tail:].lstrip()


def short_task(name: str) -> str:
    """Return a taskset's name without its source: `gymnasium/Acrobot-v1` becomes `Acrobot-v1`, `themes/offline#reef` `reef`.

    A mix has the names of its members, `gcd + lcm`, or the first two and the number of others.
    """
    members = [part.rsplit("/", 1)[-1].rpartition("#")[2] for part in name.split("+")]
    if not all(members):
        return name
    return " + ".join(members if len(members) <= 3 else [*members[:2], f"{len(members) - 2} more"])


def task_names(names: Iterable[str]) -> dict[str, str]:
    """Return short, unique names of tasksets; ambiguous short names become full names."""
    short = {name: short_task(name) for name in names}
    shared = Counter(short.values())
    return {name: shortened if shared[shortened] == 1 else name for name, shortened in short.items()}


def spread_of(intervals: Iterable[tuple[float | None, float | None]]) -> float | None:
    """Return the median half-width of the known intervals, to choose one number of decimals for a column."""
    widths = sorted((high - low) / 2 for low, high in intervals if low is not None and high is not None and high > low)
    return widths[len(widths) // 2] if widths else None


def dollars(value: Any) -> str:
    """Format a cost in US dollars; missing values are a dash."""
    figure = finite(value)
    return DASH if figure is None else f"${figure:,.2f}"


def tokens(value: Any) -> str:
    """Format a number of tokens; None is "unknown"."""
    return "unknown" if finite(value) is None else amount(value)


def cost(value: Any) -> str:
    """Format a cost in US dollars, small ones with enough digits to differ from zero; None is "unknown"."""
    figure = finite(value)
    if figure is None:
        return "unknown"
    return f"${figure:.2g}" if 0 < figure < 0.01 else f"${figure:,.2f}"


_WRITTEN: MappingProxyType[str, Callable[[Any], str]] = MappingProxyType(
    {"p": p_value, "duration": duration, "amount": amount, "dollars": dollars, "tokens": tokens, "cost": cost}
)


def write(value: float | None, form: Form = "plain", decimals: int | None = None) -> str:
    """Format a number.

    Args:
        value: the number; None is a dash, or "unknown" for `tokens` and `cost`.
        form: `plain`; `signed` for differences; `percent` for a fraction; `p` for p-values; `duration` for
            seconds; `amount` for
            rounded counts; `dollars`, `cost` for money, the latter with the digits of small sums; `tokens`.
        decimals: number of decimals, for the first three; by the number's size if None (0 for percent).
    """
    if form == "signed":
        return signed(value, decimals)
    if form == "percent":
        return percent(value, decimals or 0)
    return number(value, decimals) if form == "plain" else _WRITTEN[form](value)


def plural(count: float, word: str) -> str:
    """Format a count with its noun."""
    return f"{number(count)} {word}" if count == 1 else f"{number(count)} {word}s"


def listed(names: Sequence[str]) -> str:
    """Join names: `a`, `a and b`, `a, b and c`."""
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def difference(value: float | None, low: float | None, high: float | None, decimals: int = 3) -> str:
    """Format a difference with its interval, if it has one."""
    return signed(value, decimals) + ("" if low is None or high is None else f" {interval(low, high, decimals)}")


def short_evolver(name: str) -> str:
    """Return an evolver's name for pictures: `ace (batch_size=5, gate=on)` becomes `ace 5, gate on`."""
    evolver, options, settings = name.partition(" (")
    if not options or not settings.endswith(")") or "=" not in settings:
        return name
    pairs = [part.partition("=") for part in settings.removesuffix(")").split(", ")]
    values = [f"{key} {value}" if value in ("on", "off") else value or key for key, _, value in pairs]
    return f"{evolver} {', '.join(values)}"
