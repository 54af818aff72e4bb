"""`heredity methods`: list the installed methods, and show the options of one."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heredity.cli import interface
from heredity.cli.interface import WholeHelp

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

app = typer.Typer(cls=WholeHelp, invoke_without_command=True, rich_markup_mode=None)

_SIGNS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


@app.callback()
def methods(
    context: typer.Context, as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False
) -> None:
    """Methods, which are built-in evolvers: list, show."""
    if context.invoked_subcommand is None:
        _list(as_json=as_json)


@app.command("list")
def list_methods(
    *, as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False
) -> None:
    """List the installed methods, as `heredity methods` alone does.

    Example: heredity methods list
    """
    _list(as_json=as_json)


def _list(*, as_json: bool) -> None:
    from heredity.cli.bars import columns
    from heredity.methods.registry import METHODS

    rows = [(name, purpose_of(name)) for name in METHODS.names()]
    if as_json:
        typer.echo(json.dumps([{"name": name, "about": about} for name, about in rows], indent=1, ensure_ascii=False))
    else:
        typer.echo(columns(("method", "purpose"), rows))


@app.command()
def show(
    name: Annotated[
        str,
        typer.Argument(help="Name of a method, such as grpo.", show_default=False, autocompletion=interface.methods),
    ],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Show what a method does and its options, which a suite sets under [methods.NAME].

    Example: heredity methods show grpo
    """
    from heredity.cli.bars import columns

    rows = options_of(name)
    if as_json:
        typer.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    typer.echo(f"{name}: {purpose_of(name)}\n")
    typer.echo(columns(("option", "default", "values", "meaning"), [[*map(str, row.values())] for row in rows]))


def options_of(name: str) -> list[dict[str, Any]]:
    """Return the options of a method: `option`, `default`, `values` (a range or a list, as text) and `meaning`.

    Raises:
        UnknownNameError: if no such method is installed.
    """
    from heredity.methods.registry import METHODS

    return [
        {
            "option": option,
            "default": list(field.default) if isinstance(field.default, tuple) else field.default,
            "values": _values(field),
            "meaning": field.description or "",
        }
        for option, field in METHODS.load(name).options_model.model_fields.items()
    ]


def _values(field: FieldInfo) -> str:
    from typing import get_args

    limits = [
        f"{word} {value:,.12g}"
        for constraint in field.metadata
        for sign, word in _SIGNS.items()
        if (value := getattr(constraint, sign, None)) is not None
    ]
    if limits:
        return ", ".join(limits)
    if field.annotation is bool:
        return "true or false"
    return ", ".join(value for value in get_args(field.annotation) if isinstance(value, str))


def purpose_of(name: str) -> str:
    """Return what a method does, in a sentence without its full stop.

    Raises:
        UnknownNameError: if no such method is installed.
    """
    from heredity.methods.registry import METHODS

    return inspect.cleandoc(METHODS.load(name).__doc__ or "").partition("\n\n")[0].replace("\n", " ").rstrip(".")
