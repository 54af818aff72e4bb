"""How a page is drawn: blocks of neutral parts, lists, and markup that is safe already, in one frame."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from heredity.reports import html
from heredity.results.page import Cell, Column, Facts, Part, Text, Value


class Links(Mapping[str, str]):
    """Says that the `run` of a `Named` is an address already."""

    def __getitem__(self, key: str) -> str:
        """Return an address of this server; of anything else there is none."""
        if not key.startswith("/"):
            raise KeyError(key)
        return key

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


LINKS = Links()


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a form: a choice where `options` are given, as (value, label), else a text."""

    name: str
    label: str
    value: str = ""
    options: Sequence[tuple[str, str]] = ()
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    """Something to send: `post` changes something, else it asks for a page."""

    action: str
    button: str
    fields: Sequence[Field] = ()
    post: bool = False
    note: str = ""


Shown = Part | Markup | Form
"""What stands in a block; markup is safe already."""


@dataclass(frozen=True, slots=True)
class Block:
    """A section of a page; `id` has letters and hyphens; one that is `still` is left alone when the page is brought up to date."""

    id: str
    title: str
    parts: Sequence[Shown]
    still: bool = False


_NONE, _EMPTY = Facts(()), Markup("")


@dataclass(frozen=True, slots=True)
class View:
    """A page.

    Attributes:
        title: its heading.
        blocks: from top to bottom.
        crumbs: (name, address) of the pages above it.
        tabs: (name, address, whether it is this one).
        facts: the figures that count.
        lines: sentences below the heading.
        forms: what can be done.
        follow: address of the events that say when the page has changed; "" if it does not change.
        raw: markup that stands for all blocks, such as a whole report.
        status: of the answer.
    """

    title: str
    blocks: Sequence[Block] = ()
    crumbs: Sequence[tuple[str, str]] = ()
    tabs: Sequence[tuple[str, str, bool]] = ()
    facts: Facts = _NONE
    lines: Sequence[Text] = ()
    forms: Sequence[Form] = ()
    follow: str = ""
    raw: Markup = _EMPTY
    status: int = 200


def draw(view: View, root: str, query: str = "") -> str:
    """Return a page as HTML; `root` is the path of the server, `query` what was searched for."""
    return _environment().get_template("view.html.j2").render(view=view, root=root, query=query, **context())


def fragment(name: str, **values: Any) -> Markup:
    """Return what a template of this folder gives."""
    return Markup(_environment().get_template(name).render(**{**context(), **values}))


def rows(columns: Sequence[Column], given: Sequence[Sequence[Value | Cell]], first: int) -> Markup:
    """Return rows of a list, numbered from `first` on."""
    return fragment("rows.html.j2", columns=columns, rows=given, first=first)


@functools.cache
def context() -> dict[str, Any]:
    """Return what templates draw parts with."""
    return {**html.drawn_with(LINKS), "is_markup": _is_markup}


def _is_markup(part: object) -> bool:
    return isinstance(part, Markup)


@functools.cache
def _environment() -> Any:
    return html.environment("heredity.view")
