"""Options of methods: frozen and validated once; errors on unknown names suggest the nearest known one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

from heredity._core.errors import ConfigError, nearest
from heredity._core.refusals import reading


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
