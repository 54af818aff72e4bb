"""`heredity tasks`: list tasksets, show sample tasks, and check task folders."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heredity.cli import interface
from heredity.cli.interface import WholeHelp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heredity.tasks import Task, Taskset, TasksetInfo

app = typer.Typer(cls=WholeHelp, no_args_is_help=True, rich_markup_mode=None)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]

_SAMPLE = 3
SAMPLE_ENTROPY = 0
"""Seed of the sample. Runs are judged on other tasks, drawn from a suite's secret."""


@app.command("list")
def list_tasksets(*, as_json: AsJson = False) -> None:
    """List the named tasksets; files of questions and other environments are also valid names.

    Example: heredity tasks list
    """
    from heredity.tasks.registry import taskset_names

    names = taskset_names()
    typer.echo(json.dumps(names, indent=2) if as_json else "\n".join(names))


@app.command()
def show(
    name: Annotated[
        str,
        typer.Argument(
            help="Name of a taskset, such as questions/gsm8k.", show_default=False, autocompletion=interface.tasksets
        ),
    ],
    split: Annotated[str, typer.Option("--split", help="Split: train, validation or heldout.")] = "train",
    count: Annotated[
        int | None,
        typer.Option("--count", min=0, max=100_000, help="Number of tasks.", show_default="3, or all of fewer"),
    ] = None,
    answers: Annotated[bool, typer.Option("--answers", help="Include secrets: answers, or seeds.")] = False,
    *,
    as_json: AsJson = False,
) -> None:
    """Show a taskset and a sample of its tasks, which no run uses.

    Example: heredity tasks show gymnasium/CartPole-v1 --split train --count 2
    """
    from heredity.tasks.registry import taskset

    chosen = taskset(name)
    tasks = _draw_tasks(chosen, split, count)
    rows = [_row(chosen.info, task, answers=answers) for task in tasks]
    if as_json:
        about = {"name": chosen.info.name, "version": chosen.info.version, "kind": chosen.info.kind}
        info = chosen.info
        public = {
            **about,
            "group": info.group,
            "family": info.family,
            "public": dict(info.public),
            "notes": [*info.notes],
        }
        typer.echo(json.dumps({**public, "tasks": rows}, indent=2, ensure_ascii=False))
        return
    typer.echo(f"{chosen.info.description.strip()}\n\nversion  {chosen.info.version}")
    for note in chosen.info.notes:
        typer.echo(f"note     {note}")
    for line in dict.fromkeys(str(chosen.info.public.get("instructions", "")).splitlines()):
        typer.echo(f"added to each question  {line}")
    if not rows and count is None:
        typer.echo(f"\nthe split {split} has no tasks; choose another with --split, or add questions")
    for row in rows:
        typer.echo(f"\n--- {row['id']}")
        if "prompt" in row:
            typer.echo(row["prompt"])
        if answers:
            typer.echo(f"\nsecret  {json.dumps(row['secret'], ensure_ascii=False)}")


def _draw_tasks(chosen: Taskset, split: str, count: int | None) -> Sequence[Task]:
    """Return `count` tasks of a split, or by default up to three."""
    from heredity._core.errors import ConfigError, UnknownNameError

    for most in () if count is not None else range(_SAMPLE, 0, -1):
        try:
            return chosen.draw(split, most, SAMPLE_ENTROPY)
        except UnknownNameError:
            raise
        except ConfigError:  # the split has fewer
            continue
    return chosen.draw(split, count or 0, SAMPLE_ENTROPY)


def _row(info: TasksetInfo, task: Task, *, answers: bool) -> dict[str, Any]:
    from heredity.engine.kind import KINDS

    row = {"id": task.id, **KINDS.load(info.kind).shown(task)}
    secret = {key: value for key, value in task.spec.items() if key not in row}
    return {**row, "secret": secret} if answers else row
