"""Pages and tables made from the code: commands, options of methods, keys of configurations and of files."""

from __future__ import annotations

import csv
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import typer

from heredity.cli.catalogue import Format, filled_columns, options_of, purpose_of, tables_of
from heredity.cli.main import app
from heredity.methods.registry import METHODS


def commands(group: Any = None, path: str = "heredity") -> Iterator[tuple[str, Any]]:
    """Yield each command that can be called, with its full name."""
    group = group or typer.main.get_command(app)
    yield path, group
    for name in getattr(group, "commands", {}):
        command = group.get_command(None, name)
        if not hasattr(command, "commands"):
            yield f"{path} {name}", command
            continue
        for other, inner in commands(command, f"{path} {name}"):
            if inner is not command or command.invoke_without_command:
                yield other, inner


def page_of(path: str, command: Any) -> str:
    """Return the page of one command, as Markdown."""
    about, _, example = inspect.cleandoc(command.help or "").partition("\n\nExample: ")
    parts = [f"# {path}", about]
    if example:
        parts.append(f"```bash\n{' '.join(example.split())}\n```")
    rows = [_row_of(param, command, path) for param in command.params]
    if rows:
        parts.append("\n".join(["| argument or option | meaning |", "|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def summary_of(command: Any) -> str:
    """Return the first sentence of a command's help."""
    return inspect.cleandoc(command.help or "").partition("\n\n")[0].replace("\n", " ").rstrip(".")


def options_page() -> str:
    """Return the page of the methods' options, as Markdown."""
    parts = ["# Options of methods"]
    for name in METHODS.names():
        parts += [f"## {name}", f"{purpose_of(name)}."]
        if rows := ["| " + " | ".join(_cell(str(value)) for value in row.values()) + " |" for row in options_of(name)]:
            parts.append("\n".join(["| option | default | values | meaning |", "|---|---|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def keys(what: Format, *roots: str, level: int = 2) -> str:
    """Return the tables of a format's keys, as Markdown, under headings from a level on; with `roots`, only of these parts."""
    parts: list[str] = []
    for table in tables_of(what):
        if not table.path or (roots and table.path.partition(".")[0] not in roots):
            continue  # The top level only lists the parts.
        if (head := f"{'#' * (level + ('.' in table.path))} {table.path}") not in parts:
            parts.append(head)
        users = f"**Under {', '.join(table.users)}.** " if table.users else ""
        if users or table.about:
            parts.append(f"{users}{table.about}")
        if table.rows:
            heads, *rows = filled_columns(table)
            lines = [[f"`{key}`", *map(_cell, cells)] for key, *cells in rows]
            parts.append(_table(heads, lines))
    return "\n\n".join(parts)


def events() -> str:
    """Return the table of a journal's events, as Markdown."""
    rows = [
        [f"`{table.path}`", ", ".join(f"`{key}`" for key, *_ in table.rows), _cell(table.about)]
        for table in tables_of(Format.journal)
    ]
    return _table(("event", "keys", "meaning"), rows)


def overview() -> str:
    """Return the table of the commands, as Markdown."""
    rows = [[f"[`{path}`](commands.md#{path.replace(' ', '-')})", _cell(summary_of(c))] for path, c in commands()]
    return _table(("command", "purpose"), rows)


def methods() -> str:
    """Return the table of the methods, as Markdown."""
    return _table(("method", "purpose"), [[f"`{name}`", _cell(purpose_of(name))] for name in METHODS.names()])


def measurements() -> str:
    """Return the table of single figures, as Markdown."""
    with Path(__file__).with_name("measurements.csv").open(encoding="utf-8", newline="") as file:
        heads, *rows = csv.reader(file)
    return _table(heads, rows)


GENERATED: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "config": partial(keys, Format.config),
        "team": partial(keys, Format.team, "team", "planner", "agents", "debate", "evolution", level=3),
        "run": partial(keys, Format.results, "run"),
        "suite": partial(keys, Format.results, "suite"),
        "world": partial(keys, Format.world, "rules", level=3),
        "commands": overview,
        "events": events,
        "methods": methods,
        "measurements": measurements,
    }
)
"""Name to the function that makes a piece of a page. A page says `<!-- generated: NAME -->` where it belongs."""

_MARKER = re.compile(r"^<!-- generated: (\w+) -->$", re.MULTILINE)


def completed(page: str) -> str:
    """Return a page with everything generated that its markers name.

    Raises:
        KeyError: if a marker names nothing that there is.
    """
    return _MARKER.sub(lambda match: _made(match[1]), page)


@cache
def _made(name: str) -> str:
    return GENERATED[name]()


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(heads), *map(list, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _row_of(param: Any, command: Any, path: str) -> str:
    if param.param_type_name == "argument":
        names, meaning = param.metavar or param.name.upper() + (" …" if param.nargs == -1 else ""), param.help or ""
        if param.default not in (None, "", ()) and not callable(param.default):
            meaning += f" [default: {param.default}]"
    else:
        context = command.make_context(path, [], resilient_parsing=True)
        names, meaning = param.get_help_record(context)
    return f"| {_cell(f'`{names}`')} | {_cell(meaning)} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
