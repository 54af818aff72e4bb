"""`heredity worlds`: worlds listed, shown, played, verified, and agents compared in them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heredity.cli import (
    world_folders,
    worlds_admit,
    worlds_bench,
    worlds_compose,
    worlds_curate,
    worlds_examples,
    worlds_export,
    worlds_generate,
    worlds_play,
)
from heredity.cli.whole_help import WholeHelp
from heredity.errors import ConfigError

if TYPE_CHECKING:
    from heredity.worlds.verify import LevelReport
    from heredity.worlds.world import Level, World

FIRST = "test-01"
"""The level that is meant where none is named."""

app = typer.Typer(cls=WholeHelp, no_args_is_help=True, rich_markup_mode=None)
app.command("play")(worlds_play.play)
app.command("bench")(worlds_bench.bench)
app.command("compose")(worlds_compose.compose)
app.command("generate")(worlds_generate.generate)
app.command("audit")(world_folders.audit)
app.command("admit")(worlds_admit.admit)
app.command("export")(worlds_export.export)
app.command("curate")(worlds_curate.curate)
app.command("examples")(worlds_examples.examples)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Name = Annotated[str, typer.Argument(help="A world, such as grid_treasure.", show_default=False)]
Place = Annotated[
    str, typer.Argument(help="A world, such as grid_treasure, or the path of a world folder.", show_default=False)
]
Skin = Annotated[str, typer.Option("--skin", help="text, inverse, picture or inverse-picture.")]


@app.command("list")
def list_worlds(
    library: Annotated[
        Path | None, typer.Option("--library", help="The worlds in this folder instead, such as a suite's library.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List the worlds: what pays, what is seen, whether words mean what they say, and what they ask of an agent.

    Example: heredity worlds list
    """
    from heredity.cli.columns import columns, wrapped
    from heredity.worlds.description import CAPABILITIES
    from heredity.worlds.world import sound_worlds

    sound, faults = sound_worlds() if library is None else _in_library(library)
    rows = sorted(
        (_row(made, name) for name, made in sound.items()),
        key=lambda row: (row["number"] is None, row["number"], row["world"]),
    )
    if as_json:
        wrong = [{"world": name, "error": error} for name, error in faults.items()]
        typer.echo(json.dumps([*rows, *wrong], indent=1, ensure_ascii=False))
    else:
        heads = ("number", "world", "paper", "reward", "observation", "semantics", "actions", "levels")
        cells = [[*("-" if row[head] is None else str(row[head]) for head in heads), _asks(row)] for row in rows]
        typer.echo(columns((*heads, "asks"), cells, less=("paper", "semantics", "observation")))
        for name, error in faults.items():
            typer.echo(f"{name}: {error}")
        typer.echo(wrapped(", ".join(f"{word[0]} {word}" for word in CAPABILITIES)))
        counts = [Counter(str(row[kind]) for row in rows) for kind in ("reward", "observation", "semantics")]
        tallies = "; ".join(", ".join(f"{count} {word}" for word, count in sorted(tally.items())) for tally in counts)
        typer.echo(wrapped(f"{len(rows)} worlds: {tallies}; {sum(row['levels'] for row in rows)} levels"))
    warn_of(faults)


def _in_library(library: Path) -> tuple[Mapping[str, World], Mapping[str, str]]:
    """Return the worlds in a folder or in folders of it, by their paths, and what is wrong with others."""
    from heredity.worlds.world import world

    places = sorted(file.parent for pattern in ("*/world.yaml", "*/*/world.yaml") for file in library.glob(pattern))
    if not places:
        raise ConfigError(f"{library} holds no worlds; name a folder of folders with a world.yaml")
    sound: dict[str, World] = {}
    wrong: dict[str, str] = {}
    for folder in places:
        try:
            sound[str(folder)] = world(f"{folder.absolute()}/")
        except ConfigError as error:
            wrong[str(folder)] = str(error)
    return sound, wrong


def warn_of(faults: Mapping[str, str]) -> None:
    """Say in one line on stderr which worlds cannot be used, if there are any."""
    if faults:
        typer.echo(f"heredity: {', '.join(faults)} cannot be used; see `heredity worlds list`", err=True)


def _asks(row: dict[str, Any]) -> str:
    """Return a letter for each capability that a world asks for, in the order of AutoEnv's table A7."""
    from heredity.worlds.description import CAPABILITIES

    return "".join(word[0] if word in row["capabilities"] else "-" for word in CAPABILITIES)


def _row(made: World, name: str) -> dict[str, Any]:
    from heredity.worlds.world import SPLITS

    described = made.description
    meta = described.meta
    number, paper = meta.paper or (None, None)
    return {
        "number": number,
        "world": made.name,
        "paper": paper,
        "title": meta.title,
        "summary": meta.summary,
        "taskset": f"worlds/{name}",
        "reward": meta.reward,
        "observation": meta.observation,
        "semantics": meta.semantics,
        "capabilities": list(meta.capabilities),
        "actions": len(described.actions),
        "max_steps": described.max_steps,
        "levels": sum(SPLITS.values()),
    }


@app.command()
def show(
    name: Place,
    level: Annotated[str | None, typer.Option("--level", help="The level that is seen; the first by default.")] = None,
    skin: Skin = "text",
    picture: Annotated[Path | None, typer.Option("--picture", help="Write what is seen as a PNG.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Show a world, or a world folder by its path: instruction, actions, symbols, and what an agent sees first.

    Example: heredity worlds show grid_treasure --picture treasure.png
    """
    from heredity.worlds.folder import is_folder
    from heredity.worlds.listing import actions_text
    from heredity.worlds.pictures import png
    from heredity.worlds.skins import SKINS, look
    from heredity.worlds.taskset import WorldTaskset
    from heredity.worlds.world import world

    if is_folder(name):
        if picture is not None or skin != "text":
            raise ConfigError(
                f"{name} is a world folder, which has no skins and no pictures; leave out --skin and --picture"
            )
        world_folders.show(name, level, as_json=as_json)
        return
    level = level or FIRST
    info = WorldTaskset(name, skin).info
    made = world(name)
    described = made.description
    omega = made.start(made.level(level).data).observe()
    if picture is not None:
        drawn = look(described.skin, skin if skin.endswith("picture") else SKINS[SKINS.index(skin) + 2], omega)
        assert not isinstance(drawn, str)
        picture.write_bytes(png(drawn))
    text = look(described.skin, skin.replace("inverse-picture", "inverse").replace("picture", "text"), omega)
    if as_json:
        about = {
            "name": name,
            "version": info.version,
            **dict(info.public),
            "meta": described.meta.model_dump(mode="json"),
        }
        words = {key: getattr(described, key) for key in ("observation", "termination", "generator", "state")}
        pays = {"reward_words": described.reward, "level": level, "example": text}
        typer.echo(json.dumps({**about, **words, **pays}, indent=1, ensure_ascii=False))
        return
    meta = described.meta
    row = "".join(f"; row {number}, {paper}" for number, paper in filter(None, [meta.paper]))
    typer.echo(f"{meta.title} ({name}{row}): {meta.reward}, {meta.observation}\n")
    typer.echo(f"{described.instruction.strip()}\n\n{actions_text(described)}\n")
    for word in ("observation", "reward", "termination", "generator"):
        typer.echo(f"{word}: {getattr(described, word).strip()}")
    typer.echo(f"\n--- {level}, {skin}\n{text}")


@app.command()
def levels(
    name: Name,
    write: Annotated[
        Path | None, typer.Option("--write", help="Generate the levels from their seeds into this folder.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Generate them and compare with what is shipped; the exit code is 1 if not.")
    ] = False,
    *,
    as_json: AsJson = False,
) -> None:
    """List the levels that a world ships, with their bounds; or generate them anew from their seeds.

    Example: heredity worlds levels ./my-world --write ./my-world
    """
    from heredity.cli.columns import columns
    from heredity.worlds.world import world

    made = world(name)
    if write is not None:
        write.mkdir(parents=True, exist_ok=True)
        (write / "levels.json").write_text(made.levels_text(), encoding="utf-8")
    same = None
    if check:
        same = (made.folder / "levels.json").read_text(encoding="utf-8") == made.levels_text()
    rows = [_level(made, level) for shipped in made.shipped.values() for level in shipped]
    if as_json:
        typer.echo(json.dumps({"world": name, "same": same, "levels": rows}, indent=1))
    else:
        heads = ("level", "seed", "difficulty", "steps", "bound", "kind", "reference")
        cells = [[f"{row[h]:g}" if isinstance(row[h], float) else str(row[h]) for h in heads] for row in rows]
        typer.echo(columns(heads, cells))
        if write is not None:
            typer.echo(f"written to {write / 'levels.json'}")
        if check:
            typer.echo("generated anew they are the same" if same else "generated anew they are NOT the same")
    if same is False:
        raise typer.Exit(1)


def _level(made: World, level: Level) -> dict[str, Any]:
    upper_bound = level.upper_bound
    return {
        "level": level.id,
        "seed": level.seed,
        "difficulty": level.difficulty,
        "steps": level.data.get("steps", made.description.max_steps),
        "bound": upper_bound.value,
        "kind": upper_bound.kind,
        "reason": upper_bound.reason,
        "reference": level.reference / upper_bound.value,
    }


@app.command()
def verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Worlds, or paths of world folders.", metavar="[NAMES]...", show_default=False),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All worlds.")] = False,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.0, help="How long to try to beat the bounds of one world.")
    ] = 10.0,
    processes: Annotated[int | None, typer.Option("--processes", min=1, show_default="one per core")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Verify every level: solvable, the bound kept by all kinds of agents, no income from refused actions.

    Example: heredity worlds verify grid_treasure
    """
    from heredity.cli.bars import bar
    from heredity.cli.columns import columns
    from heredity.worlds.folder import is_folder
    from heredity.worlds.verify import verify_worlds
    from heredity.worlds.world import SPLITS, sound_worlds, world

    given = tuple(dict.fromkeys(names or ()))
    if any(map(is_folder, given)):
        world_folders.verify(given, as_json=as_json, processes=processes)
        return
    sound, wrong = sound_worlds() if every else ({}, {})
    chosen = (*sound,) or given
    warn_of(wrong)
    if not chosen:
        raise ConfigError("no world is named; name some, or give --all")
    for name in chosen:
        world(name)
    reports: list[LevelReport] = []
    with bar("levels", len(chosen) * sum(SPLITS.values())) as done:
        for report in verify_worlds(chosen, seconds=seconds, processes=processes):
            reports.append(report)
            done()
    reports.sort(key=lambda report: (report.world, report.level))
    faulty = [report for report in reports if report.faults]
    if as_json:
        head = {"worlds": len(chosen), "levels": len(reports), "faulty": len(faulty)}
        typer.echo(json.dumps({**head, "rows": [report.to_json() for report in reports]}, indent=1))
    else:
        heads = ("world", "levels", "bound", "reference", "random", "idle", "invalid", "greedy", "faults")
        typer.echo(columns(heads, [_summary(name, [r for r in reports if r.world == name]) for name in chosen]))
        for report in faulty:
            typer.echo(f"{report.world} {report.level}: {'; '.join(report.faults)}")
        typer.echo(
            f"{len(reports)} levels of {len(chosen)} worlds, {len(faulty)} with faults; shares of the bounds in %"
        )
    if faulty or wrong:
        raise typer.Exit(1)


def _summary(name: str, reports: list[LevelReport]) -> list[str]:
    least = min(report.reference for report in reports)
    mean = sum(report.random for report in reports) / len(reports)
    most = [max(getattr(report, kind) for report in reports) for kind in ("idle", "invalid", "greedy")]
    kinds = "/".join(sorted({report.kind for report in reports}))
    faults = str(sum(bool(report.faults) for report in reports) or "")
    return [name, str(len(reports)), kinds, *(f"{100 * share:.1f}" for share in (least, mean, *most)), faults]
