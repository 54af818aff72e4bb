"""`heredity sites`: small websites for web questions: list, serve, write."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from heredity.cli.bars import activity
from heredity.cli.interface import WholeHelp

app = typer.Typer(cls=WholeHelp, no_args_is_help=True, rich_markup_mode=None)

_NAME = Annotated[str, typer.Argument(help="Name of a site, such as local-web.", show_default=False)]


@app.command("list")
def listed() -> None:
    """Print the names of the installed sites.

    Example: heredity sites list
    """
    from heredity.engine.questions.pools import SITES

    for name in SITES.names():
        typer.echo(name)


@app.command()
def serve(
    name: _NAME,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="TCP port; 0 takes a free one.")] = 0,
) -> None:
    """Serve a site on 127.0.0.1 until Ctrl-C; the first line printed is its address.

    Example: heredity sites serve local-web --port 8000
    """
    from heredity.engine.questions.pools import SITES

    with activity(), SITES.load(name).serving(port) as address:
        typer.echo(f"http://{address}/")
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            typer.echo("ended", err=True)


@app.command()
def write(
    name: _NAME,
    folder: Annotated[Path, typer.Argument(help="Folder to write to; created if missing.", show_default=False)],
) -> None:
    """Write the pages and documents of a site into a folder, and its questions with answers as questions.jsonl.

    Example: heredity sites write local-web varnholm
    """
    from heredity._core.errors import ConfigError
    from heredity.engine.questions.pools import SITES

    site = SITES.load(name)
    try:
        site.write(folder)
    except OSError as error:
        raise ConfigError(f"{folder} cannot be written: {error.strerror}; give another folder") from error
    typer.echo(str(folder))
