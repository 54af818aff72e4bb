"""`heredity tasks check`: check task folders."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heredity.cli.bars import columns

if TYPE_CHECKING:
    from heredity.kinds.container.check import CheckedTask

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def check(
    folder: Annotated[Path, typer.Argument(help="Task folder of the Harbor format, or a folder of them.")],
    backend: Annotated[
        str, typer.Option("--backend", help="Backend: bubblewrap, or docker (Docker or Podman).")
    ] = "bubblewrap",
    concurrent: Annotated[int, typer.Option("--concurrent", min=1, help="Maximum concurrent tasks.")] = 2,
    *,
    as_json: AsJson = False,
) -> None:
    """Check that task folders are well-formed, that their solutions pass, and that doing nothing does not.

    Example: heredity tasks check ./my-tasks --backend bubblewrap
    """
    from heredity.kinds.container.check import check_tasks
    from heredity.sandbox.containers.contract import open_backend

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


def _checked_row(task: CheckedTask) -> tuple[str, ...]:
    scores = ("-" if score is None else f"{score:g}" for score in (task.oracle, task.noop))
    return (task.name, "faulty" if task.faults else "sound", *scores, f"{task.seconds:.2f}")
