"""`heredity tasks`: tasksets listed, and what a task of one looks like."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from heredity.tasks import Task, TasksetInfo

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]

SAMPLE_ENTROPY = 0
"""What is shown is drawn from this, never from a suite's secret: it is not what a run is judged on."""


@app.command("list")
def list_tasksets(*, as_json: AsJson = False) -> None:
    """List the tasksets that say their names; files of questions and other environments can be named as well."""
    from heredity.tasks.registry import taskset_names

    names = taskset_names()
    typer.echo(json.dumps(names, indent=2) if as_json else "\n".join(names))


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A taskset, such as questions/gsm8k.", show_default=False)],
    split: Annotated[str, typer.Option("--split", help="train, validation or heldout.")] = "train",
    count: Annotated[int, typer.Option("--count", min=0, help="How many tasks.")] = 3,
    answers: Annotated[bool, typer.Option("--answers", help="With what is secret: answers, or seeds.")] = False,
    *,
    as_json: AsJson = False,
) -> None:
    """Show what a taskset is, and a sample of its tasks (not those of any run)."""
    from heredity.tasks.registry import taskset

    found = taskset(name)
    tasks = found.draw(split, count, SAMPLE_ENTROPY)
    rows = [_row(found.info, task, answers=answers) for task in tasks]
    if as_json:
        about = {"name": found.info.name, "version": found.info.version, "kind": found.info.kind}
        public = {**about, "group": found.info.group, "family": found.info.family, "public": dict(found.info.public)}
        typer.echo(json.dumps({**public, "tasks": rows}, indent=2, ensure_ascii=False))
        return
    typer.echo(f"{found.info.description.strip()}\n\nversion  {found.info.version}")
    for row in rows:
        typer.echo(f"\n--- {row['id']}")
        if "prompt" in row:
            typer.echo(row["prompt"])
        if answers:
            typer.echo(f"\nsecret  {json.dumps(row['secret'], ensure_ascii=False)}")


def _row(info: TasksetInfo, task: Task, *, answers: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"id": task.id}
    secret = dict(task.spec)
    if info.kind == "question":
        from heredity.tasks.questions import present

        shown = present(task.spec)
        row |= {"question": shown.text, "choices": list(shown.choices), "images": len(shown.images)}
        row |= {"instructions": shown.instructions, "prompt": shown.prompt}
        secret = {key: value for key, value in secret.items() if key in ("answer", "verifier", "metadata")}
    return {**row, "secret": secret} if answers else row
