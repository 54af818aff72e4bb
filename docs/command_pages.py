"""Pages of the commands and of the methods' options, made from the code: help, arguments, options, defaults."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import typer

from heredity.cli.catalogue import options_of
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
        parts.append(f"## {name}")
        if rows := ["| " + " | ".join(_cell(str(value)) for value in row.values()) + " |" for row in options_of(name)]:
            parts.append("\n".join(["| option | default | values | meaning |", "|---|---|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


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
