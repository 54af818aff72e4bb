"""Bounded reading of external files: only plain files, with JSON, TOML, YAML and Python.

A file that is not plain raises an `OSError`, invalid content a `ValueError`, also for other exceptions of the parser. Pipes without
a
writer, endless devices, nesting that exhausts the stack and multiplying aliases do no harm.
"""

from __future__ import annotations

import ast
import errno
import json
import math
import os
import re
import stat
import tomllib
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Literal, NoReturn, overload

from heredity._core.errors import ConfigError

MAX_BYTES = 256 << 20
"""Maximum size of a file that is read as a whole, in bytes."""

ANY_SIZE = 1 << 62
"""No limit, for files that may grow without bounds, such as a journal."""

MAX_DEPTH = 100
"""Maximum nesting of tables and lists: less can be written again without exhausting the stack."""

MAX_TREE_DEPTH = 200
"""Maximum nesting of Python code; each operator of a chain and each `elif` counts as one level."""

MAX_YAML_NODES = 500_000
"""Maximum values of a YAML document, with aliases expanded: about three seconds of work."""

MAX_TOML_CHARS = 2_000_000
"""Maximum characters of a TOML document: about three seconds of work."""

_PART = r"""(?:[\w-]+|"[^"]{0,200}"|'[^']{0,200}')"""
_DOTTED_KEY = re.compile(rf"(?<![\w.-])(?<!\.[ \t]){_PART}(?:[ \t]*\.[ \t]*{_PART}){{{MAX_DEPTH}}}")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


def read_bytes(path: Path, limit: int = MAX_BYTES) -> bytes:
    """Return a plain file's content; links are followed.

    Raises:
        OSError: if it cannot be read, is not a plain file, or has more than `limit` bytes; `strerror` says which.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except ValueError as error:
        raise OSError(errno.EINVAL, f"the path is invalid ({error})", str(path)) from error
    try:
        about = os.fstat(descriptor)
        if stat.S_ISDIR(about.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "it is not a plain file", str(path))
        if about.st_size > limit:
            raise OSError(errno.EFBIG, f"it has more than {limit} bytes", str(path))
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


def read_text(path: Path, limit: int = MAX_BYTES) -> str:
    """Return a plain file's text, without a byte order mark and with a line feed as its only line break.

    Raises:
        OSError: as `read_bytes`.
        UnicodeDecodeError: if it is not UTF-8.
    """
    return read_bytes(path, limit).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def resolved(path: Path) -> Path:
    """Return a path without links; a circular one is unchanged, for which `Path.resolve` raises a RuntimeError."""
    return Path(os.path.realpath(path))


def json_value(text: str | bytes) -> Any:
    """Parse JSON: numbers must be finite and texts encodable; a leading byte order mark is skipped.

    Raises:
        ValueError: if the text is invalid.
    """
    try:
        decoded = text if isinstance(text, str) else text.decode("utf-8-sig")
        value = json.loads(decoded, parse_constant=_refuse, parse_float=_finite)
        if decoded.count("[") + decoded.count("{") > MAX_DEPTH:
            _check_depth(value)
        if _SURROGATE.search(decoded):
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return value


def toml_table(text: str) -> dict[str, Any]:
    """Parse a TOML document.

    Raises:
        ValueError: if it is invalid, nested too deeply or has more than `MAX_TOML_CHARS`; a `TOMLDecodeError`
            names the line.
    """
    if len(text) > MAX_TOML_CHARS:
        raise ValueError(f"it has {len(text)} characters; shorten it to {MAX_TOML_CHARS}")
    for number, line in enumerate(text.split("\n"), 1):
        # The parser's time grows with the square of the number of parts of a dotted key.
        if line.count(".") > MAX_DEPTH and _DOTTED_KEY.search(line):
            raise ValueError(f"line {number} has a key of more than {MAX_DEPTH} parts")
    try:
        value = tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    _check_depth(value)
    return value


@overload
def python_tree(text: str | bytes, mode: Literal["exec"] = "exec", *, shallow: bool = False) -> ast.Module: ...
@overload
def python_tree(text: str | bytes, mode: Literal["eval"], *, shallow: bool = False) -> ast.Expression: ...
def python_tree(text: str | bytes, mode: str = "exec", *, shallow: bool = False) -> ast.AST:
    """Parse Python text without running it.

    Args:
        text: the text.
        mode: `"eval"` for one expression.
        shallow: refuse code nested more than `MAX_TREE_DEPTH` deep, for recursive visitors.

    Raises:
        ValueError: if it is invalid or nested too deeply; names the line.
    """
    try:
        tree = ast.parse(text, mode=mode)
    except (RecursionError, MemoryError) as error:
        raise ValueError("it is nested too deeply") from error
    except SyntaxError as error:
        line = f", in {error.text.strip()!r:.120}" if error.text and error.text.strip() else ""
        raise ValueError(f"line {error.lineno}: {error.msg}{line}" if error.lineno else error.msg) from error
    level: list[ast.AST] = [tree]
    for _ in range(MAX_TREE_DEPTH if shallow else 0):
        level = [inner for node in level for inner in ast.iter_child_nodes(node)]
    if shallow and level:
        raise ValueError(f"it is nested more than {MAX_TREE_DEPTH} deep")
    return tree


def yaml_value(text: str) -> Any:
    """Parse the only document of a YAML text with the safe schema.

    Raises:
        ValueError: if it is invalid, nested too deeply, or has more than `MAX_YAML_NODES` values.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_size(yaml.parse(text, Loader=loader))
        value = yaml.load(text, Loader=loader)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False, default=str, skipkeys=True).encode()
    except (yaml.YAMLError, RecursionError, LookupError, AttributeError, TypeError, ArithmeticError) as error:
        # Constructors of explicit tags may raise any exception.
        raise ValueError(str(error) or type(error).__name__) from error
    return value


def _check_size(events: Iterable[Any]) -> None:
    """Refuse a document before it is composed, which recurses in C and expands aliases."""
    weights: dict[str, int] = {}
    opened: list[tuple[str | None, int]] = []
    total = 0
    for event in events:
        kind, anchor = type(event).__name__, getattr(event, "anchor", None)
        if kind == "AliasEvent":
            # An unknown alias is inside its anchor, or has none.
            total += weights.get(event.anchor, MAX_YAML_NODES)
        elif kind in ("SequenceStartEvent", "MappingStartEvent"):
            opened.append((anchor, total))
            total += 1
        elif kind in ("SequenceEndEvent", "MappingEndEvent"):
            anchor, before = opened.pop()
            weights[anchor or ""] = total - before
        elif kind == "ScalarEvent":
            total += 1
            weights[anchor or ""] = 1
        if len(opened) > MAX_DEPTH or total > MAX_YAML_NODES:
            raise ValueError(
                f"it is nested more than {MAX_DEPTH} deep, or holds more than {MAX_YAML_NODES} values with its aliases"
            )


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return
    raise ValueError(f"it is nested more than {MAX_DEPTH} deep")


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text:.40} is too large")
    return value


def jsonl(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Return rows as the bytes of a `.jsonl` file."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


_DISTRUSTED: ContextVar[Path | None] = ContextVar("distrusted", default=None)


@contextmanager
def distrusting(folder: Path) -> Generator[None]:
    """Refuse code that lies in a folder, such as a stranger's, for as long as the context lasts (see `check_trusted`)."""
    token = _DISTRUSTED.set(folder.resolve())
    try:
        yield
    finally:
        _DISTRUSTED.reset(token)


def check_trusted(path: Path) -> None:
    """Check a file that is about to be run outside of any sandbox.

    Raises:
        ConfigError: if it lies in a folder that is not trusted.
    """
    folder = _DISTRUSTED.get()
    # A link may lead out of the folder, and the settings beside it still count.
    places = (path.resolve(), path.absolute().parent.resolve() / path.name)
    if folder is not None and any(place.is_relative_to(folder) for place in places):
        raise ConfigError(f"{path} lies in the folder that is checked, so it is not run; use a copy that you trust")
