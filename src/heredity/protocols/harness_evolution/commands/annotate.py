"""`heredity annotate`: labels failures in the rollouts of a run, by rules or with a model as judge; never affects scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from heredity._core.errors import ConfigError
from heredity.cli.signals import InterruptedRunError, run_interruptibly

if TYPE_CHECKING:
    from heredity.protocols.harness_evolution.analysis.labels import Rules
    from heredity.protocols.harness_evolution.annotation import Annotated


def annotate(
    run: Path = typer.Argument(help="Folder of a run, or of a suite to annotate all its runs."),
    rules: Path | None = typer.Option(
        None, "--rules", help="TOML file of labels and patterns (default: built-in labels)."
    ),
    judge: str = typer.Option("", "--judge", help="Model that chooses the labels (default: patterns)."),
    view: list[str] = typer.Option(
        None, "--view", help="View to label: train, canary or a judged view; repeatable (default: all)."
    ),
    json_output: bool = typer.Option(False, "--json", help="Print only the counts to stdout, as JSON."),
) -> None:
    """Label the rollouts of a run, in training and judging, and count labels by snapshot.

    Example: heredity annotate runs/mine --judge openai/gpt-5-mini
    """
    from heredity.experiments.results import is_run, run_folders
    from heredity.protocols.harness_evolution.analysis.labels import read_rules

    folders = [run] if is_run(run) else run_folders(run)
    if not folders:
        raise ConfigError(f"{run} is neither a run nor a suite; pass a folder under runs/")
    try:
        annotated, usage = run_interruptibly(_all(folders, read_rules(rules), judge, tuple(view or ())))
    except InterruptedRunError as error:
        typer.echo("interrupted; labels are saved: run the same command again to continue", err=True)
        raise typer.Exit(error.code) from error
    if json_output:
        summaries = [{"run": entry.folder.name, "asked": entry.asked, "counts": entry.counts} for entry in annotated]
        typer.echo(json.dumps({"runs": summaries, "usage": usage}))
        return
    for entry in annotated:
        _show(entry)
    for account in usage:
        typer.echo(f"judge: {json.dumps(account)}", err=True)


async def _all(
    folders: list[Path], rules: Rules, judge: str, views: tuple[str, ...]
) -> tuple[list[Annotated], list[dict[str, Any]]]:
    from heredity.protocols.harness_evolution.annotation import annotate, by_rules, judge_of

    if not judge:
        by, label = by_rules(rules)
        return [await annotate(folder, by, label, views) for folder in folders], []
    annotated: list[Annotated] = []
    usage: list[dict[str, Any]] = []
    for folder in folders:
        async with judge_of(folder, judge, rules) as (by, label, gateway):
            annotated.append(await annotate(folder, by, label, views, gateway.settings.concurrent))
            usage += gateway.meter.to_json()
    return annotated, usage


def _show(annotated: Annotated) -> None:
    from rich.console import Console

    from heredity.pages.report.sections import count_tables
    from heredity.pages.report.terminal import table

    console = Console()
    console.print(f"{annotated.folder.name}: {len(annotated.rows)} rollouts, {annotated.asked} newly labelled")
    for counted in count_tables(annotated.counts):
        console.print(table(counted))
