"""Options in the name of a taskset: `code/all?language=cpp&tag=graphs`."""

from __future__ import annotations

from heredity._core.errors import ConfigError

_SHOWN = 60


def written_options(name: str, query: str) -> dict[str, str]:
    """Parse the options in a taskset's name, without interpreting their values.

    Args:
        name: name of the taskset; errors quote its part before the question mark.
        query: the part after it.

    Raises:
        ConfigError: if a part is not `key=value`, or a key is repeated.
    """
    options: dict[str, str] = {}
    for part in filter(None, query.split("&")):
        key, equals, value = part.partition("=")
        if not (key and equals and value) or key in options:
            before = name.partition("?")[0]
            raise ConfigError(
                f"{before}: {part[:_SHOWN]!r} is not an option; write ?key=value&key=value, each key once"
            )
        options[key] = value
    return options
