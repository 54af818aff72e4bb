"""Options of methods: frozen, validated once, and unknown names answered with the nearest known one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from heredity.errors import ConfigError, nearest


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
            hint = f"did you mean {' or '.join(close)}?" if close else f"its options are {', '.join(options) or 'none'}"
            raise ConfigError(f"method {method!r} has no option {name!r}; {hint}")
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"option {where!r} of method {method!r} is {first['input']!r}: {first['msg']}") from error
