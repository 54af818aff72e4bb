"""`heredity export`: runs in the formats of other tools."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from heredity._core.errors import clean
from heredity.cli import interface


def _formats(incomplete: str) -> list[str]:
    from heredity.experiments.exports.contract import EXPORTERS

    return interface.beginning(EXPORTERS.names(), incomplete)


def export(
    folder: Path = typer.Argument(help="Folder of a run or a suite."),
    to: str = typer.Option(
        ...,
        "--to",
        help="Format: inspect, eee, atif, mlflow, csv, parquet, or an installed one.",
        autocompletion=_formats,
    ),
    out: Path | None = typer.Option(None, "--out", help="Folder to write to, new or empty (FOLDER/exports/FORMAT)."),
    organisation: str | None = typer.Option(
        None, "--organisation", help="Who ran the evaluation (run.organisation); eee needs it."
    ),
    json_output: bool = typer.Option(False, "--json", help="Print the result as JSON and nothing else on stdout."),
) -> None:
    """Export a run or a suite: logs of Inspect, records of Every Eval Ever, ATIF trajectories, MLflow, CSV, Parquet.

    Example: heredity export runs/demo-20260101-120000 --to csv
    """
    from heredity.cli.bars import working
    from heredity.experiments.exports.export import export_runs

    with working("reading records and writing the export"):
        written_to, written = export_runs(folder, to, out, organisation)
    if json_output:
        made = {
            "to": to,
            "out": str(written_to),
            "counts": written.counts,
            "files": written.files,
            "notes": written.notes,
        }
        typer.echo(json.dumps(made, ensure_ascii=False))
        return
    counts = ", ".join(f"{count} {name}" for name, count in written.counts.items())
    typer.echo(f"{to}: {counts} in {written_to}")
    for note in written.notes:
        typer.echo(f"not exported: {clean(note)}", err=True)
