"""Report of an untrusted program's exception: one line, and its author's frames."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator

MAX_TRACEBACK = 8192
_COMPILING = ["source_to_code", "_call_with_frames_removed"]
"""The innermost frames where a module is compiled."""
_HERE = os.path.dirname(__file__) + "/"


def message_of(error: BaseException) -> str:
    """Return an exception's class and text in one line."""
    if isinstance(error, MemoryError) and not out_of_memory(error):
        return "MemoryError: the source nests too deeply to be compiled"
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - it is the author's own method, which may raise anything
        text = "(its message cannot be shown)"
    name = type(error).__name__
    return (f"{name}: {text}" if text else name)[:500]


def traceback_of(error: BaseException, folder: str) -> str:
    """Format the author's frames, with paths relative to `folder`, leaving out this folder's and the import machinery's."""
    try:
        whole: traceback.TracebackException | None = traceback.TracebackException.from_exception(error)
        link = whole
        while link is not None:
            link.stack = traceback.StackSummary.from_list(f for f in link.stack if not _is_ours(f.filename))
            link = link.__cause__ or link.__context__
        assert whole is not None
        lines = list(whole.format())
    except (RecursionError, MemoryError, AttributeError, TypeError, ValueError):
        return f"{type(error).__name__} (its traceback cannot be shown)"
    text = "".join(lines).replace(folder + "/", "")
    return text if len(text) <= MAX_TRACEBACK else text[: MAX_TRACEBACK // 2] + "\n…\n" + text[-MAX_TRACEBACK // 2 :]


def out_of_memory(error: BaseException) -> bool:
    """Return whether memory ran out; a source nested too deeply for the compiler raises the same error."""
    if not isinstance(error, MemoryError):
        return False
    names = [frame.f_code.co_name for frame, _ in traceback.walk_tb(error.__traceback__)]
    return names[-2:] != _COMPILING


def chain(error: BaseException) -> Iterator[BaseException]:
    """Return an exception and its causes, each once."""
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__


def _is_ours(path: str) -> bool:
    return path.startswith((_HERE, "<frozen importlib")) or path.endswith("/importlib/__init__.py")
