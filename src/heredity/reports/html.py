"""report.html: one self-contained page.

No scripts and no requests: style sheet and pictures are inside the page. Notes, tracebacks and names come from evolvers and
are escaped wherever they are written.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

import jinja2
from markupsafe import Markup, escape

from heredity.reports import drawing, values
from heredity.results import charts, text
from heredity.results.page import Cell, Mean, Mono, Named, Page, Table, Value, Verdict

_LONG_NOTE = 26
_INTERVAL = re.compile(r"\[[^\]]*\]")

LONG = 24
"""Tables of more rows are folded under their caption."""


def render(page: Page, links: Mapping[str, str] | None = None) -> str:
    """Return a page as HTML.

    Args:
        page: what it says.
        links: run id to the address of that run's page.
    """
    return environment().get_template("page.html.j2").render(page=page, style=style(), **drawn_with(links or {}))


def style() -> Markup:
    """Return the style sheet of pages."""
    loaded = environment()
    return Markup(loaded.loader.get_source(loaded, "page.css")[0] if loaded.loader else "")


def drawn_with(links: Mapping[str, str]) -> dict[str, Any]:
    """Return what `parts.html.j2`, which draws the parts of pages, is given; `links` has the address of each `Named.run`."""
    return {
        "show": functools.partial(_shown, links=links),
        "as_cell": values.as_cell,
        "kind": _kind,
        "is_long": _long,
        "picture": _picture,
        "key_picture": _key,
        "diff_class": _diff_class,
        "WIDE": drawing.WIDE,
        "WIDEST": drawing.WIDEST,
    }


@functools.cache
def environment(*packages: str) -> jinja2.Environment:
    """Return the template environment: autoescaping on, undefined names are errors.

    Args:
        *packages: packages whose folder `templates` has further ones.
    """
    loaders = [jinja2.PackageLoader(package, "templates") for package in (*packages, "heredity.reports")]
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader(loaders),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _printable(value: Any) -> Any:
    """Return what the template is about to write, plain text without control characters."""
    return text.clean(value) if type(value) is str else value


def _kind(part: Any) -> str:
    return "Chart" if isinstance(part, charts.Chart) else type(part).__name__


def _long(table: Table) -> bool:
    return table.folded or len(table.rows) > LONG


def _picture(chart: charts.Chart, width: float = drawing.WIDTH) -> Markup:
    # The kit has escaped the texts of its pictures.
    return Markup(drawing.draw(chart, width))


def _key(key: charts.Key) -> Markup:
    return Markup(drawing.key_picture(key))


def _diff_class(line: str) -> str:
    return {"+": "add", "-": "del", "@": "at"}.get(line[:1], "")


def _shown(value: Value | Cell, links: Mapping[str, str]) -> Markup:
    if isinstance(value, Cell):
        shown = _shown(value.value, links)
        tone = ' class="bad-text"' if value.tone == "bad" and not isinstance(value.value, Verdict) else ""
        inner = Markup("<span%s>%s</span>") % (Markup(tone), shown) if tone else shown
        return inner + Markup("").join(_note(note, links) for note in value.notes)
    main, interval = values.written(value)
    if isinstance(value, Mean) and interval:
        return Markup('%s<span class="ci">%s</span>') % (main, interval)
    return _inline(value, links)


def _note(note: Value, links: Mapping[str, str]) -> Markup:
    """Return a small line below a value; a long one wraps, between its words but not inside an interval."""
    if isinstance(note, str) and len(note) > _LONG_NOTE:
        whole = _INTERVAL.sub(lambda interval: interval[0].replace(" ", "\u00a0"), text.clean(note))
        return Markup('<span class="ci why">%s</span>') % whole
    return Markup('<span class="ci">%s</span>') % _inline(note, links)


def _inline(value: Value, links: Mapping[str, str]) -> Markup:
    main = escape(values.written(value)[0])
    match value:
        case Verdict():
            kind = values.TONES.get(value.word or "", values.TONES.get(str(value.tone), "noise"))
            sign = f"{values.SIGNS[value.word]} " if value.word in values.SIGNS else ""
            why = Markup('<span class="ci why">%s</span>') % value.because if value.because else ""
            return Markup('<span class="verdict %s">%s%s</span>%s') % (kind, sign, main, why)
        case Named():
            swatch = Markup('<span class="swatch %s"></span>') % drawing.tone_class(value.tone)
            name = main if value.tone is None and not value.swatch else swatch + main
            if value.title and value.title != value.name:
                name = Markup('<span title="%s">%s</span>') % (text.clean(value.title), name)
            address = links.get(value.run or "")
            return Markup('<a href="%s">%s</a>') % (address, name) if address else name
        case Mono():
            return Markup("<code>%s</code>") % main
        case Mean():
            return Markup(escape(values.line(value)))
        case _:
            return Markup(main)
