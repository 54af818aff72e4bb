"""Options in the name of a taskset: `code/all?language=cpp&tag=graphs`."""

from __future__ import annotations

from heredity.errors import ConfigError

_SHOWN = 60


def written_options(name: str, query: str) -> dict[str, str]:
    """Read the options of a taskset's name, each as it is written.

    Args:
        name: of the taskset; what is wrong is said of what stands before its question mark.
        query: what stands behind it.

    Raises:
        ConfigError: if a part is not `key=value`, or a key stands there twice.
    """
    options: dict[str, str] = {}
    for part in filter(None, query.split("&")):
        key, equals, value = part.partition("=")
        if not (key and equals and value) or key in options:
            before = name.partition("?")[0]
            raise ConfigError(f"{before}: {part[:_SHOWN]!r} is no option; write ?key=value&key=value, each key once")
        options[key] = value
    return options
