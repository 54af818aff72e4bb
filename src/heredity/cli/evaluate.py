"""`heredity evaluate`: snapshots of finished or interrupted runs of harness evolution, judged again, alone."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from heredity.cli.signals import InterruptedRunError, run_interruptibly

if TYPE_CHECKING:
    from heredity.protocols.harness_evolution.evaluation import Evaluated
    from heredity.protocols.harness_evolution.results import MatrixCell, MatrixRow
    from heredity.reports.fitted import Content, FittedTable


def evaluate(
    runs: list[Path] = typer.Argument(help="Folders of runs of harness evolution; a suite's stands for all its runs."),
    snapshot: list[str] = typer.Option(
        None, "--snapshot", help="A_0, A_T, best, E_4 or a digest; repeat for more (A_0, best, A_T)."
    ),
    view: list[str] = typer.Option(None, "--view", help="update_validation, id, ood, replay; repeat for more (all)."),
    model: list[str] = typer.Option(None, "--model", help="An execution model; repeat for more (the run's own)."),
    ood: list[str] = typer.Option(None, "--ood", help="A taskset out of distribution, instead of the run's; repeat."),
    repeats: int = typer.Option(1, "--repeats", min=1, help="How often everything is attempted, seeded anew."),
    settings: list[str] = typer.Option(
        None, "--set", metavar="KEY=VALUE", help="A key of gateway, solver, limits or engine; repeat for more."
    ),
    out: Path | None = typer.Option(None, "--out", help="The folder of the results; continued if it is there already."),
    json_output: bool = typer.Option(False, "--json", help="Print the result as JSON and nothing else on stdout."),
) -> None:
    """Judge snapshots of runs again, alone: nothing is trained, and the runs are not changed.

    Example: heredity evaluate runs/mine --snapshot best --view ood --repeats 3
    """
    from heredity.protocols.harness_evolution.evaluation import Wanted, evaluate

    lists = (snapshot, view, model, ood)
    wanted = Wanted(*(tuple(names or ()) for names in lists), repeats=repeats, settings=tuple(settings or ()))
    folder = out if out is not None else _new_folder(runs[0])
    try:
        evaluated = run_interruptibly(evaluate(folder, runs, wanted, _say))
    except InterruptedRunError as error:
        _say(f"interrupted; nothing is lost: ask for the same again with --out {folder}")
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

    from heredity.protocols.harness_evolution.results import harness_of
    from heredity.reports.fitted import FittedTable

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

    from heredity.reports.fitted import Content, FittedTable, Head, Line

    models = [cell.model for cell in rows[0].cells]
    heads = [Head("view"), Head("evolved under"), *(Head(f"under {model}", right=True) for model in models)]
    lines = [
        Line((Content(Text(row.view)), Content(Text(row.evolved)), *(_gain(cell) for cell in row.cells)))
        for row in rows
    ]
    return FittedTable(heads, lines, "Gains A_T − A_0 of harnesses under other models")


def _gain(cell: MatrixCell) -> Content:
    from rich.text import Text

    from heredity.reports.fitted import Content

    difference = Text("–" if cell.difference is None else f"{cell.difference:+.3f}")
    if cell.difference is None or cell.evolvers is None or cell.candidates is None:
        return Content(difference)
    ci = cell.candidates.ci
    bounds = "" if ci is None else f"[{ci[0]:+.2f}, {ci[1]:+.2f}]"
    verdicts = f"these harnesses: {cell.candidates.verdict}", f"the method: {cell.evolvers.verdict}"
    return Content(difference, bounds, verdicts)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
