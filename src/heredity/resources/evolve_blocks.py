"""Evolvable parts of a program: the lines between `EVOLVE-BLOCK-START` and `EVOLVE-BLOCK-END`, or all without marks."""

from __future__ import annotations

import difflib
import re

from heredity._core.errors import ConfigError

_START, _END = "EVOLVE-BLOCK-START", "EVOLVE-BLOCK-END"


def open_lines(source: str) -> list[range]:
    """Return the lines that may change, counted from 1.

    Raises:
        ConfigError: if a mark has no partner.
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
    """Return a program with each `search` text, which occurs once in it, replaced by its `replace` text.

    If a text does not occur literally, lines match that differ only in line ends, trailing blanks and tabs of indentation
    (if there is one such place); the replacement takes the program's style.

    Raises:
        ConfigError: if a text does not occur, or more than once, or a fixed line would change.
    """
    changed = source
    for search, replace in edits:
        count = changed.count(search) if search else 0
        if count > 1 or not search:
            raise _not_once(count, search)
        changed = changed.replace(search, replace) if count else _replaced(changed, search, replace)
    return restore_fixed(source, changed)


def restore_fixed(source: str, changed: str) -> str:
    """Return a version of a program with the fixed lines restored exactly.

    Line ends become those of `source`, and so do line ends and trailing blanks of fixed lines.

    Raises:
        ConfigError: if anything else in a fixed line changed.
    """
    changed = _ended(changed, source)
    mine, theirs = fixed_text(source), fixed_text(changed)
    if mine == theirs:
        return changed
    if [_bare(text) for text in mine] != [_bare(text) for text in theirs]:
        check_fixed(source, changed)
    lines, blocks = changed.split("\n"), open_lines(changed)
    inner = ["\n".join(lines[block.start - 1 : block.stop - 1]) for block in blocks]
    parts = [mine[0]]
    for block, text, fixed in zip(blocks, inner, mine[1:], strict=True):
        parts += [text, fixed] if len(block) else [fixed]
    return "\n".join(parts)


def _bare(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.rstrip().split("\n"))


def _ended(text: str, like: str) -> str:
    """Return a text with the line ends of another."""
    plain = text.replace("\r\n", "\n")
    return plain.replace("\n", "\r\n") if "\r\n" in like and "\n" not in like.replace("\r\n", "") else plain


def _not_once(count: int, search: str) -> ConfigError:
    return ConfigError(f"the text to replace stands {count} times in the program, not once: {search[:200]!r}")


def _replaced(source: str, search: str, replace: str) -> str:
    """Replace the one place with matching lines (see `applied`)."""
    plain, sought, instead = (text.replace("\r\n", "\n") for text in (source, search, replace))
    if plain.count(sought) != 1:
        lines, unit = plain.split("\n"), _indent(plain)
        wanted = [_alike(line, unit) for line in sought.strip("\n").split("\n")]
        alike = [_alike(line, unit) for line in lines]
        places = [i for i in range(len(lines) - len(wanted) + 1) if alike[i : i + len(wanted)] == wanted]
        if len(places) != 1 or not any(wanted):
            raise _not_once(max(len(places), plain.count(sought)), search)
        tabs = any(line.startswith("\t") for line in lines)
        written = (
            [_indented(line, unit, tabs=tabs) for line in instead.strip("\n").split("\n")] if instead.strip() else []
        )
        return _ended("\n".join([*lines[: places[0]], *written, *lines[places[0] + len(wanted) :]]), source)
    return _ended(plain.replace(sought, instead), source)


def _indent(source: str) -> int:
    """Return the number of blanks of an indentation level."""
    widths = [len(line) - len(line.lstrip(" ")) for line in source.split("\n") if line.strip()]
    return min((width for width in widths if width > 0), default=4)


def _alike(line: str, unit: int) -> str:
    return _indented(line, unit, tabs=False).rstrip()


def _indented(line: str, unit: int, *, tabs: bool) -> str:
    """Return a line indented by blanks, or by tabs."""
    text = line.lstrip(" \t")
    width = len(line[: len(line) - len(text)].expandtabs(unit))
    return ("\t" * (width // unit) + " " * (width % unit) if tabs else " " * width) + text


def check_fixed(source: str, changed: str) -> None:
    """Check that only lines that may change did.

    Raises:
        ConfigError: if a fixed line changed.
    """
    if fixed_text(source) != fixed_text(changed):
        raise ConfigError(
            f"only lines between {_START} and {_END} may change; leave all others, and the marks, as they are"
        )


def size_of(source: str) -> int:
    """Return the size of a program: its tokens without comments; about the number of nodes of its syntax tree."""
    return len(re.findall(r"\w+|[^\w\s]", re.sub(r"#.*", "", source)))


def distance(start: str, changed: str) -> float:
    """Return the distance between two programs, 0 to 1: the share of lines that differ."""
    return 1.0 - difflib.SequenceMatcher(None, start.splitlines(), changed.splitlines(), autojunk=False).ratio()
