"""`heredity tasks`: tasksets listed, what a task of one looks like, and whether task folders are sound."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heredity.cli import completion
from heredity.cli.columns import columns
from heredity.cli.whole_help import WholeHelp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heredity.rollouts.container.check import CheckedTask
    from heredity.tasks import Task, Taskset, TasksetInfo

app = typer.Typer(cls=WholeHelp, no_args_is_help=True, rich_markup_mode=None)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]

_SAMPLE = 3
SAMPLE_ENTROPY = 0
"""What is shown is drawn from this, never from a suite's secret: it is not what a run is judged on."""


@app.command("list")
def list_tasksets(*, as_json: AsJson = False) -> None:
    """List the tasksets that say their names; files of questions and other environments can be named as well.

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
            help="A taskset, such as questions/gsm8k.", show_default=False, autocompletion=completion.tasksets
        ),
    ],
    split: Annotated[str, typer.Option("--split", help="train, validation or heldout.")] = "train",
    count: Annotated[
        int | None,
        typer.Option("--count", min=0, max=100_000, help="How many tasks.", show_default="3, or all of fewer"),
    ] = None,
    answers: Annotated[bool, typer.Option("--answers", help="With what is secret: answers, or seeds.")] = False,
    *,
    as_json: AsJson = False,
) -> None:
    """Show what a taskset is, and a sample of its tasks (not those of any run).

    Example: heredity tasks show gymnasium/CartPole-v1 --split train --count 2
    """
    from heredity.tasks.registry import taskset

    chosen = taskset(name)
    tasks = _drawn(chosen, split, count)
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
        typer.echo(f"\nits split {split} has no tasks; see another by --split, or give it more questions")
    for row in rows:
        typer.echo(f"\n--- {row['id']}")
        if "prompt" in row:
            typer.echo(row["prompt"])
        if answers:
            typer.echo(f"\nsecret  {json.dumps(row['secret'], ensure_ascii=False)}")


def _drawn(chosen: Taskset, split: str, count: int | None) -> Sequence[Task]:
    """Return tasks of a split: as many as are asked for, or by default up to three."""
    from heredity.errors import ConfigError, UnknownNameError

    for most in () if count is not None else range(_SAMPLE, 0, -1):
        try:
            return chosen.draw(split, most, SAMPLE_ENTROPY)
        except UnknownNameError:
            raise
        except ConfigError:  # it has fewer
            continue
    return chosen.draw(split, count or 0, SAMPLE_ENTROPY)


@app.command()
def check(
    folder: Annotated[Path, typer.Argument(help="A task folder of the Harbor format, or a folder of them.")],
    backend: Annotated[str, typer.Option("--backend", help="bubblewrap, or docker (Docker or Podman).")] = "bubblewrap",
    concurrent: Annotated[int, typer.Option("--concurrent", min=1, help="Most tasks at the same time.")] = 2,
    *,
    as_json: AsJson = False,
) -> None:
    """Check that task folders are well-formed, that their solutions pass, and that doing nothing does not.

    Example: heredity tasks check ./my-tasks --backend bubblewrap
    """
    from heredity.rollouts.container.check import check_tasks
    from heredity.sandbox.containers.backends import open_backend

    async def checked() -> list[CheckedTask]:
        async with open_backend(backend) as opened:
            return await check_tasks(opened, folder, concurrent)

    tasks = asyncio.run(checked())
    faulty = sum(bool(task.faults) for task in tasks)
    if as_json:
        rows = [{**asdict(task), "folder": str(task.folder)} for task in tasks]
        typer.echo(json.dumps({"tasks": rows, "faulty": faulty}, indent=2, ensure_ascii=False))
    else:
        heads = ("task", "verdict", "solution", "nothing", "seconds")
        typer.echo(columns(heads, [_checked_row(task) for task in tasks]))
        for task in tasks:
            lines_said = [f"fault  {fault}" for fault in task.faults] + [f"note   {note}" for note in task.notes]
            lines_said += [f"warning  {warning}" for warning in task.warnings]
            typer.echo("".join(f"\n{task.name}: {line}" for line in lines_said), nl=bool(lines_said))
        typer.echo(f"\n{len(tasks) - faulty} of {len(tasks)} tasks are sound")
    if faulty:
        raise typer.Exit(1)


@app.command()
def audit(
    names: Annotated[
        list[str], typer.Argument(help="Post-training tasks, such as posttraining/arithmetic.", show_default=False)
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Look whether what a post-training task holds out can be listed, or stands in what it gives to an agent.

    Example: heredity tasks audit posttraining/arithmetic
    """
    from heredity.posttraining.tasks.audit import Verdict, audit_task

    checks = [check for name in names for check in audit_task(name)]
    if as_json:
        typer.echo(json.dumps([asdict(check) for check in checks], indent=2, ensure_ascii=False))
    else:
        rows = [(check.task, check.name, check.verdict.value, check.reason) for check in checks]
        typer.echo(columns(("task", "check", "verdict", "what was looked at"), rows))
        typer.echo(
            "".join(f"\n{check.task}, {check.name}: {item}" for check in checks for item in check.items), nl=False
        )
    if any(check.verdict is Verdict.FOUND for check in checks):
        raise typer.Exit(1)


def _checked_row(task: CheckedTask) -> tuple[str, ...]:
    scores = ("-" if score is None else f"{score:g}" for score in (task.oracle, task.noop))
    return (task.name, "faulty" if task.faults else "sound", *scores, f"{task.seconds:.2f}")


def _row(info: TasksetInfo, task: Task, *, answers: bool) -> dict[str, Any]:
    from heredity.rollouts.kind import KINDS

    row = {"id": task.id, **KINDS.load(info.kind).shown(task)}
    secret = {key: value for key, value in task.spec.items() if key not in row}
    return {**row, "secret": secret} if answers else row
