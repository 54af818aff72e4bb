"""`heredity run | resume | report | compare`: experiments from the command line."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from heredity.experiments.config import Config
    from heredity.experiments.suite import SuiteResult

_JSON = typer.Option(False, "--json", help="Print the result as JSON and nothing else on stdout.")
_UNSAFE = typer.Option(False, "--unsafe", help="Run with the isolation that works here, rather than refuse.")


def run(
    file: Path = typer.Argument(help="Configuration (TOML): one run, or a suite with a matrix."),
    overrides: list[str] = typer.Argument(None, metavar="[KEY=VALUE]...", help="Such as budget.episodes=64."),
    agent: str = typer.Option("", "--agent", help="Run this command as the coding agent (instead of the matrix)."),
    folder: Path = typer.Option(Path("runs"), "--folder", help="Where suites are kept."),
    out: Path | None = typer.Option(None, "--out", help="This suite's own folder; continued if it is there already."),
    json_output: bool = _JSON,
    unsafe: bool = _UNSAFE,
) -> None:
    """Run an experiment: a run, or a suite of runs, with progress, leaderboard and report."""
    from heredity.experiments.config import load
    from heredity.experiments.suite import new_suite_folder, open_suite

    changes = list(overrides or ())
    if agent:
        changes += [f"evolver.agent={json.dumps(agent)}", "matrix={}"]
    if unsafe:
        changes.append("engine.unsafe=true")
    config = load(file, changes)
    suite = out if out is not None else new_suite_folder(folder, config)
    _execute(suite, open_suite(suite, config), json_output=json_output)


def resume(
    suite: Path = typer.Argument(help="The suite's folder, such as runs/demo-20260101-120000."),
    json_output: bool = _JSON,
) -> None:
    """Continue an interrupted suite: nothing is run or charged twice."""
    from heredity.experiments.suite import open_suite

    _execute(suite, open_suite(suite), json_output=json_output)


def report(folder: Path = typer.Argument(help="A suite's or a run's folder."), json_output: bool = _JSON) -> None:
    """Rebuild metrics.json, report.md and report.html from the records."""
    from heredity.experiments.results import rebuild

    metrics = rebuild(folder)
    if json_output:
        typer.echo(json.dumps(metrics, indent=1))
    else:
        _show(metrics)
        typer.echo(f"report: {folder / 'report.html'}")


def compare(
    folders: list[Path] = typer.Argument(help="Two or more suites or runs with the same sealed cases."),
    out: Path | None = typer.Option(None, "--out", help="Write the comparison's report into this folder."),
    json_output: bool = _JSON,
) -> None:
    """Compare runs of several suites as one; only runs judged on the same hidden cases are paired."""
    from heredity.analysis.suite_metrics import suite_metrics
    from heredity.experiments.results import gather
    from heredity.reports import write_reports

    runs = gather(folders)
    metrics = suite_metrics(runs)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        write_reports(out, metrics, runs)
    if json_output:
        typer.echo(json.dumps(metrics, indent=1))
    else:
        _show(metrics)


def _execute(suite: Path, config: Config, *, json_output: bool) -> None:
    from heredity.cli.live import Lines, Live
    from heredity.experiments.progress import RunProgress, Silent
    from heredity.experiments.suite import run_suite

    runs: list[RunProgress] = []
    watcher = Silent() if json_output else Live(runs, suite) if Live.suits() else Lines(runs)
    try:
        with watcher:
            result = asyncio.run(run_suite(suite, config, watcher, runs))
    except KeyboardInterrupt:
        typer.echo(f"interrupted; nothing is lost: heredity resume {suite}", err=True)
        raise typer.Exit(130) from None
    _conclude(result, json_output=json_output)


def _conclude(result: SuiteResult, *, json_output: bool) -> None:
    page = result.folder / "report.html"
    if json_output:
        typer.echo(
            json.dumps(
                {"folder": str(result.folder), "report": str(page), "failures": result.failures, **result.metrics}
            )
        )
    else:
        _show(result.metrics)
        typer.echo(f"report: {page}")
    for name, reason in result.failures.items():
        typer.echo(f"{name} did not end: {reason}", err=True)
    if result.failures:
        typer.echo(f"continue with: heredity resume {result.folder}", err=True)
        raise typer.Exit(1)


def _show(metrics: dict[str, Any]) -> None:
    from rich.console import Console

    from heredity.reports.tables import render

    Console().print(render(metrics))
