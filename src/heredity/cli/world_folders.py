"""`heredity worlds audit`: what is wrong with a world folder."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from heredity.rollouts.world.folder_audit import Finding, FolderReport

_WIDTH = 400


def audit(
    folder: Annotated[Path, typer.Argument(help="A folder in the AutoEnv-36 format.", show_default=False)],
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.0, help="How long to search the levels for solutions and for reward.")
    ] = 20.0,
    unsafe: Annotated[bool, typer.Option("--unsafe", help="Run its code with the isolation that works here.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Find what is wrong with a world folder; the exit code is 1 if there are faults."""
    from heredity.cli.signals import run_interruptibly
    from heredity.rollouts.programs import SandboxedPrograms
    from heredity.rollouts.world.folder_audit import audit_folder

    async def run() -> FolderReport:
        async with SandboxedPrograms(2, unsafe=unsafe) as programs:
            return await audit_folder(folder, programs, seconds)

    report = run_interruptibly(run())
    typer.echo(json.dumps(report.to_json(), indent=1) if as_json else _text(report))
    if report.faults:
        raise typer.Exit(1)


def _text(report: FolderReport) -> str:
    from heredity.cli.columns import columns

    alike: dict[tuple[bool, str, str], list[Finding]] = {}
    for finding in report.findings:
        alike.setdefault((finding.fault, finding.kind, finding.text), []).append(finding)
    lines: list[str] = []
    for (fault, kind, text), (first, *others) in alike.items():
        lines.append(f"{'fault' if fault else 'note'} {kind}: {text}")
        if first.reproduction:
            lines.append("    " + textwrap.shorten(first.reproduction, _WIDTH, placeholder=" ... (--json has all)"))
        if others:
            lines.append(f"    likewise {', '.join(finding.level for finding in others)}")
    heads = ("level", "bound", "best", "share", "moments", "solvable")
    rows = [
        ["-" if value is None else f"{value:g}" if isinstance(value, float) else str(value) for value in row.values()]
        for row in (row.to_json() for row in report.levels)
    ]
    notes = len(report.findings) - report.faults
    end = f"{report.faults} faults, {notes} notes; {report.plays} plays in {report.seconds:.0f} s"
    return "\n".join([*lines, columns(heads, rows), end])
