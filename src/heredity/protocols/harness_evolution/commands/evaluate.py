"""`heredity evaluate`: judges snapshots of harness-evolution runs again, without training."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from heredity.cli.signals import InterruptedRunError, run_interruptibly

if TYPE_CHECKING:
    from heredity.pages.report.fitted import Content, FittedTable
    from heredity.protocols.harness_evolution.evaluation import Evaluated
    from heredity.protocols.harness_evolution.results import MatrixCell, MatrixRow


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
