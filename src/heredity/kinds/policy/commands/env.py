"""`heredity env`: list, check and film environments."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from heredity._core.errors import ConfigError, clean
from heredity.cli.bars import columns
from heredity.cli.interface import WholeHelp
from heredity.pages.report.fitted import FittedTable

app = typer.Typer(cls=WholeHelp, help="List and check environments, or film an episode.", no_args_is_help=True)

EnvironmentId = Annotated[
    str, typer.Argument(help="Registered id, any gymnasium id, or module:Id-v0.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


@app.command("list")
def list_environments(
    family: Annotated[str | None, typer.Option(help="Family to list, such as mujoco.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List the registered environments and their installation status.

    Example: heredity env list --family classic_control
    """
    from heredity.kinds.policy.environments import environment_specs, installed

    rows = [
        {
            "id": spec.id,
            "taskset": f"gymnasium/{spec.id}",
            "family": spec.family,
            "max_episode_steps": spec.max_episode_steps,
            "failure_return": spec.failure_return,
            "group": spec.group,
            "core16": spec.core16,
            "extra": spec.extra,
            "installed": installed(spec),
        }
        for spec in environment_specs(family)
    ]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    heads = ("id", "family", "steps", "group", "Core16", "installed")
    lines: list[tuple[str, ...]] = []
    for row in rows:
        here = "yes" if row["installed"] else f"pip install 'heredity[{row['extra']}]'"
        about = (str(row[key]) for key in ("id", "family", "max_episode_steps", "group"))
        lines.append((*about, "yes" if row["core16"] else "", here))
    typer.echo(columns(heads, lines, less=("group", "Core16")))


@app.command("check")
def check(
    env_id: EnvironmentId,
    steps: Annotated[int, typer.Option(min=1, help="Steps per rollout; more steps find rarer faults.")] = 200,
    *,
    as_json: AsJson = False,
) -> None:
    """Run the conformance suite on an environment; the exit code is 1 if a check fails.

    Example: heredity env check corridor.py:Corridor-v0
    """
    from heredity.kinds.policy.environments import environment_spec
    from heredity.kinds.policy.environments.conformance import check_spec

    findings = check_spec(environment_spec(env_id), steps=steps)
    passed = all(f.passed for f in findings)
    if as_json:
        typer.echo(json.dumps({"id": env_id, "passed": passed, "findings": [asdict(f) for f in findings]}, indent=2))
    else:
        results = {True: Text("passed", style="green"), False: Text("failed", style="red")}
        rows = [(f.name, results[f.passed], clean(f.detail)) for f in findings]
        Console().print(FittedTable.plain(("check", "result", "detail"), rows, left=3, caption=clean(env_id)))
    if not passed:
        raise typer.Exit(1)


@app.command("play")
def play(
    env_id: EnvironmentId,
    video: Annotated[Path, typer.Option(help="Output file: .mp4, .gif, or .png for numbered frames.")],
    seed: Annotated[int, typer.Option(min=0, help="Seed of the episode, and of random actions or the policy.")] = 0,
    steps: Annotated[int | None, typer.Option(min=1, help="Maximum number of steps.", show_default="the end")] = None,
    actions: Annotated[str, typer.Option(help="random, zero, or a file with one JSON action per line.")] = "random",
    policy: Annotated[
        Path | None, typer.Option(help="Folder of a policy program, or its policy.py; it runs in the sandbox.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Play one episode with random, zero or scripted actions, or with a policy, and write it as a video.

    Example: heredity env play CartPole-v1 --video cartpole.mp4
    """
    from heredity.kinds.policy.environments import environment_spec
    from heredity.kinds.policy.environments.video import check_suffix
    from heredity.kinds.policy.environments.video import play as play_episode

    # Check first: loading simulators takes a second.
    check_suffix(video)
    if policy is None:
        result = play_episode(environment_spec(env_id), video, seed=seed, steps=steps, actions=actions)
    elif actions != "random":
        raise ConfigError("--policy and --actions exclude each other; give one of them")
    else:
        from heredity.kinds.policy.commands.play import play_policy

        result = play_policy(env_id, policy, video, seed=seed, steps=steps)
    if as_json:
        typer.echo(json.dumps({"id": env_id, "seed": seed, **asdict(result)}, indent=2))
        return
    end = "terminated" if result.terminated else "truncated" if result.truncated else "stopped"
    typer.echo(
        f"{result.path}: {result.frames} frames, {result.steps} steps, return {result.total_reward:g}, {end}",
    )
