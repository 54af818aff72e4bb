"""Offering things by name as an installed package does."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint

Offer = Callable[[str, str, object], None]
"""What the fixture `offer` is: it takes an entry point group, a name, and `module:attribute` or the thing itself."""


def entry_point(group: str, name: str, thing: object) -> EntryPoint:
    if isinstance(thing, str):
        return EntryPoint(name, thing, group)
    given = type("Given", (EntryPoint,), {"load": lambda self: thing})
    return given(name, f"{thing.__module__}:{getattr(thing, '__qualname__', name)}", group)
