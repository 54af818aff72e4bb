"""`heredity publish`: the folder that a stranger gets."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from heredity.experiments.publish import Published


def publish(
    folder: Path = typer.Argument(help="Folder of a suite or a run that has ended."),
    to: Path | None = typer.Option(None, "--to", help="New folder.", show_default="published/NAME"),
    allow: list[str] = typer.Option(
        None, "--allow", metavar="paths|names", help="Accept paths of this machine, or names of its user or host."
    ),
    other: list[str] = typer.Option(
        None, "--other", metavar="SUITE=REASON", help="Declare a start that is not in the folder; repeat for more."
    ),
    sample: int = typer.Option(20, "--sample", min=0, help="Rollouts of each run to play again; 0 for all."),
    json_output: bool = typer.Option(False, "--json", help="Print the result as JSON and nothing else on stdout."),
) -> None:
    """Make the folder that a stranger gets, check it as the stranger would, and print the command to verify it.

    Leaves out what belongs to this machine, searches the rest for keys, paths and names, completes your logs, and
    verifies a copy in a new process. Refuses with all reasons (exit code 1), and then leaves nothing behind.

    Example: heredity publish runs/demo-20260101-120000 --to results/demo
    """
    from heredity._core.errors import ConfigError
    from heredity.experiments.publish import RefusedPublicationError, Wanted
    from heredity.experiments.publish import publish as published

    declared = {name: why for name, _, why in (text.partition("=") for text in other or ())}
    if empty := [name for name, why in declared.items() if not name or not why]:
        raise ConfigError(f"--other {empty[0]}: expected SUITE=REASON, such as demo-2='the machine crashed'")
    wanted = Wanted(to, tuple(allow or ()), declared, sample or None)
    try:
        result = published(folder, wanted, lambda step: typer.echo(step, err=True))
    except RefusedPublicationError as error:
        if json_output:
            typer.echo(json.dumps({"refused": error.reasons}, ensure_ascii=False))
        typer.echo("\n".join(["heredity: not published:", *(f"- {reason}" for reason in error.reasons)]), err=True)
        raise typer.Exit(1) from error
    if json_output:
        checks = [check.model_dump(mode="json") for check in result.card.checks]
        commands = {"command": result.command, "with_logs": result.with_logs}
        fields = {"folder": str(result.folder), **commands, "published": result.manifest}
        typer.echo(json.dumps({**fields, "checks": checks}, ensure_ascii=False))
    else:
        _show(result)


def _show(result: Published) -> None:
    about = result.manifest
    typer.echo(f"published: {result.folder} ({about['files']} files, {about['bytes'] / 1e6:.1f} MB)")
    typer.echo(f"digest: {about['digest']}")
    for name, why in about["left_out"].items():
        typer.echo(f"left out: {name} ({why})")
    for kind, count in about["accepted"].items():
        typer.echo(f"accepted: {kind} in {count} files")
    if not about["logs"]:
        typer.echo("in no log: nobody can count how often it was started (heredity log)")
    counts = Counter(check.status.value for check in result.card.checks)
    typer.echo(f"checked: {', '.join(f'{count} {status}' for status, count in counts.items())}")
    for reason in dict.fromkeys(f"{c.name}: {c.reason}" for c in result.card.checks if c.status == "not checked"):
        typer.echo(f"not shown: {reason}")
    typer.echo(f"verify it with: {result.command}")
    if result.with_logs:
        typer.echo(f"with copies of your logs: {result.with_logs}")
