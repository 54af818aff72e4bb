"""The methods by name (entry point group `heredity.methods`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

from heredity._core.errors import ConfigError, nearest
from heredity._core.plugins import Group
from heredity._core.refusals import reading
from heredity.methods.contract import Method


class MethodOptions(BaseModel):
    """Base of every method's options; each field has a default, a range and a description."""

    model_config = ConfigDict(frozen=True, extra="forbid")


OptionsT = TypeVar("OptionsT", bound=MethodOptions)


def parse_options(model: type[OptionsT], method: str, given: Mapping[str, Any]) -> OptionsT:
    """Validate a method's options.

    Raises:
        ConfigError: if an option is unknown (names the nearest) or out of range.
    """
    options = list(model.model_fields)
    for name in given:
        if name not in options:
            close = nearest(name, options)
            remedy = (
                f"did you mean {' or '.join(close)}?" if close else f"its options are {', '.join(options) or 'none'}"
            )
            raise ConfigError(f"method {method!r} has no option {name!r}; {remedy}")
    with reading(f"options of method {method!r}", "options", "correct it, or leave it out", model=model):
        return model.model_validate(dict(given))


class MethodClass(Protocol):
    """A registered class (or function) that makes a method, with its name and options.

    Methods that take the train tasks of a scheduled run from `SessionContract.batches` set `scheduled = True`; those that
    never call a language model set `asks_model = False`.
    """

    name: str
    options_model: type[MethodOptions]

    def __call__(self) -> Method:
        """Make a method, without state shared between runs."""
        ...


METHODS = Group[MethodClass](
    "heredity.methods", "method", "a class with `evolve`", lambda method: callable(method) and hasattr(method, "evolve")
)


def method(name: str, options: Mapping[str, Any] | None = None) -> Method:
    """Make a method by name.

    Args:
        name: name, such as `"parametric"`.
        options: the options in its future context, checked here before a run begins.

    Raises:
        UnknownNameError: if no method has this name; suggests the nearest.
        ConfigError: if an option is unknown or out of range, or an installed package's method cannot be loaded.
    """
    registered = METHODS.load(name)
    model = getattr(registered, "options_model", None)
    if model is not None:
        parse_options(model, name, options or {})
    return registered()
