"""`heredity evolve`: the quick start: your program, your scorer, and the best program found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from heredity._core.errors import ConfigError

if TYPE_CHECKING:
    from heredity.kinds.program.commands.evolving import Evolution

_WITH = typer.Option([], "--with", help="File or folder that the scorer reads; repeatable.")
_PYTHON = typer.Option(
    None, "--python", help="Interpreter whose packages program and scorer import, such as venv/bin/python."
)
_BASE_URL = typer.Option("", "--base-url", help="URL of an OpenAI-compatible endpoint.")
_MODEL = typer.Option(
    "",
    "--model",
    help="Model that writes edits, such as openai/gpt-5 (default: none).",
)
_QUIET = typer.Option(False, "--quiet", "-q", help="Print only the result, without progress.")
_FAILURE = typer.Option(None, "--failure-score", help="Score assigned to failed programs (default: ranked last).")
_SECONDS = "CPU seconds per evaluation; the limit in wall time is 4 times that, plus 20 s to start."
_STATEMENT = typer.Option(None, "--statement", help="Problem statement in Markdown, for models and agents.")


def evolve(
    program: str = typer.Argument(
        help="Start program; or a task: a folder with a task.toml, or one listed by `heredity evolve --tasks`.",
        default="",
    ),
    scorer: Path | None = typer.Option(
        None, "--scorer", help="Python file with evaluate(program_path), or verify(answer) for what solve() returns."
    ),
    beside: list[Path] = _WITH,
    python: Path | None = _PYTHON,
    method: str = typer.Option(
        "map-elites", "--method", help="Method, such as map-elites or parametric; not with --agent."
    ),
    model: str = _MODEL,
    base_url: str = _BASE_URL,
    agent: str | None = typer.Option(
        None, "--agent", help="Coding agent instead of a method: a name such as claude-code, a folder, or a command."
    ),
    evaluations: int = typer.Option(200, "--evaluations", min=1, max=1_000_000, help="Number of evaluations per seed."),
    seeds: int = typer.Option(
        1, "--seeds", min=1, max=10_000, help="Number of runs with the same budget; use 8 for a claim about the method."
    ),
    metric: str = typer.Option("", "--metric", help="Metric used as the score; combined_score, or the mean of all."),
    minimise: bool = typer.Option(False, "--minimise", help="Minimize the metric."),
    failure_score: float | None = _FAILURE,
    cascade: str = typer.Option("", "--cascade", help="Thresholds of evaluate_stage1 and so on, such as 0.5,0.75."),
    statement: Path | None = _STATEMENT,
    seconds: float = typer.Option(60.0, "--seconds", min=0.1, max=1e8, help=_SECONDS),
    memory_mib: int = typer.Option(2048, "--memory", min=64, max=1 << 30, help="Memory per evaluation, in MiB."),
    out: Path | None = typer.Option(None, "--out", help="Output folder; an existing one is resumed."),
    quiet: bool = _QUIET,
    tasks: bool = typer.Option(False, "--tasks", help="List the built-in tasks and exit."),
    json_output: bool = typer.Option(False, "--json", help="Print the result as JSON, and nothing else, on stdout."),
) -> None:
    """Evolve a program to improve its score; program and scorer run in the sandbox.

    Example: heredity evolve program.py --scorer evaluator.py --model openai/gpt-5 --evaluations 100
    """
    if tasks:
        _list(json_output)
        return
    if not program:
        raise ConfigError("name a program and its --scorer, or a task of `heredity evolve --tasks`")
    from heredity._api import blocking
    from heredity.cli.runs import explained
    from heredity.kinds.program.commands.evolving import Evolution, prepare

    with explained(json_output=json_output):
        evolution = blocking(prepare, Evolution)(
            program,
            scorer,
            files=beside,
            python=python,
            method=method,
            model=model,
            base_url=base_url,
            agent=agent,
            evaluations=evaluations,
            seeds=seeds,
            metric=metric,
            minimise=minimise,
            failure_score=failure_score,
            cascade=cascade,
            statement=statement,
            seconds=seconds,
            memory_mib=memory_mib,
            out=out,
            progress=not (json_output or quiet),
        )
    _conclude(evolution, json_output=json_output)


def _conclude(evolution: Evolution, *, json_output: bool) -> None:
    """Print the outcome of the runs, as the report does; without a program that has a score, nothing was done."""
    from heredity.cli.runs import say_problems
    from heredity.experiments.best import BEST
    from heredity.kinds.program.commands.evolving import outcome_line

    task, outcome, result = evolution.task, evolution.outcome, evolution.suite.result
    page, best = result.folder / "report.html", result.folder / BEST
    if json_output:
        import json

        keys = ("score", "interval", "seeds", "start", "verdict")
        figures = {key: getattr(outcome, key) for key in keys} if outcome else {"score": None}
        where = {"best": str(best), "run": outcome.run_id} if outcome else {"best": None}
        problems = {"failures": result.failures, "evolver_failures": result.evolver_failures}
        typer.echo(json.dumps({"folder": str(result.folder), "report": str(page), **where, **figures, **problems}))
    else:
        if outcome is None:
            typer.echo("no program has a held-out score; the report says why")
        else:
            record = task.declared.best_known
            typer.echo(f"best: {outcome_line(outcome)}{'' if record is None else f'; best known {record:.7g}'}")
            own = outcome.own if len(outcome.seeds) > 1 and not task.seeded else None
            typer.echo(f"program: {best / task.declared.program}{'' if own is None else f', {own:.7g}'}")
        typer.echo(f"report: {page}")
    say_problems(result)
    if outcome is None:
        raise typer.Exit(1)


def _list(json_output: bool) -> None:
    import json

    from heredity.cli.bars import columns
    from heredity.kinds.program.taskset import library_folder, read_program_task, task_folders

    tasks = [read_program_task(folder) for folder in task_folders(library_folder()).values()]
    if json_output:
        rows = [
            {
                "name": t.name,
                "title": t.declared.title,
                "best_known": t.declared.best_known,
                "minimise": t.declared.minimise,
            }
            for t in tasks
        ]
        typer.echo(json.dumps(rows))
        return
    best = {task.name: task.declared.best_known for task in tasks}
    shown = {name: "" if value is None else f" (best known {value:.7g})" for name, value in best.items()}
    rows = [(task.name, f"{task.declared.title}{shown[task.name]}") for task in tasks]
    typer.echo(columns(("task", "what is sought"), rows))
