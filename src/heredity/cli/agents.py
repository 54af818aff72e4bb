"""`heredity agents`: install, list and check coding agents, in the versions that Heredity can start."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.console import Console

from heredity._core.errors import HeredityError, UnknownNameError
from heredity.agents.launchers.programs import Program, agents_folder
from heredity.agents.launchers.registry import programs, settings_of
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
    """List the agents that launchers start: versions, what each takes, and whether it is installed.

    Example: heredity agents list
    """
    agents: list[dict[str, Any]] = [
        {
            "name": program.name,
            "version": program.version,
            "folder": str(program.folder) if program.installed else None,
            **settings_of(program.name),
        }
        for program in programs().values()
    ]
    if as_json:
        typer.echo(json.dumps(agents, indent=2))
        return
    rows = [
        (
            str(agent["name"]),
            str(agent["version"]),
            "yes" if agent["folder"] else "no",
            " ".join(agent["efforts"]) or "-",
            " ".join(agent["profiles"]),
            "yes" if agent["login"] else "no",
            "yes" if agent["acp"] else "no",
        )
        for agent in agents
    ]
    heads = ("launcher", "version", "installed", "effort", "profile", "login", "acp")
    caption = (
        f"Agents in {agents_folder()}; install one: heredity agents install NAME. Also launchers: a folder with start.sh, "
        "and acp:COMMAND for any agent that speaks the Agent Client Protocol."
    )
    Console().print(FittedTable.plain(heads, rows, left=7, caption=caption))


@app.command("install")
def install(
    name: Annotated[str, typer.Argument(help="Name of an agent (heredity agents list).", show_default=False)],
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
    name: Annotated[
        str | None,
        typer.Argument(
            help="Agent: a launcher, a folder, acp:COMMAND or a command (default: all installed launchers)."
        ),
    ] = None,
    *,
    version: Annotated[bool, typer.Option("--version-only", help="Check versions only, without a trial run.")] = False,
    unsafe: Annotated[bool, typer.Option("--unsafe", help="Run the trial without a sandbox.")] = False,
    as_json: JsonOutput = False,
) -> None:
    """Make a trial run with each agent: a scripted model has it edit, submit, read the result, improve and finish.

    Exits with 1 if a step fails or no agent is installed. Takes about 20 seconds for each agent and costs nothing.

    Example: heredity agents check codex
    """
    names = [name] if name else [program.name for program in programs().values() if program.installed]
    results: list[dict[str, Any]] = []
    for agent in names:
        results.append(_checked(agent, trial=not version, unsafe=unsafe))
        if not as_json:
            typer.echo(_report_text(results[-1]))
    if as_json:
        typer.echo(json.dumps(results, indent=2))
    elif not names:
        typer.echo(f"no agent is installed in {agents_folder()}; see: heredity agents list")
    if not names or not all(result["works"] for result in results):
        raise typer.Exit(1)


def _checked(agent: str, *, trial: bool, unsafe: bool) -> dict[str, Any]:
    installable = programs()
    problem = installable[agent].problem() if agent in installable else None
    if problem is not None or not trial:
        return {"agent": agent, "works": problem is None, "problem": problem}
    from heredity.experiments.agent_trial import try_agent

    try:
        return {"problem": None, **try_agent(agent, unsafe=unsafe).to_json()}
    except HeredityError as error:
        return {"agent": agent, "works": False, "problem": str(error)}


def _report_text(result: dict[str, Any]) -> str:
    lines = [f"{result['agent']}: {result['problem'] or ('works' if result['works'] else 'fails')}"]
    for step in result.get("steps", ()):
        detail = f" ({step['detail']})" if step["detail"] else ""
        lines.append(f"  {'yes' if step['works'] else 'NO '}  {step['name']}{detail}")
    if not result["works"] and result.get("output"):
        lines += ["  its last output:", *(f"    {line[:200]}" for line in result["output"].splitlines()[-8:])]
    return "\n".join(lines)


def _program(name: str) -> Program:
    installable = programs()
    if name not in installable:
        raise UnknownNameError("agent", name, installable)
    return installable[name]
