"""`heredity worlds`: worlds listed, shown, played, verified, and agents compared in them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heredity.cli import world_folders, worlds_bench, worlds_play
from heredity.errors import ConfigError

if TYPE_CHECKING:
    from heredity.worlds.verify import LevelReport
    from heredity.worlds.world import Level, World

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.command("play")(worlds_play.play)
app.command("bench")(worlds_bench.bench)
app.command("audit")(world_folders.audit)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Name = Annotated[str, typer.Argument(help="A world, such as grid_treasure.", show_default=False)]
Skin = Annotated[str, typer.Option("--skin", help="text, inverse, picture or inverse-picture.")]


@app.command("list")
def list_worlds(*, as_json: AsJson = False) -> None:
    """List the worlds: what pays, what is seen, whether words mean what they say, and what they ask of an agent."""
    from heredity.cli.columns import columns
    from heredity.worlds.description import CAPABILITIES

    rows = _rows()
    if as_json:
        typer.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    heads = ("number", "world", "paper", "reward", "observation", "semantics", "actions", "levels")
    typer.echo(columns((*heads, "asks"), [[*(str(row[head]) for head in heads), _asks(row)] for row in rows]))
    typer.echo(", ".join(f"{word[0]} {word}" for word in CAPABILITIES))
    counts = [Counter(str(row[kind]) for row in rows) for kind in ("reward", "observation", "semantics")]
    said = "; ".join(", ".join(f"{count} {word}" for word, count in sorted(each.items())) for each in counts)
    typer.echo(f"{len(rows)} worlds: {said}; {sum(row['levels'] for row in rows)} levels")


def _asks(row: dict[str, Any]) -> str:
    """Return a letter for each capability that a world asks for, in the order of AutoEnv's table A7."""
    from heredity.worlds.description import CAPABILITIES

    return "".join(word[0] if word in row["capabilities"] else "-" for word in CAPABILITIES)


def _rows() -> list[dict[str, Any]]:
    from heredity.worlds.world import SPLITS, world, world_names

    rows: list[dict[str, Any]] = []
    for name in world_names():
        described = world(name).description
        meta = described.meta
        rows.append(
            {
                "number": meta.paper[0],
                "world": name,
                "paper": meta.paper[1],
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
        )
    return sorted(rows, key=lambda row: (row["number"], row["world"]))


@app.command()
def show(
    name: Name,
    level: Annotated[str, typer.Option("--level", help="The level that is seen.")] = "test-01",
    skin: Skin = "text",
    picture: Annotated[Path | None, typer.Option("--picture", help="Write what is seen as a PNG.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Show a world: instruction, actions, symbols, and what an agent sees first."""
    from heredity.worlds.pictures import png
    from heredity.worlds.skins import SKINS, look
    from heredity.worlds.taskset import WorldTaskset, actions_text
    from heredity.worlds.world import world

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
    number, paper = meta.paper
    typer.echo(f"{meta.title} ({name}; row {number}, {paper}): {meta.reward}, {meta.observation}, {meta.semantics}\n")
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
    """List the levels that a world ships, with their bounds; or generate them anew from their seeds."""
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
    bound = level.bound
    return {
        "level": level.id,
        "seed": level.seed,
        "difficulty": level.difficulty,
        "steps": level.data.get("steps", made.description.max_steps),
        "bound": bound.value,
        "kind": bound.kind,
        "reason": bound.reason,
        "reference": level.reference / bound.value,
    }


@app.command()
def verify(
    names: Annotated[list[str] | None, typer.Argument(help="Worlds.", metavar="[NAMES]...", show_default=False)] = None,
    every: Annotated[bool, typer.Option("--all", help="All worlds.")] = False,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.0, help="How long to try to beat the bounds of one world.")
    ] = 10.0,
    processes: Annotated[int | None, typer.Option("--processes", min=1, show_default="one per core")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Verify every level: solvable, the bound kept by all kinds of agents, no income from refused actions."""
    from heredity.cli.bars import bar
    from heredity.cli.columns import columns
    from heredity.worlds.verify import verify_worlds
    from heredity.worlds.world import SPLITS, world, world_names

    chosen = world_names() if every else tuple(dict.fromkeys(names or ()))
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
    if faulty:
        raise typer.Exit(1)


def _summary(name: str, reports: list[LevelReport]) -> list[str]:
    least = min(report.reference for report in reports)
    mean = sum(report.random for report in reports) / len(reports)
    most = [max(getattr(report, kind) for report in reports) for kind in ("idle", "invalid", "greedy")]
    kinds = "/".join(sorted({report.kind for report in reports}))
    faults = str(sum(bool(report.faults) for report in reports) or "")
    return [name, str(len(reports)), kinds, *(f"{100 * share:.1f}" for share in (least, mean, *most)), faults]
