"""`heredity suites`: list and show the installed suites."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from heredity.cli import interface
from heredity.cli.interface import WholeHelp

app = typer.Typer(cls=WholeHelp, invoke_without_command=True, rich_markup_mode=None)


@app.callback()
def suites(
    context: typer.Context, as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False
) -> None:
    """Installed suites: list, show. `heredity run NAME` runs one."""
    if context.invoked_subcommand is None:
        _list(as_json=as_json)


@app.command("list")
def list_suites(
    *, as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False
) -> None:
    """List the installed suites, as `heredity suites` alone does.

    Example: heredity suites list
    """
    _list(as_json=as_json)


def _list(*, as_json: bool) -> None:
    from heredity.cli.bars import columns
    from heredity.experiments.config import headline
    from heredity.experiments.config import suites as installed

    files = installed()
    if as_json:
        rows = [{"name": name, "about": headline(file), "file": str(file)} for name, file in files.items()]
        typer.echo(json.dumps(rows, indent=1, ensure_ascii=False))
    else:
        typer.echo(columns(("suite", "purpose"), [(name, headline(file)) for name, file in files.items()]))


@app.command()
def show(
    name: Annotated[
        str, typer.Argument(help="Name of a suite, such as demo.", show_default=False, autocompletion=interface.suites)
    ],
) -> None:
    """Print a suite's TOML; start your own with `heredity suites show demo > mine.toml`.

    Example: heredity suites show demo
    """
    from heredity.experiments.config import suite_file

    typer.echo(suite_file(name).read_text(encoding="utf-8"), nl=False)
