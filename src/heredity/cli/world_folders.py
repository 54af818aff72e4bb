"""World folders on the command line: shown, played, and audited. Their code runs in the sandbox alone."""

from __future__ import annotations

import asyncio
import json
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heredity.errors import ConfigError

if TYPE_CHECKING:
    from heredity.rollouts.world.folder_audit import Finding, FolderReport
    from heredity.worlds.folder import WorldFolder

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
    report = _audited(folder, seconds, unsafe)
    typer.echo(json.dumps(report.to_json(), indent=1) if as_json else _text(report))
    if report.faults:
        raise typer.Exit(1)


def verify(paths: Sequence[str], seconds: float, *, as_json: bool) -> None:
    """Audit folders one after the other; the exit code is 1 if any has faults.

    Raises:
        ConfigError: if one of them is no world folder.
    """
    from heredity.worlds.folder import is_folder

    if names := [path for path in paths if not is_folder(path)]:
        raise ConfigError(
            f"{', '.join(names)}: worlds and world folders are verified apart; leave out one or the other"
        )
    reports = [_audited(Path(path), seconds, False) for path in paths]
    if as_json:
        rows = [report.to_json() for report in reports]
        typer.echo(
            json.dumps({"folders": len(rows), "faulty": sum(bool(r.faults) for r in reports), "rows": rows}, indent=1)
        )
    else:
        typer.echo("\n\n".join(f"{report.folder}\n{_text(report)}" for report in reports))
    if any(report.faults for report in reports):
        raise typer.Exit(1)


def show(path: str, level: str | None, *, as_json: bool) -> None:
    """Show what a folder says, and what an agent sees first of a level, which is started in the sandbox.

    Raises:
        ConfigError: if it is no world folder.
        WorldProcessError: if its environment fails.
    """
    from heredity.worlds.folder import FOLDERS, TEST, VALIDATION

    folder, spec = _opened(path, level, None)
    first = asyncio.run(_seen_first(spec))
    if as_json:
        about = {
            "name": folder.name,
            "taskset": FOLDERS + path,
            "instruction": folder.instruction,
            "steps": folder.max_steps,
        }
        levels = {
            entry.path: folder.upper_bound(entry) for split in (TEST, VALIDATION) for entry in folder.levels(split)
        }
        more = {"actions": list(folder.actions), "bounds": levels, "level": spec["level"], "example": first}
        typer.echo(json.dumps({**about, **more}, indent=1, ensure_ascii=False))
        return
    counts = ", ".join(f"{len(folder.levels(split))} in {split}" for split in (TEST, VALIDATION))
    typer.echo(
        f"{folder.name} ({FOLDERS}{path}): at most {folder.max_steps} steps; levels: {counts}; bounds are declared\n"
    )
    typer.echo(f"{folder.instruction}\n\n{folder.action_text}\n\n--- {spec['level']}\n{first}")


def play(path: str, level: str | None, seed: int | None) -> None:
    """Play a level of a folder by hand, or one that its generator makes of a seed.

    Raises:
        ConfigError: if it is no world folder.
        WorldProcessError: if its environment fails.
    """
    folder, spec = _opened(path, level, seed)
    typer.echo(f"{folder.instruction}\n\n{folder.action_text}\n")
    asyncio.run(_played(folder, spec))


def _opened(path: str, level: str | None, seed: int | None) -> tuple[WorldFolder, dict[str, Any]]:
    from heredity.worlds.folder import TEST, WorldFolder

    folder = WorldFolder(path)
    folder.check()
    chosen = folder.levels(TEST)[0] if level is None else folder.level(level)
    where = {"folder": str(folder.path), "digest": folder.digest, "seed": seed or 0}
    return folder, {**where, "level": chosen.world_id if seed is None else None}


async def _seen_first(spec: Mapping[str, Any]) -> str:
    from heredity.rollouts.programs import SandboxedPrograms
    from heredity.rollouts.world.folder_process import folder_world_process
    from heredity.sandbox.limits import Limits

    async with SandboxedPrograms(1) as programs, folder_world_process(spec, programs, Limits()) as world:
        return world.sight.text


async def _played(folder: WorldFolder, spec: Mapping[str, Any]) -> None:
    from heredity.cli.worlds_play import HELP, parse_line, typed_lines
    from heredity.rollouts.programs import SandboxedPrograms
    from heredity.rollouts.world.folder_process import folder_world_process
    from heredity.sandbox.limits import Limits

    total = 0.0
    async with SandboxedPrograms(1) as programs, folder_world_process(spec, programs, Limits()) as world:
        typer.echo(world.sight.text)
        for line in typed_lines():
            try:
                action = folder.action_text if line in HELP else parse_line(line)
            except ValueError as error:
                action = f"{error}; nothing was done"
            if isinstance(action, str):
                typer.echo(action)
                continue
            step = await world.take(action)
            total += step.reward
            typer.echo(world.sight.text)
            if step.message:
                typer.echo(step.message)
            if step.reward:
                typer.echo(f"reward {step.reward:g}, in all {total:g}")
            if world.done:
                break
        state = "the end" if world.done else "left before the end"
        typer.echo(
            f"{state}, {world.sight.t} of {folder.max_steps} steps, reward {total:g}; the bounds of a folder are declared"
        )


def _audited(folder: Path, seconds: float, unsafe: bool) -> FolderReport:
    from heredity.cli.signals import run_interruptibly
    from heredity.rollouts.programs import SandboxedPrograms
    from heredity.rollouts.world.folder_audit import audit_folder

    async def run() -> FolderReport:
        async with SandboxedPrograms(2, unsafe=unsafe) as programs:
            return await audit_folder(folder, programs, seconds)

    return run_interruptibly(run())


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
