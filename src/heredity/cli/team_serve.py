"""`heredity team serve`: a team's tasks over HTTP, with a page; as a language model; over MCP and A2A."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from heredity.cli.bars import activity
from heredity.cli.signals import InterruptedRunError, run_interruptibly

if TYPE_CHECKING:
    from heredity.server.team.office import Office

PORT = 8766


def serve(
    team: Annotated[Path, typer.Option("--team", help="What the team consists of.")] = Path("team.toml"),
    folder: Annotated[
        Path, typer.Option("--folder", help="Where tasks are kept; what had not ended there is gone on with.")
    ] = Path("team-tasks"),
    port: Annotated[int, typer.Option("--port", help="TCP port on 127.0.0.1; 0 takes a free one.")] = PORT,
    token: Annotated[
        str,
        typer.Option("--token", envvar="HEREDITY_TOKEN", help="What requests must bring.", show_default="a new one"),
    ] = "",
    mcp: Annotated[
        Literal["stdio", "http", "off"],
        typer.Option("--mcp", help="Where its tools are offered over MCP: stdin and stdout alone, /mcp, or nowhere."),
    ] = "http",
    a2a: Annotated[bool, typer.Option("--a2a/--no-a2a", help="Offer it over A2A, at /a2a, with agent cards.")] = True,
    at_once: Annotated[int, typer.Option("--at-once", help="Tasks that are worked on at the same time.", min=1)] = 4,
    model: Annotated[str, typer.Option("--model", help="The model of whoever names none.")] = "",
    *,
    unsafe: Annotated[bool, typer.Option("--unsafe", help="Run programs with the isolation that works here.")] = False,
) -> None:
    """Serve a team: tasks over HTTP with a page, as a language model, over MCP and A2A; tasks outlive the process.

    Example: heredity team serve --team office/team.toml
    """
    from heredity.server.team.office import Office
    from heredity.team.settings import load_team

    office = Office(load_team(team, {"model": model} if model else None), folder, at_once=at_once, unsafe=unsafe)
    try:
        with activity():
            run_interruptibly(_serve(office, port=port, token=token, mcp=mcp, a2a=a2a))
    except InterruptedRunError as error:
        raise typer.Exit(error.code) from error


async def _serve(office: Office, *, port: int, token: str, mcp: str, a2a: bool) -> None:
    if mcp == "stdio":
        from heredity.server.team.serving import serve_team_stdio

        async with office:
            await serve_team_stdio(office)
        return
    from heredity.server.team.serving import serve_team
    from heredity.view.team import page_routes

    async with office, serve_team(office, port=port, token=token, mcp=mcp == "http", a2a=a2a, more=page_routes) as door:
        typer.echo(f"page: {door.page}")
        typer.echo(f"tasks: {door.url}/tasks, as a model: {door.url}/v1")
        if mcp == "http":
            typer.echo(f"MCP: {door.url}/mcp")
        if a2a:
            typer.echo(f"A2A: {door.url}")
        typer.echo(f"token: {door.token}")
        waiting = sum(not run.over for run in office.runs.values())
        if waiting:
            typer.echo(f"{waiting} tasks had not ended and are gone on with", err=True)
        await asyncio.Event().wait()
