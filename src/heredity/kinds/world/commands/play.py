"""`heredity worlds play`, and the commands for world folders, whose code runs only in the sandbox."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heredity._core.errors import ConfigError
from heredity._core.outside import json_value
from heredity.cli.bars import activity

if TYPE_CHECKING:
    from heredity.kinds.world.description import ActionDescription, Description
    from heredity.kinds.world.episode import Episode
    from heredity.kinds.world.folders.folder import WorldFolder
    from heredity.kinds.world.gates.admit import Admission
    from heredity.kinds.world.pictures import Picture

_WIDTH = 400
Row = dict[str, Any]
"""An audit report as JSON values."""


def audit(
    folders: Annotated[
        list[Path],
        typer.Argument(
            help="Folders in the AutoEnv-36 format, or a folder that contains such folders.", show_default=False
        ),
    ],
    level: Annotated[
        list[str] | None,
        typer.Option("--level", help="Restrict the audit to this level, such as level_03; repeat for more."),
    ] = None,
    steps: Annotated[
        int | None, typer.Option("--steps", min=0, help="Search budget per level, in steps (default 5000).")
    ] = None,
    processes: Annotated[int | None, typer.Option("--processes", min=1, show_default="one per core")] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write the report of each folder here, as JSON; recorded audits are not repeated."),
    ] = None,
    unsafe: Annotated[
        bool, typer.Option("--unsafe", help="Run its code with the isolation available on this machine.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Find faults of world folders and correct their bounds.

    The exit code is 1 if there are faults, or a folder could not be judged.

    Example: heredity worlds audit ./my-worlds --out audited
    """
    _print(_audited(folders_in(folders), (steps, level or (), processes), unsafe, out), as_json=as_json)


def verify(paths: Sequence[str], *, as_json: bool, processes: int | None = None) -> None:
    """Audit folders; the exit code is 1 if any has faults.

    Raises:
        ConfigError: if a path is not a world folder.
    """
    from heredity.kinds.world.folders.folder import is_folder

    if names := [path for path in paths if not is_folder(path)]:
        raise ConfigError(
            f"{', '.join(names)}: worlds and world folders cannot be verified together; give only one kind"
        )
    _print(_audited([Path(path) for path in paths], (None, (), processes), False, None), as_json=as_json, many=True)


def _print(rows: Sequence[Row], *, as_json: bool, many: bool = False) -> None:
    faulty = sum(bool(row["faults"]) for row in rows)
    unjudged = sum(bool(row["unjudged"]) for row in rows)
    if as_json:
        listed = {"folders": len(rows), "faulty": faulty, "unjudged": unjudged, "rows": rows}
        typer.echo(json.dumps(listed if many or len(rows) > 1 else rows[0], indent=1))
    elif len(rows) == 1:
        typer.echo(_text(rows[0]))
    else:
        typer.echo("\n\n".join(f"{row['folder']}\n{_text(row)}" for row in rows))
        typer.echo(f"\n{len(rows)} folders, {faulty} with faults" + (f", {unjudged} not judged" if unjudged else ""))
    if faulty or unjudged:
        raise typer.Exit(1)


def folders_in(given: Sequence[Path]) -> list[Path]:
    """Return folders; a folder that is not a world folder is replaced by those in it, ordered by their leading numbers."""
    folders: list[Path] = []
    for path in given:
        inside = [] if (path / "env_main.py").exists() or not path.is_dir() else path.iterdir()
        within = [inner for inner in inside if (inner / "env_main.py").is_file()]
        folders += sorted(within, key=_number) or [path]
    return folders


def _number(folder: Path) -> tuple[int, str]:
    number = re.match(r"\d+", folder.name)
    return int(number[0]) if number else 0, folder.name


def show(path: str, level: str | None, *, as_json: bool) -> None:
    """Show a folder's description and the first observation of a level, started in the sandbox.

    Raises:
        ConfigError: if the path is not a world folder.
        WorldProcessError: if its environment fails.
    """
    from heredity.kinds.world.folders.folder import FOLDERS, TEST, VALIDATION

    folder, spec = _opened(path, level, None)
    first = asyncio.run(_first_observation(spec))
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


def play_folder(path: str, level: str | None, seed: int | None) -> None:
    """Play a level of a folder by hand, or one that its generator makes from a seed.

    Raises:
        ConfigError: if the path is not a world folder.
        WorldProcessError: if its environment fails.
    """
    folder, spec = _opened(path, level, seed)
    typer.echo(f"{folder.instruction}\n\n{folder.action_text}\n")
    asyncio.run(_played(folder, spec))


def admission(folder: Path, seed: int) -> Admission:
    """Run the gates that apply to a folder."""
    from heredity.cli.bars import bar
    from heredity.cli.signals import run_interruptibly
    from heredity.engine.programs import SandboxedPrograms
    from heredity.kinds.world.folders.audit import admit_folder
    from heredity.kinds.world.folders.folder import TEST, VALIDATION, WorldFolder

    opened = WorldFolder(folder)

    async def run(notify: Callable[[], None]) -> Admission:
        workers = len(os.sched_getaffinity(0))
        async with SandboxedPrograms(2 * workers) as programs:
            return await admit_folder(folder, programs, seed, gate=asyncio.Semaphore(workers), notify=notify)

    with bar("levels", sum(len(opened.levels(split)) for split in (TEST, VALIDATION))) as advance:
        return run_interruptibly(run(advance))


def _opened(path: str, level: str | None, seed: int | None) -> tuple[WorldFolder, dict[str, Any]]:
    from heredity.kinds.world.folders.folder import TEST, WorldFolder

    folder = WorldFolder(path)
    folder.check()
    chosen = folder.levels(TEST)[0] if level is None else folder.level(level)
    where = {"folder": str(folder.path), "digest": folder.digest, "seed": seed or 0}
    return folder, {**where, "level": chosen.world_id if seed is None else None}


async def _first_observation(spec: Mapping[str, Any]) -> str:
    from heredity.engine.programs import SandboxedPrograms
    from heredity.kinds.world.process import folder_world_process
    from heredity.sandbox.limits import Limits

    async with SandboxedPrograms(1) as programs, folder_world_process(spec, programs, Limits()) as world:
        return world.sight.text


async def _played(folder: WorldFolder, spec: Mapping[str, Any]) -> None:
    from heredity.engine.programs import SandboxedPrograms
    from heredity.kinds.world.process import folder_world_process
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
                typer.echo(f"reward {step.reward:g}, total {total:g}")
            if world.done:
                break
        state = "the end" if world.done else "left before the end"
        typer.echo(
            f"{state}, {world.sight.t} of {folder.max_steps} steps, reward {total:g}; the bounds of a folder are declared"
        )


def _audited(
    folders: Sequence[Path], asked: tuple[int | None, Sequence[str], int | None], unsafe: bool, out: Path | None
) -> list[Row]:
    from heredity.cli.bars import bar
    from heredity.cli.signals import run_interruptibly
    from heredity.engine.programs import SandboxedPrograms
    from heredity.kinds.world.folders.audit import STEPS, audit_folder
    from heredity.kinds.world.folders.findings import digest_of, keep, read_report
    from heredity.kinds.world.folders.folder import TEST, VALIDATION, WorldFolder

    steps, named, processes = STEPS if asked[0] is None else asked[0], *asked[1:]
    opened = [WorldFolder(folder) for folder in folders]
    digests = [digest_of(folder, steps, named) for folder in opened]
    rows = [None if out is None else read_report(out, *folder) for folder in zip(opened, digests, strict=True)]
    missing = [index for index, row in enumerate(rows) if row is None]
    levels = sum(len(named) or sum(len(opened[i].levels(split)) for split in (TEST, VALIDATION)) for i in missing)
    workers = processes or len(os.sched_getaffinity(0))

    async def run(notify: Callable[[], None]) -> list[Row]:
        searches, audits = asyncio.Semaphore(workers), asyncio.Semaphore(workers)

        async def audit_one(index: int, programs: SandboxedPrograms) -> None:
            async with audits:
                report = await audit_folder(folders[index], programs, steps, levels=named, gate=searches, notify=notify)
            rows[index] = report.to_json() if out is None else keep(out, report, digests[index])

        async with SandboxedPrograms(2 * workers, unsafe=unsafe) as programs:
            await asyncio.gather(*(audit_one(index, programs) for index in missing))
        return [row for row in rows if row is not None]

    with bar("levels", levels) as advance:
        return run_interruptibly(run(advance))


def _text(report: Row) -> str:
    from heredity.cli.bars import columns
    from heredity.kinds.world.folders.findings import Finding

    lines: list[str] = []
    findings = [Finding(**finding) for finding in report["findings"]]
    for finding in findings:
        lines.append(f"{'fault' if finding.fault else 'note'} {finding.kind}: {finding.text}")
        if finding.reproduction:
            lines.append("    " + textwrap.shorten(finding.reproduction, _WIDTH, placeholder=" ... (--json has all)"))
        if len(finding.levels) > 1:
            lines.append(f"    on {len(finding.levels)} levels: {', '.join(finding.levels)}")
        if finding.others:
            others = textwrap.shorten("; ".join(finding.others), _WIDTH, placeholder=" ... (--json has all)")
            lines.append(f"    and {len(finding.others)} more: {others}")
    heads = ("level", "bound", "best", "share", "abused", "moments", "corrected", "basis", "solvable")
    rows = [
        ["-" if value is None else f"{value:g}" if isinstance(value, float) else str(value) for value in row.values()]
        for row in report["levels"]
    ]
    notes = len(findings) - report["faults"]
    done = f"{report['plays']} plays and {report['steps']} steps of searches in {report['seconds']:.0f} s"
    if report["unjudged"]:
        lines.append(f"incomplete: {report['unjudged']}")
    end = f"{report['faults']} faults, {notes} notes; {done}"
    return "\n".join([*lines, columns(heads, rows), end])


_LEAVE = ("quit", "exit")
HELP = ("help", "?")


def play(
    name: Annotated[
        str, typer.Argument(help="A world, such as grid_treasure, or a world folder's path.", show_default=False)
    ],
    level: Annotated[str | None, typer.Option("--level", help="A shipped level (default test-01).")] = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Generate a level from this seed instead.")] = None,
    difficulty: Annotated[
        int, typer.Option("--difficulty", min=1, max=3, help="Difficulty of the generated level.")
    ] = 1,
    skin: Annotated[str, typer.Option("--skin", help="text, inverse, picture or inverse-picture.")] = "text",
) -> None:
    """Play a world by hand: `move direction=north` or JSON; `help` lists the actions, `quit` or Ctrl-D ends.

    Example: heredity worlds play grid_treasure --skin inverse
    """
    from heredity.kinds.world.episode import actions_text
    from heredity.kinds.world.folders.folder import is_folder
    from heredity.kinds.world.taskset import WorldTaskset
    from heredity.kinds.world.world import world

    if level is not None and seed is not None:
        raise ConfigError("--level and --seed exclude each other; give one of them")
    if is_folder(name):
        play_folder(name, level, seed)
        return
    WorldTaskset(name, skin)
    made = world(name)
    chosen = made.level(level or "test-01") if seed is None else made.make(seed, difficulty)
    described = made.description
    typer.echo(f"{described.instruction.strip()}\n\n{actions_text(described)}\n")
    episode = made.start(chosen.data)
    _show(described, skin, episode)
    try:
        for line in typed_lines():
            _turn(described, skin, episode, line)
            if episode.done:
                break
    except KeyboardInterrupt:
        typer.echo()
    state = "the end" if episode.done else "left before the end"
    share = episode.total / chosen.upper_bound.value
    typer.echo(
        f"{chosen.id}: {state}, {episode.t} of {episode.steps} steps, reward {episode.total:g} of at most"
        f" {chosen.upper_bound.value:g} ({chosen.upper_bound.kind} bound): {share:.1%}"
    )


def _turn(described: Description, skin: str, episode: Episode, line: str) -> None:
    if line in HELP:
        from heredity.kinds.world.episode import actions_text

        typer.echo(actions_text(described))
        return
    try:
        action = parse_line(line, described.actions)
    except ValueError as error:
        typer.echo(f"{error}; nothing was done")
        return
    step = episode.step(action)
    shown = _show(described, skin, episode)
    if step.message not in shown:
        typer.echo(step.message)
    if step.reward:
        typer.echo(f"reward {step.reward:g}, in all {episode.total:g}")


def parse_line(line: str, actions: dict[str, ActionDescription] | None = None) -> dict[str, Any]:
    """Parse an action as typed: `move direction=north`, or JSON.

    The name of a single parameter may be omitted. The world checks the values. Without `actions`, anything that looks
    like a number is one.

    Raises:
        ValueError: if it cannot be parsed; the message gives the expected form.
    """
    if line.startswith("{"):
        try:
            value: Any = json_value(line)
        except ValueError as error:
            raise ValueError(f"invalid JSON: {error}") from error
        return value
    name, *words = shlex.split(line)
    kinds = actions[name].params if actions is not None and name in actions else {}
    params: dict[str, Any] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals:
            if len(kinds) != 1 or len(words) != 1:
                raise ValueError(f"{word!r} is not a parameter; write key=value")
            key, text = next(iter(kinds)), word
        number = actions is None or (key in kinds and kinds[key].type in ("integer", "number"))
        params[key] = _action_number(text) if number else text
    return {"action": name, "params": params}


def _action_number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def typed_lines() -> Iterator[str]:
    """Yield typed lines, without empty ones, until the input ends; lines from a pipe are echoed."""
    watched = sys.stdin.isatty()
    if watched:
        import readline  # noqa: F401  # pyright: ignore[reportUnusedImport] - gives input() its history and keys
    while True:
        try:
            with activity():
                line = (input("> ") if watched else input()).strip()
        except EOFError:
            return
        if not watched:
            typer.echo(f"> {line}")
        if line in _LEAVE:
            return
        if line:
            yield line


def _show(described: Description, skin: str, episode: Episode) -> str:
    """Show the current observation, and return its text."""
    from heredity.kinds.world.skins import look

    seen = look(described.skin, skin, episode.observe())
    shown = seen.rstrip("\n") if isinstance(seen, str) else _blocks(seen)
    typer.echo(shown)
    return shown


def _blocks(picture: Picture) -> str:
    """Return a picture as coloured half blocks, two pixels per character, at half its size."""
    half = picture[::2, ::2]
    lines: list[str] = []
    for top, bottom in zip(half[::2], half[1::2], strict=True):
        cells = (
            f"\x1b[38;2;{a[0]};{a[1]};{a[2]}m\x1b[48;2;{b[0]};{b[1]};{b[2]}m▀" for a, b in zip(top, bottom, strict=True)
        )
        lines.append("".join(cells) + "\x1b[0m")
    return "\n".join(lines)
