"""`heredity log`: the user's logs, and what they have of a suite."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from heredity.experiments.transparency.writer import Writer

_EXAMPLE = """no log is configured; for a file in a git repository of yours, write to {file}:

[[log]]
kind = "git"
repository = "~/results\""""


def log(
    folder: Path | None = typer.Argument(None, help="Folder of a suite or a run, to write what logs lack of it."),
    json_output: bool = typer.Option(False, "--json", help="Print the result as JSON and nothing else on stdout."),
) -> None:
    """Show the logs of your settings; with a folder, write the starts and ends of its runs that a log lacks.

    Suites do this as they run. After a failure of a log, this command or `heredity resume` tries again. The exit code
    is 1 if a log still lacks anything.

    Example: heredity log runs/demo-20260101-120000
    """
    from heredity._core.errors import ConfigError
    from heredity.configuration.user import user_file
    from heredity.experiments.transparency.writer import Writer, open_logs

    logs, file = open_logs(), user_file()
    if folder is None:
        if json_output:
            typer.echo(json.dumps({"settings": file and str(file), "logs": [log.name for log in logs]}))
        else:
            typer.echo("\n".join(log.name for log in logs) or _EXAMPLE.format(file=file))
        return
    if not logs:
        raise ConfigError(_EXAMPLE.format(file=file))
    rows = _written(folder, Writer(logs))
    if json_output:
        typer.echo(json.dumps({"runs": rows}))
    else:
        _show(rows)
    if any(row["problems"] for row in rows):
        raise typer.Exit(1)


def _written(folder: Path, writer: Writer) -> list[dict[str, Any]]:
    from heredity._core.errors import ConfigError
    from heredity.experiments.results import METRICS, rebuild
    from heredity.experiments.transparency.statements import logs_of
    from heredity.records.journal import read_chain
    from heredity.records.lock import RunLock
    from heredity.records.run_folder import is_run, is_suite

    if not is_run(folder) and not is_suite(folder):
        raise ConfigError(f"{folder} holds neither a run nor a suite; give one, such as runs/demo-20260101-120000")
    runs = [folder] if is_run(folder) else sorted(path for path in (folder / "runs").iterdir() if is_run(path))
    lock = RunLock.acquire(folder / "lock")
    try:
        rows: list[dict[str, Any]] = []
        for run in runs:
            written = writer.write(run)
            held = [one.model_dump() for one in logs_of(run, read_chain(run / "journal.jsonl"))]
            rows.append({"run": run.name, "new": written.new, "logs": held, "problems": written.problems})
        if any(row["new"] for row in rows) and (folder / METRICS).exists():
            rebuild(folder)  # its pages say what is logged
    finally:
        lock.release()
    return rows


def _show(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console

    from heredity.pages.report.fitted import FittedTable

    marks = {True: "yes", False: "no"}
    lines = [
        [row["run"], one["log"], marks[one["start"]], marks[one["end"]], str(row["problems"].get(one["log"], ""))]
        for row in rows
        for one in row["logs"]
    ]
    named = {(row["run"], one["log"]) for row in rows for one in row["logs"]}
    lines += [
        [row["run"], log, "no", "no", why]
        for row in rows
        for log, why in row["problems"].items()
        if (row["run"], log) not in named
    ]
    Console().print(FittedTable.plain(("run", "log", "start", "end", "problem"), lines, left=5))
