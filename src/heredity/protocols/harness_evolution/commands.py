"""`heredity evaluate`: judges snapshots of harness-evolution runs again, without training."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from heredity._core.errors import ConfigError
from heredity.cli.signals import InterruptedRunError, run_interruptibly

if TYPE_CHECKING:
    from heredity.pages.report.fitted import Content, FittedTable
    from heredity.protocols.harness_evolution.annotation import Annotated, Rules
    from heredity.protocols.harness_evolution.evaluation import Evaluated
    from heredity.protocols.harness_evolution.results import MatrixCell, MatrixRow


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
    from heredity.protocols.harness_evolution.annotation import read_rules

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
        _annotate_show(entry)
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


def _annotate_show(annotated: Annotated) -> None:
    from rich.console import Console

    from heredity.pages.report.sections import count_tables
    from heredity.pages.report.terminal import table

    console = Console()
    console.print(f"{annotated.folder.name}: {len(annotated.rows)} rollouts, {annotated.asked} newly labelled")
    for counted in count_tables(annotated.counts):
        console.print(table(counted))


def evaluate(
    runs: list[Path] = typer.Argument(
        help="Folders of harness-evolution runs, or of suites to evaluate all their runs."
    ),
    snapshot: list[str] = typer.Option(
        None, "--snapshot", help="Snapshot: A_0, A_T, best, E_4 or a digest; repeatable (default: A_0, best, A_T)."
    ),
    view: list[str] = typer.Option(
        None, "--view", help="View: update_validation, id, ood or replay; repeatable (default: all)."
    ),
    model: list[str] = typer.Option(None, "--model", help="Execution model; repeatable (default: the run's)."),
    ood: list[str] = typer.Option(None, "--ood", help="Out-of-distribution taskset; repeatable (default: the run's)."),
    repeats: int = typer.Option(1, "--repeats", min=1, help="Number of repeats, each with a new seed."),
    settings: list[str] = typer.Option(
        None, "--set", metavar="KEY=VALUE", help="Override of a gateway, solver, limits or engine key; repeatable."
    ),
    out: Path | None = typer.Option(None, "--out", help="Output folder; an existing one is resumed."),
    json_output: bool = typer.Option(False, "--json", help="Print only the result to stdout, as JSON."),
) -> None:
    """Judge snapshots of runs again, without training; the runs are not changed.

    Example: heredity evaluate runs/mine --snapshot best --view ood --repeats 3
    """
    from heredity.protocols.harness_evolution.evaluation import Wanted, evaluate

    lists = (snapshot, view, model, ood)
    wanted = Wanted(*(tuple(names or ()) for names in lists), repeats=repeats, settings=tuple(settings or ()))
    folder = out if out is not None else _new_folder(runs[0])
    try:
        evaluated = run_interruptibly(evaluate(folder, runs, wanted, _say))
    except InterruptedRunError as error:
        _say(f"interrupted; results are saved: run the same command again with --out {folder}")
        raise typer.Exit(error.code) from error
    for note in evaluated.notes:
        _say(note)
    if json_output:
        summary = {"folder": str(folder), "report": str(folder / "report.html"), "notes": evaluated.notes}
        runs_json = [run.model_dump(mode="json") for run in evaluated.runs]
        matrix = [row.model_dump(mode="json") for row in evaluated.matrix]
        typer.echo(json.dumps({**summary, "runs": runs_json, "cross_model": matrix}))
    else:
        _show(evaluated)
        typer.echo(f"report: {folder / 'report.html'}")


def _new_folder(source: Path) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    return Path("runs") / f"{source.resolve().name}-evaluated-{stamp}"


def _say(line: str) -> None:
    typer.echo(" ".join(line.splitlines()), err=True)


def _show(evaluated: Evaluated) -> None:
    from rich.console import Console

    from heredity.pages.report.fitted import FittedTable
    from heredity.protocols.harness_evolution.results import harness_of

    console = Console()
    for run in evaluated.runs:
        harness = harness_of(run)
        if harness is None:
            continue
        rows: list[list[str]] = []
        for snapshot in harness.snapshots:
            levels = [view.snapshots.get(snapshot.name) for view in harness.views.values()]
            rows.append([snapshot.name, *(_number(level and level.perf.micro) for level in levels)])
        heads, caption = ("snapshot", *harness.views), f"{run.run_id}, mean scores"
        console.print(FittedTable.plain(heads, rows, caption=caption))
    if len({cell.model for row in evaluated.matrix for cell in row.cells}) > 1:
        console.print(_matrix(evaluated.matrix))


def _matrix(rows: Sequence[MatrixRow]) -> FittedTable:
    from rich.text import Text

    from heredity.pages.report.fitted import Content, FittedTable, Head, Line

    models = [cell.model for cell in rows[0].cells]
    heads = [Head("view"), Head("evolved under"), *(Head(f"under {model}", right=True) for model in models)]
    lines = [
        Line((Content(Text(row.view)), Content(Text(row.evolved)), *(_gain(cell) for cell in row.cells)))
        for row in rows
    ]
    return FittedTable(heads, lines, "Gains A_T − A_0 of harnesses under other models")


def _gain(cell: MatrixCell) -> Content:
    from rich.text import Text

    from heredity.pages.report.fitted import Content

    difference = Text("–" if cell.difference is None else f"{cell.difference:+.3f}")
    if cell.difference is None or cell.evolvers is None or cell.candidates is None:
        return Content(difference)
    ci = cell.candidates.ci
    bounds = "" if ci is None else f"[{ci[0]:+.2f}, {ci[1]:+.2f}]"
    verdicts = f"these harnesses: {cell.candidates.verdict}", f"the method: {cell.evolvers.verdict}"
    return Content(difference, bounds, verdicts)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
