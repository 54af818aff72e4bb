"""`heredity worlds bench`: measures models and agents in worlds (AutoEnv, table 3)."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heredity._core.errors import ConfigError
from heredity.kinds.world.commands.play import folders_in

if TYPE_CHECKING:
    from heredity.kinds.world.commands.episodes import Episodes, Exam
    from heredity.resources import Candidate

_MANY_SECONDS = 3600.0
_Player = tuple[str | None, str | None]
"""An agent, a candidate's folder, or None for the plain player; and its model, or None."""


def bench(
    model: Annotated[
        list[str] | None, typer.Option("--model", help="A model, such as openai/gpt-5-mini; repeat for more.")
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option("--agent", help="random, reference, search, or a candidate's folder; repeat for more."),
    ] = None,
    worlds: Annotated[
        list[str] | None,
        typer.Option(
            "--worlds", help="Comma-separated worlds, world folders, or folders of world folders; repeat for more."
        ),
    ] = None,
    runs: Annotated[int, typer.Option("--runs", min=1, help="Runs per level.")] = 3,
    levels: Annotated[int, typer.Option("--levels", min=1, max=10, help="Number of test levels per world.")] = 10,
    skin: Annotated[str, typer.Option("--skin", help="text, inverse, picture or inverse-picture.")] = "text",
    concurrent: Annotated[int, typer.Option("--concurrent", min=1, help="Concurrent episodes per model.")] = 8,
    config: Annotated[Path | None, typer.Option("--config", help="TOML file with the [gateway] to use.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for episodes; recorded episodes are not played again.")
    ] = None,
    unsafe: Annotated[
        bool, typer.Option("--unsafe", help="Run programs with the isolation available on this machine.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Play the test levels of worlds with models and agents, and tabulate accuracy, steps and cost (AutoEnv, table 3).

    Example: heredity worlds bench --agent greedy --worlds grid_treasure --runs 3
    """
    from heredity.analysis.worlds import PUBLISHED
    from heredity.kinds.world.commands.episodes import Exam, check_exam, is_release
    from heredity.kinds.world.world import sound_worlds

    players = _players(model or [], agent or [])
    exam = Exam(_worlds(worlds or []) or tuple(sound_worlds()[0]), runs, levels, skin)
    check_exam(exam)
    tables = [_table(player, exam, (config, concurrent), out, unsafe=unsafe) for player in players]
    if as_json:
        shown = tables[0] if len(tables) == 1 else {"players": tables}
        typer.echo(json.dumps({**shown, **({"published": PUBLISHED} if is_release(exam.worlds) else {})}, indent=1))
        _check_complete(tables, out)
        return
    if len(tables) > 1 or is_release(exam.worlds):
        _print_players(tables, published=is_release(exam.worlds))
    for table in tables:
        _print(table)
    _check_complete(tables, out)


def _check_complete(tables: Sequence[dict[str, Any]], out: Path | None) -> None:
    """Report unplayed episodes on stderr and exit with code 1."""
    incomplete = [table for table in tables if table["missing"]]
    for table in incomplete:
        typer.echo(
            f"{table['player']}: {table['missing']} episodes could not be played: {table['why_missing']}", err=True
        )
    if incomplete:
        kept = f"the same command with --out {out} plays only those" if out else "use --out to keep finished episodes"
        typer.echo(f"run the command again; {kept}", err=True)
        raise typer.Exit(1)


def _players(models: Sequence[str], agents: Sequence[str]) -> list[_Player]:
    """Return the players: built-in agents, candidates with each model or without one, and models alone.

    Raises:
        ConfigError: if none is given.
    """
    from heredity.kinds.world.commands.episodes import AGENTS

    if not models and not agents:
        raise ConfigError("no player is given; use --model NAME, --agent NAME, or both for a candidate with a model")
    candidates = [name for name in agents if name not in AGENTS]
    asking: list[_Player] = [(name, model) for name in candidates or [None] for model in models]
    return [*((name, None) for name in agents if name in AGENTS or not models), *asking]


def _worlds(given: Sequence[str]) -> tuple[str, ...]:
    """Return the names of worlds and the paths of folders in a folder."""
    names = [name for listed in given for name in listed.split(",") if name]
    from heredity.kinds.world.world import world_names

    inside = [
        path
        for name in names
        for path in (_paths(name) if Path(name).is_dir() and name not in world_names() else [name])
    ]
    return tuple(dict.fromkeys(inside))


def _paths(name: str) -> list[str]:
    """Return the folders in a folder, each with a slash, so that it is not read as an installed world's name."""
    texts = map(str, folders_in([Path(name)]))
    return [text if "/" in text else f"./{text}" for text in texts]


def _table(
    player: _Player, exam: Exam, asked: tuple[Path | None, int], out: Path | None, *, unsafe: bool
) -> dict[str, Any]:
    from heredity.analysis.worlds import world_table
    from heredity.cli.bars import bar
    from heredity.cli.signals import run_interruptibly
    from heredity.kinds.world.commands.episodes import AGENTS, Episodes, groups_of

    agent, model = player
    if agent in AGENTS:
        episodes = Episodes(agent, exam, out)
        with bar(agent, len(episodes.missing)) as done:
            episodes.play_agent(agent, done)
            if episodes.missing:
                run_interruptibly(_play_folders(episodes, agent, unsafe, done))
    else:
        candidate = _candidate(agent)
        episodes = Episodes(f"{candidate.digest[:16]} {model or ''}".strip(), exam, out)
        with bar(model or str(agent), len(episodes.missing)) as done:
            run_interruptibly(_play(episodes, candidate, (model, *asked), unsafe, done))
    table = world_table(episodes.rows, groups_of(exam.worlds))
    head = {"player": " ".join(filter(None, player)), "skin": exam.skin, "missing": len(episodes.missing)}
    if episodes.missing:
        head["why_missing"] = episodes.why_missing or "no reason given"
    return {**head, **table}


async def _play_folders(episodes: Episodes, agent: str, unsafe: bool, done: Any) -> None:
    from heredity.engine.programs import SandboxedPrograms

    async with SandboxedPrograms(unsafe=unsafe) as programs:
        await episodes.play_agent_in_folders(agent, programs, done)


def _candidate(folder: str | None) -> Candidate:
    from heredity._core.errors import UnknownNameError
    from heredity.engine.player import plain_player
    from heredity.kinds.world.commands.episodes import AGENTS
    from heredity.resources.assembly import candidate_from_folder

    if folder is None:
        return plain_player()
    if not Path(folder).is_dir():
        raise UnknownNameError("agent, and no folder", folder, AGENTS)
    return candidate_from_folder(Path(folder))


async def _play(
    episodes: Episodes, candidate: Candidate, asked: tuple[str | None, Path | None, int], unsafe: bool, done: Any
) -> None:
    from heredity.cli.broker import gateway_settings
    from heredity.engine.actor import Solving
    from heredity.engine.player import PLAYER
    from heredity.engine.programs import SandboxedPrograms
    from heredity.kinds.world.folders.folder import is_folder
    from heredity.kinds.world.kind import WorldRunner
    from heredity.models.gateway import Gateway
    from heredity.models.settings import GatewaySettings
    from heredity.sandbox.limits import Limits

    name, config, concurrent = asked
    async with contextlib.AsyncExitStack() as stack:
        programs = None
        if PLAYER in candidate.parts or any(map(is_folder, episodes.exam.worlds)):
            programs = await stack.enter_async_context(SandboxedPrograms(unsafe=unsafe))
        gateway = await stack.enter_async_context(Gateway(gateway_settings(config) if config else GatewaySettings()))
        runner = WorldRunner(
            gateway.model(name) if name else None,
            programs=programs,
            settings=Solving(seconds=_MANY_SECONDS),
            concurrent=concurrent,
        )
        await episodes.play_candidate(candidate, runner, Limits(episode_s=_MANY_SECONDS), done)


def _print_players(tables: Sequence[dict[str, Any]], *, published: bool) -> None:
    from heredity.analysis.worlds import PUBLISHED
    from heredity.cli.bars import columns

    groups = list(tables[0]["groups"])
    rows = [
        [t["player"], *(_percent(t["groups"][g]["mean"]) for g in groups), _plain(t["steps"]), _plain(t["cost_usd"])]
        for t in tables
    ]
    rows += [
        [f"{name} (published)", *(f"{figure:.2f}" for figure in figures[:-1]), f"{figures[-1]:.4g}", ""]
        for name, figures in (PUBLISHED.items() if published else ())
    ]
    typer.echo(columns(("player", *groups, "steps", "USD"), rows) + "\n")
    if published:
        typer.echo("published: by AutoEnv's authors (table 3), with their runner; not measured here\n")


def _print(table: dict[str, Any]) -> None:
    from heredity.cli.bars import columns

    typer.echo(f"{table['player']}, {table['skin']}: accuracy in % with 95% intervals\n")
    groups = [
        [name, str(g["worlds"]), _percent(g["mean"]), _interval(g["interval"])] for name, g in table["groups"].items()
    ]
    typer.echo(columns(("group", "worlds", "accuracy", "interval"), groups) + "\n")
    worlds = [
        [name, _percent(w["mean"]), _interval(w["interval"]), _plain(w["steps"]), _plain(w["cost_usd"])]
        for name, w in table["worlds"].items()
    ]
    typer.echo(columns(("world", "accuracy", "interval", "steps", "USD"), worlds) + "\n")
    spread = f"±{100 * table['std']:.2f}" if table["std"] is not None else "unknown"
    missing = f", {table['missing']} missing" if table["missing"] else ""
    typer.echo(
        f"std over {table['runs']} runs {spread}; {_plain(table['steps'])} steps an episode; {table['episodes']} episodes"
        f"{missing}; {_plain(table['cost_usd'])} USD"
    )
    if table["unread"]:
        typer.echo(f"{table['unread']} replies had no readable action")
    if table["failed"]:
        kinds = ", ".join(f"{count} {status}" for status, count in table["failed"].items())
        typer.echo(
            f"failed and scored at most 0: {kinds}; their messages are in episodes.jsonl and transcripts.jsonl with --out"
        )


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.2f}"


def _interval(value: list[float] | None) -> str:
    return "" if value is None else f"{100 * value[0]:.1f} to {100 * value[1]:.1f}"


def _plain(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4g}"
