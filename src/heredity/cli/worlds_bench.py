"""`heredity worlds bench`: how well a model or an agent does in worlds: AutoEnv's table 3."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heredity.errors import ConfigError

if TYPE_CHECKING:
    from heredity.experiments.world_episodes import Episodes
    from heredity.resources import Candidate

_MANY_SECONDS = 3600.0


def bench(
    model: Annotated[str | None, typer.Option("--model", help="A model, such as openai/gpt-5-mini.")] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", help="random, reference, search, or the folder of a player's candidate.")
    ] = None,
    worlds: Annotated[list[str] | None, typer.Option("--worlds", help="Worlds, by commas; repeat for more.")] = None,
    runs: Annotated[int, typer.Option("--runs", min=1, help="How often each level is played.")] = 3,
    levels: Annotated[int, typer.Option("--levels", min=1, max=10, help="Test levels of each world.")] = 10,
    skin: Annotated[str, typer.Option("--skin", help="text, inverse, picture or inverse-picture.")] = "text",
    concurrent: Annotated[int, typer.Option("--concurrent", min=1, help="Episodes of a model at once.")] = 8,
    config: Annotated[Path | None, typer.Option("--config", help="A TOML file whose [gateway] is used.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Keep episodes here; those known are not played again.")
    ] = None,
    unsafe: Annotated[bool, typer.Option("--unsafe", help="Run programs with the isolation that works here.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Play the test levels of worlds with a model or an agent, and tabulate accuracy, steps and cost."""
    from heredity.analysis.worlds import world_table
    from heredity.cli.bars import bar
    from heredity.cli.signals import run_interruptibly
    from heredity.experiments.world_episodes import Episodes, Exam, check_exam, groups_of
    from heredity.worlds.agents import AGENTS
    from heredity.worlds.world import sound_worlds

    if model is None and agent is None:
        raise ConfigError(
            "nobody is named to play; give --model NAME, --agent NAME, or both for a candidate with a model"
        )
    names = [name for given in worlds or () for name in given.split(",") if name]
    exam = Exam(tuple(dict.fromkeys(names)) or tuple(sound_worlds()[0]), runs, levels, skin)
    check_exam(exam)
    if agent in AGENTS:
        if model is not None:
            raise ConfigError(f"the agent {agent} asks no model; leave out --model")
        episodes = Episodes(agent, exam, out)
        with bar(agent, len(episodes.missing)) as done:
            episodes.play_agent(agent, done)
    else:
        candidate = _candidate(agent)
        episodes = Episodes(f"{candidate.digest[:16]} {model or ''}".strip(), exam, out)
        with bar(model or str(agent), len(episodes.missing)) as done:
            run_interruptibly(_play(episodes, candidate, (model, config, concurrent), unsafe, done))
    table = world_table(episodes.rows, groups_of(exam.worlds))
    table = {"player": " ".join(filter(None, (agent, model))), "skin": skin, "missing": len(episodes.missing), **table}
    typer.echo(json.dumps(table, indent=1)) if as_json else _print(table)


def _candidate(folder: str | None) -> Candidate:
    from heredity.actors.player import plain_player
    from heredity.errors import UnknownNameError
    from heredity.resources.assembly import candidate_from_folder
    from heredity.worlds.agents import AGENTS

    if folder is None:
        return plain_player()
    if not Path(folder).is_dir():
        raise UnknownNameError("agent, and no folder", folder, AGENTS)
    return candidate_from_folder(Path(folder))


async def _play(
    episodes: Episodes, candidate: Candidate, asked: tuple[str | None, Path | None, int], unsafe: bool, done: Any
) -> None:
    from heredity.actors.contract import Solving
    from heredity.actors.player import PLAYER
    from heredity.gateway.gateway import Gateway
    from heredity.rollouts.programs import SandboxedPrograms
    from heredity.rollouts.world.runner import WorldRunner
    from heredity.sandbox.limits import Limits

    name, config, concurrent = asked
    async with contextlib.AsyncExitStack() as stack:
        programs = None
        if PLAYER in candidate.parts:
            programs = await stack.enter_async_context(SandboxedPrograms(unsafe=unsafe))
        gateway = await stack.enter_async_context(Gateway(_settings(config)))
        runner = WorldRunner(
            gateway.model(name) if name else None,
            programs=programs,
            settings=Solving(seconds=_MANY_SECONDS),
            concurrent=concurrent,
        )
        await episodes.play_candidate(candidate, runner, Limits(episode_s=_MANY_SECONDS), done)


def _settings(path: Path | None) -> Any:
    from heredity.experiments.config import read_toml
    from heredity.gateway.settings import GatewaySettings

    if path is None:
        return GatewaySettings()
    return GatewaySettings.of(read_toml(path).get("gateway", {}), f"{path}: [gateway]")


def _print(table: dict[str, Any]) -> None:
    from heredity.cli.columns import columns

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
    if table["failed"]:
        kinds = ", ".join(f"{count} {status}" for status, count in table["failed"].items())
        typer.echo(f"failed, and scored at most 0: {kinds}; their messages are in episodes.jsonl with --out")


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.2f}"


def _interval(value: list[float] | None) -> str:
    return "" if value is None else f"{100 * value[0]:.1f} to {100 * value[1]:.1f}"


def _plain(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4g}"
