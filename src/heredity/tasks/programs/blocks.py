"""What of a program may change: the lines between `EVOLVE-BLOCK-START` and `EVOLVE-BLOCK-END`, or all where none are marked."""

from __future__ import annotations

import difflib
import re

from heredity.errors import ConfigError

_START, _END = "EVOLVE-BLOCK-START", "EVOLVE-BLOCK-END"


def open_lines(source: str) -> list[range]:
    """Return the lines that may change, counted from 1.

    Raises:
        ConfigError: if a block has no end, or none of the two marks its partner before it.
    """
    lines, blocks, opened = source.split("\n"), list[range](), 0
    if _START not in source and _END not in source:
        return [range(1, len(lines) + 1)]
    for number, line in enumerate(lines, 1):
        starts, ends = _START in line, _END in line
        if (starts and opened) or (ends and not opened):
            raise ConfigError(
                f"line {number}: {_START if starts else _END} without its partner before it; mark blocks in pairs"
            )
        if starts:
            opened = number
        elif ends:
            blocks.append(range(opened + 1, number))
            opened = 0
    if opened:
        raise ConfigError(f"line {opened}: {_START} without {_END}; mark where the block ends")
    return blocks


def is_open(line: int, blocks: list[range]) -> bool:
    """Return whether a line may change."""
    return any(line in block for block in blocks)


def fixed_text(source: str) -> tuple[str, ...]:
    """Return the stretches of lines that may not change, in order. Raises as `open_lines`."""
    lines, blocks = source.split("\n"), open_lines(source)
    edges = [0, *(edge for block in blocks for edge in (block.start - 1, block.stop - 1)), len(lines)]
    return tuple("\n".join(lines[a:b]) for a, b in zip(edges[::2], edges[1::2], strict=True))


def applied(source: str, edits: list[tuple[str, str]]) -> str:
    """Return a program with each `search` text, which stands in it once, replaced by its `replace` text.

    Raises:
        ConfigError: if one is not there, or more than once, or what may not change would.
    """
    changed = source
    for search, replace in edits:
        count = changed.count(search) if search else 0
        if count != 1:
            raise ConfigError(f"the text to replace stands {count} times in the program, not once: {search[:200]!r}")
        changed = changed.replace(search, replace)
    check_fixed(source, changed)
    return changed


def check_fixed(source: str, changed: str) -> None:
    """Check that nothing changed but what may.

    Raises:
        ConfigError: if something else did.
    """
    if fixed_text(source) != fixed_text(changed):
        raise ConfigError(
            f"only lines between {_START} and {_END} may change; leave all others, and the marks, as they are"
        )


def size_of(source: str) -> int:
    """Return how large a program is: its words and signs, comments aside; about the nodes of its syntax tree."""
    return len(re.findall(r"\w+|[^\w\s]", re.sub(r"#.*", "", source)))


def distance(start: str, changed: str) -> float:
    """Return how far a program is from another, 0 to 1: the share of lines that are not the same."""
    return 1.0 - difflib.SequenceMatcher(None, start.splitlines(), changed.splitlines(), autojunk=False).ratio()
