"""Messages about invalid input: place, value found, remedy.

A file is read and checked inside `reading`, which gives every failure the same form; `misfits` words a schema's
errors, with
the nearest known key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from heredity._core.errors import ConfigError, HeredityError, nearest
from heredity._core.outside import ANY_SIZE, json_value, read_text

if TYPE_CHECKING:  # workers of environments also read files, and avoid heavy imports
    from pydantic import BaseModel, ValidationError

_MOST_CHARS = 80  # maximum length of a quoted value
_MOST_MISFITS = 5
_LONGEST_FIELD = 120
_MOST_COUNTS = (100_000, 1_000_000)  # as in `heredity._core.bounds`, which imports pydantic
_EXPECTED = re.compile(r"^(?:Input|Keys|Value|List|String|Dictionary|Tuple|Data) should ")


@contextmanager
def reading(
    path: str | PathLike[str],
    form: str,
    remedy: str,
    kind: type[HeredityError] = ConfigError,
    model: type[BaseModel] | None = None,
) -> Generator[None]:
    """Give errors from reading, parsing and checking a file a common form.

    Args:
        path: the file.
        form: its format, such as `"TOML"`.
        remedy: instruction, as in `"give the path of a saved plan"`.
        kind: type of the error.
        model: schema that it is checked against, to suggest known keys.

    Raises:
        HeredityError: of type `kind`, if the system, a parser or a schema refuses the file.
    """
    try:
        yield
    except UnicodeDecodeError as error:
        raise kind(f"{path} is not UTF-8 text: {error}; {remedy}") from error
    except OSError as error:
        raise kind(f"{path} cannot be read: {error.strerror or error}; {remedy}") from error
    except ValueError as error:
        from pydantic import ValidationError

        refused = isinstance(error, ValidationError)
        problem = f": {misfits(error, model)}" if refused else f" is not {form}: {error!s:.300}"
        raise kind(f"{path}{problem}; {remedy}") from error


def json_rows(
    path: Path, form: str, remedy: str, kind: type[HeredityError] = ConfigError
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a file of JSON lines, each with its position; an incomplete last line is skipped.

    Args:
        path: the file; a missing file has no rows.
        form: description of a row, such as `"an episode"`.
        remedy: instruction.
        kind: type of the error.

    Raises:
        HeredityError: of type `kind`, if the file cannot be read or a line is not a JSON object.
    """
    if not path.exists() and not path.is_symlink():
        return
    with reading(path, "text", remedy, kind):
        whole, _, _ = read_text(path, ANY_SIZE).rpartition("\n")
    for number, line in enumerate(whole.split("\n"), 1):
        if line.strip():
            where = f"{path}, line {number}"
            with reading(where, form, remedy, kind):
                row = _object(json_value(line))
            yield where, row


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{quoted(value)} is not an object")  # noqa: TRY004 - all that cannot be read is one kind of error
    return value


def misfits(
    error: ValidationError,
    model: type[BaseModel] | None = None,
    elsewhere: Callable[[Sequence[str]], str] = lambda where: "",
) -> str:
    """Return a schema's errors as text: each field's path, the value, and the expected type or known keys.

    Args:
        error: pydantic's error.
        model: type that was checked, to suggest the nearest keys.
        elsewhere: returns the right place of a key that is unknown at this path; nothing by default.
    """
    entries = error.errors(include_url=False)
    problems = [_misfit(entry, model, elsewhere) for entry in entries[:_MOST_MISFITS]]
    more = len(entries) - len(problems)
    return "; ".join([*problems, f"and {more} more"] if more else problems)


def _misfit(entry: Any, model: type[BaseModel] | None, elsewhere: Callable[[Sequence[str]], str]) -> str:
    where = [str(part) for part in entry["loc"]]
    field = ".".join(where)[:_LONGEST_FIELD]
    if entry["type"] == "missing":
        return f"{field} is missing; add it"
    if entry["type"] == "extra_forbidden":
        return (
            elsewhere(where)
            or f"unknown key {field}; {hint(where[-1], keys_below(model, where[:-1]) if model else ())}"
        )
    from pydantic import BaseModel

    message = _EXPECTED.sub("expected to ", entry["msg"].removeprefix("Value error, ")).replace("to be ", "", 1)
    if entry["type"] == "less_than_equal" and entry["ctx"]["le"] in _MOST_COUNTS:
        message += "; split a larger experiment into several suites"
    given = entry.get("input")
    if not field and isinstance(given, Mapping | BaseModel):
        return message
    return f"{field or 'it'} = {quoted(given)}: {message}"


def hint(key: str, keys: Sequence[str]) -> str:
    """Return the known keys that resemble an unknown one, or another remedy."""
    close = nearest(key, keys)
    if close:
        return f"did you mean {' or '.join(close)}?"
    return f"known keys: {', '.join(keys)}" if keys else "leave it out"


def keys_below(model: type[BaseModel], path: Sequence[str]) -> list[str]:
    """Return the keys below `path` in a model, sorted; keys of mappings and indices are skipped."""
    from pydantic import AliasChoices

    models = [model]
    for part in path:
        inner = [
            model for owner in models if (field := owner.model_fields.get(part)) for model in _models(field.annotation)
        ]
        models = inner or models
    fields = [(name, field) for owner in models for name, field in owner.model_fields.items()]
    aliases = [alias for _, field in fields if isinstance(alias := field.validation_alias, AliasChoices)]
    return sorted({*(name for name, _ in fields), *(str(name) for alias in aliases for name in alias.choices)})


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    from pydantic import BaseModel

    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


def quoted(value: Any) -> str:
    """Format a value for a message: shortened, invisible characters escaped, without Python's notation."""
    if value is None or isinstance(value, bool):
        return "empty" if value is None else str(value).lower()
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number with too many digits, or a recursive value
        text = f"a {type(value).__name__} that is too large to show"
    return text if len(text) <= _MOST_CHARS else f"{text[: _MOST_CHARS - 1]}…"
