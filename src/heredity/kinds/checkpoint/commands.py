"""`heredity tasks audit`: check if a post-training task leaks held-out items."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from heredity.cli.bars import columns

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def audit(
    names: Annotated[
        list[str], typer.Argument(help="Post-training tasks, such as posttraining/arithmetic.", show_default=False)
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Check if the held-out items of a post-training task can be enumerated, or appear in the agent's materials.

    Example: heredity tasks audit posttraining/arithmetic
    """
    from heredity.kinds.checkpoint.tasks.overlap import Verdict, audit_task

    checks = [check for name in names for check in audit_task(name)]
    if as_json:
        typer.echo(json.dumps([asdict(check) for check in checks], indent=2, ensure_ascii=False))
    else:
        rows = [(check.task, check.name, check.verdict.value, check.reason) for check in checks]
        typer.echo(columns(("task", "check", "verdict", "evidence"), rows))
        typer.echo(
            "".join(f"\n{check.task}, {check.name}: {item}" for check in checks for item in check.items), nl=False
        )
    if any(check.verdict is Verdict.FOUND for check in checks):
        raise typer.Exit(1)
