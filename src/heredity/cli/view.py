"""`heredity view`: show runs and suites in a browser, live and afterwards."""

from __future__ import annotations

import asyncio
import os
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from heredity.cli.bars import activity
from heredity.cli.signals import InterruptedRunError, run_interruptibly

PORT = 8767


def view(
    folder: Annotated[Path, typer.Argument(help="Folder of a suite, of a run, or of suites.")] = Path("runs"),
    port: Annotated[int, typer.Option("--port", help="TCP port on 127.0.0.1; 0 takes a free one.")] = PORT,
    token: Annotated[
        str,
        typer.Option(
            "--token",
            envvar="HEREDITY_TOKEN",
            help="Prefix of addresses; set the variable, as others can see command lines.",
            show_default="a new one",
        ),
    ] = "",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    read_only: Annotated[bool, typer.Option("--read-only", help="Do not start or stop anything.")] = False,
) -> None:
    """Show runs and suites as pages: live progress, lineage, rollouts, model calls, traces, reports.

    Example: heredity view runs/demo-20260101-120000
    """
    from heredity.experiments.suites import headline, suites
    from heredity.pages.live.actions import Actions
    from heredity.pages.live.app import ViewApp
    from heredity.pages.live.place import Place

    if folder == Path("runs"):
        # Without runs, the page starts one.
        folder.mkdir(exist_ok=True)
    served = Place.of(folder)
    kept = served.folder.parent if served.single else served.folder
    app = ViewApp(
        served, None if read_only else Actions(kept), {name: headline(file) for name, file in suites().items()}
    )
    try:
        with activity():
            run_interruptibly(_serve(app, port, token, browser=browser))
    except InterruptedRunError as error:
        raise typer.Exit(error.code) from error


async def _serve(app: object, port: int, token: str, *, browser: bool) -> None:
    from heredity._core.engine_folder import EngineFolder
    from heredity.pages.live.app import ViewApp
    from heredity.pages.live.serving import serve_view

    assert isinstance(app, ViewApp)
    async with serve_view(app, port=port, token=token) as address:
        typer.echo(f"page: {address}")
        with EngineFolder() as folder:
            if browser:
                await asyncio.to_thread(webbrowser.open, leading_to(address, folder).as_uri())
            await asyncio.Event().wait()


def leading_to(address: str, folder: Path) -> Path:
    """Write a redirect to an address that only this user can read: all users see browsers' command lines."""
    path = folder / "open.html"
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(
            f'<!doctype html><meta http-equiv="refresh" content="0;url={address}"><a href="{address}">heredity view</a>\n'
        )
    return path
