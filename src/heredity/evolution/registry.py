"""The methods by name (entry point group `heredity.methods`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from heredity.evolution.contract import Method
from heredity.evolution.options import MethodOptions, parse_options
from heredity.plugins import Group


class MethodClass(Protocol):
    """What is registered: a class (or a function) that makes a method, with its name and its options.

    Methods that take their train tasks from `SessionContract.batches`, where a run has a schedule, say `scheduled = True`.
    """

    name: str
    options_model: type[MethodOptions]

    def __call__(self) -> Method:
        """Make a method; it keeps no state between runs."""
        ...


METHODS = Group[MethodClass](
    "heredity.methods", "method", "a class with `evolve`", lambda method: callable(method) and hasattr(method, "evolve")
)


def method(name: str, options: Mapping[str, Any] | None = None) -> Method:
    """Make the method of that name.

    Args:
        name: its name, such as `"parametric"`.
        options: the options it will find in its context, to be checked before a run begins.

    Raises:
        UnknownNameError: if there is none; names the nearest.
        ConfigError: if an option is unknown or out of range, or an installed package's method cannot be loaded.
    """
    registered = METHODS.load(name)
    model = getattr(registered, "options_model", None)
    if model is not None:
        parse_options(model, name, options or {})
    return registered()
