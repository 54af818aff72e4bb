"""`heredity agents`: install and check coding agents, in the versions that Heredity can start."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console

from heredity._core.errors import UnknownNameError
from heredity.agents.launchers.programs import Program, agents_folder
from heredity.agents.launchers.registry import programs
from heredity.cli.interface import WholeHelp
from heredity.pages.report.fitted import FittedTable
from heredity.sandbox import guest_client

_EPISODES = typer.Option(
    "", help='Train cases: "0-3,7" (inclusive) or "0:2,4:8" (half-open). Default: the fewest allowed.'
)


def submit(
    episodes: str = _EPISODES, json_output: bool = typer.Option(False, "--json", help="Print the reply as JSON.")
) -> None:
    """Submit the program in ./system to the session named by HEREDITY_SOCKET or HEREDITY_URL.

    Example: heredity submit --episodes 8
    """
    given = ["submit", *(["--episodes", episodes] if episodes else []), *(["--json"] if json_output else [])]
    raise typer.Exit(guest_client.main(given, program="heredity"))


def finish(json_output: bool = typer.Option(False, "--json", help="Print the reply as JSON.")) -> None:
    """Finish the session: no more feedback, judging begins.

    Example: heredity finish
    """
    raise typer.Exit(guest_client.main(["finish", *(["--json"] if json_output else [])], program="heredity"))


app = typer.Typer(cls=WholeHelp, no_args_is_help=True, rich_markup_mode=None)

JsonOutput = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


@app.command("list")
def list_agents(*, as_json: JsonOutput = False) -> None:
    """List the agents, their versions and where they are installed.

    Example: heredity agents list
    """
    agents = [
        {"name": p.name, "version": p.version, "folder": str(p.folder) if p.installed else None}
        for p in programs().values()
    ]
    if as_json:
        typer.echo(json.dumps(agents, indent=2))
        return
    rows = [(str(agent["name"]), str(agent["version"]), "yes" if agent["folder"] else "no") for agent in agents]
    heads = ("launcher", "version", "installed")
    Console().print(FittedTable.plain(heads, rows, left=3, caption=f"Agents in {agents_folder()}"))


@app.command("install")
def install(
    name: Annotated[str, typer.Argument(help="claude-code, codex or mini-swe-agent.", show_default=False)],
) -> None:
    """Install a coding agent. This takes minutes and downloads hundreds of megabytes from npm or PyPI.

    Example: heredity agents install codex
    """
    program = _program(name)
    if not program.installed:
        typer.echo(f"installing {name} {program.version} in {program.folder} …")
    typer.echo(f"{name} {program.version} is in {program.install()}")


@app.command("check")
def check(
    name: Annotated[str | None, typer.Argument(help="Name of an agent (default: all installed ones).")] = None,
    *,
    as_json: JsonOutput = False,
) -> None:
    """Start each agent once and check its version; exit with 1 if one fails or none is installed.

    Example: heredity agents check codex
    """
    chosen = [_program(name)] if name else [program for program in programs().values() if program.installed]
    problems = {program.name: program.problem() for program in chosen}
    if as_json:
        typer.echo(json.dumps(problems, indent=2))
    elif not chosen:
        typer.echo(f"no agent is installed in {agents_folder()}; see: heredity agents list")
    else:
        typer.echo("\n".join(f"{agent}: {problem or 'works'}" for agent, problem in problems.items()))
    if not chosen or any(problems.values()):
        raise typer.Exit(1)


def _program(name: str) -> Program:
    installable = programs()
    if name not in installable:
        raise UnknownNameError("agent", name, installable)
    return installable[name]
