"""Rendering of pages: blocks of neutral parts, lists and safe markup in a common frame."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from heredity.pages.report import html
from heredity.results.page import Cell, Column, Facts, Part, Text, Value


class Links(Mapping[str, str]):
    """Marks the `run` of a `Named` as an address."""

    def __getitem__(self, key: str) -> str:
        """Return an address of this server, or None for anything else."""
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
    """Field of a form: a choice if `options` are given, as (value, label), or a text field."""

    name: str
    label: str
    value: str = ""
    options: Sequence[tuple[str, str]] = ()
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    """Form: `post` changes something, otherwise it requests a page."""

    action: str
    button: str
    fields: Sequence[Field] = ()
    post: bool = False
    note: str = ""


Shown = Part | Markup | Form
"""Content of a block; markup must be safe."""


@dataclass(frozen=True, slots=True)
class Block:
    """Section of a page; `id` consists of letters and hyphens; live updates skip a `still` section."""

    id: str
    title: str
    parts: Sequence[Shown]
    still: bool = False


_NONE, _EMPTY = Facts(()), Markup("")


@dataclass(frozen=True, slots=True)
class View:
    """Page.

    Attributes:
        title: its heading.
        blocks: from top to bottom.
        crumbs: (name, address) of the pages above it.
        tabs: (name, address, whether it is this one).
        facts: key figures.
        lines: sentences below the heading.
        forms: available actions.
        follow: address of the events that announce changes; "" if the page does not change.
        raw: markup instead of all blocks, such as a whole report.
        status: HTTP status of the response.
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
    """Return a page as HTML; `root` is the path of the server, `query` the text of the search."""
    return _environment().get_template("view.html.j2").render(view=view, root=root, query=query, **context())


def fragment(name: str, **values: Any) -> Markup:
    """Render a template of this folder."""
    return Markup(_environment().get_template(name).render(**{**context(), **values}))


def rows(columns: Sequence[Column], given: Sequence[Sequence[Value | Cell]], first: int) -> Markup:
    """Render rows of a list, numbered from `first` on."""
    return fragment("rows.html.j2", columns=columns, rows=given, first=first)


@functools.cache
def context() -> dict[str, Any]:
    """Return the functions with which templates draw parts."""
    return {**html.drawn_with(LINKS), "is_markup": _is_markup}


def _is_markup(part: object) -> bool:
    return isinstance(part, Markup)


@functools.cache
def _environment() -> Any:
    return html.environment("heredity.pages.live")
