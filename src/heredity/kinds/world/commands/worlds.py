"""`heredity worlds`: list, show, play, compose, admit, export and verify worlds, and compare agents in them."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.cli.interface import WholeHelp
from heredity.kinds.world.commands import bench as worlds_bench
from heredity.kinds.world.commands import curate as worlds_curate
from heredity.kinds.world.commands import play as world_folders
from heredity.kinds.world.commands import play as worlds_play

if TYPE_CHECKING:
    from heredity.kinds.world.compose.admission import Composed
    from heredity.kinds.world.gates.admit import Admission
    from heredity.kinds.world.gates.contract import GateReport
    from heredity.kinds.world.verify import LevelReport
    from heredity.kinds.world.world import Level, World


def compose(
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Compose the world with this seed.")] = None,
    seeds: Annotated[
        str | None,
        typer.Option("--seeds", help="Compose many seeds, such as 0..199 or 0..4,7,9, and report the results."),
    ] = None,
    reward: Annotated[
        str | None, typer.Option("--reward", help="binary or accumulative; drawn by the seed if omitted.")
    ] = None,
    observation: Annotated[
        str | None, typer.Option("--observation", help="full or partial; drawn by the seed if omitted.")
    ] = None,
    semantics: Annotated[
        str | None, typer.Option("--semantics", help="aligned or inverse; drawn by the seed if omitted.")
    ] = None,
    difficulty: Annotated[
        int | None,
        typer.Option("--difficulty", min=1, max=3, help="Difficulty of the world: number of mechanics and slack."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Write admitted worlds here, each in its folder; recorded results are not recomputed."
        ),
    ] = None,
    processes: Annotated[int | None, typer.Option("--processes", min=1, show_default="one per core")] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Compose new worlds from mechanics, without a model.

    Every world goes through the seven gates of `heredity worlds admit`. The exit code is 1 if the requested world is
    rejected.

    Example: heredity worlds compose --seed 7 --out worlds
    """
    from heredity.cli.bars import bar
    from heredity.kinds.world.compose.admission import admissions
    from heredity.kinds.world.compose.recipe import Recipe

    wanted = _seeds(seed, seeds)
    hardness = None if difficulty is None else str(difficulty)
    recipes = [Recipe(number, reward, observation, semantics, hardness) for number in wanted]
    started = time.monotonic()
    rows: list[Composed] = []
    with bar("worlds", len(recipes)) as done:
        for one in admissions(recipes, out, processes):
            rows.append(one)
            done()
    rows.sort(key=lambda one: one.seed)
    summary = _compose_summary(rows, time.monotonic() - started)
    if as_json:
        typer.echo(json.dumps({**summary, "worlds": [one.to_json() for one in rows]}, indent=1))
    else:
        _print(rows, summary, out)
    if seed is not None and not rows[0].admitted:
        raise typer.Exit(1)


def _seeds(seed: int | None, seeds: str | None) -> Sequence[int]:
    from heredity.kinds.world.taskset import seeds_of

    if (seed is None) == (seeds is None):
        raise ConfigError("no seed is given; use --seed 7 for one world, or --seeds 0..199 for many")
    if seed is not None:
        return range(seed, seed + 1)
    return seeds_of(seeds or "")


def _compose_summary(rows: list[Composed], seconds: float) -> dict[str, Any]:
    from heredity.kinds.world.compose.admission import copies, novelty

    admitted = [one for one in rows if one.admitted]
    alike = copies(admitted)
    return {
        "composed": len(rows),
        "admitted": len(admitted),
        "distinct": len(admitted) - len(alike),
        "rejected": dict(sorted(Counter(one.reason for one in rows if not one.admitted).items())),
        "seconds": round(seconds, 2),
        "processor_seconds": round(sum(one.seconds for one in rows), 2),
        "novelty": novelty(admitted) if len(rows) > 1 else {},
        "copies": alike,
    }


def _print(rows: list[Composed], summary: dict[str, Any], out: Path | None) -> None:
    from heredity.cli.bars import columns

    heads = ("world", "reward", "observation", "semantics", "random", "greedy", "made of")
    cells = [
        [
            one.world,
            *(str(one.meta[key]) for key in heads[1:4]),
            *(f"{one.players[key]:.2f}" if one.players else "-" for key in heads[4:6]),
            ", ".join(one.meta["mechanics"]) if one.admitted else f"REJECTED ({one.reason}): {one.detail}",
        ]
        for one in rows
    ]
    typer.echo(columns(heads, cells))
    rejected = ", ".join(f"{count} {reason}" for reason, count in summary["rejected"].items())
    typer.echo(
        f"{summary['composed']} composed, {summary['admitted']} admitted"
        + (f"; rejected: {rejected}" if rejected else "")
    )
    if len(rows) > 1:
        typer.echo(f"{summary['distinct']} of them are distinct; {len(summary['copies'])} behave like an earlier one")
    for words, distances in summary["novelty"].items():
        typer.echo(f"{words}: {', '.join(f'{key} {value}' for key, value in distances.items())}")
    if out is not None and summary["admitted"]:
        typer.echo(f"written to {out}; play one with: heredity worlds play ./{out}/NAME")


def admit(
    name: Annotated[
        str,
        typer.Argument(
            help="A world, such as grid_treasure, or a folder: with rules in world.yaml, or in the AutoEnv-36 format.",
            metavar="NAME|FOLDER",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the certificate (default: the world's folder).")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            min=0,
            help="Random seed of the gates.",
            show_default="0; drawn afresh for a world with hooks",
        ),
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the certificate.")] = False,
) -> None:
    """Run the seven gates on a world and write a certificate; the exit code is 1 if it is rejected.

    Example: heredity worlds admit ./my-world --out certificates
    """
    from heredity._core.plugins import is_path
    from heredity.cli.bars import bar
    from heredity.kinds.world.gates.admit import GATES
    from heredity.kinds.world.gates.admit import admit as execute
    from heredity.kinds.world.gates.contract import Subject
    from heredity.kinds.world.world import sound_worlds, world

    if (Path(name) / "env_main.py").is_file():
        hidden = secrets.randbelow(2**31) if seed is None else seed
        _finish(world_folders.admission(Path(name), hidden), out or Path(name), as_json=as_json)
        return
    made = _of_folder(Path(name)) if is_path(name) else world(name)
    if not is_path(name) and out is None:
        raise ConfigError(f"{name} is installed and its folder is not changed; give a folder with --out")
    if seed is None:
        seed = 0 if made.dynamics.hooks is None else secrets.randbelow(2**31)
    subject = Subject.of(made, seed=seed, library=sound_worlds()[0])
    with bar("gates", len(GATES)) as advance:
        admission = execute(subject, lambda gate: advance())
    _finish(admission, out or made.folder, as_json=as_json)


def _finish(admission: Admission, target: Path, *, as_json: bool) -> None:
    target.mkdir(parents=True, exist_ok=True)
    path = admission.write(target)
    typer.echo(json.dumps(admission.to_json(), indent=1) if as_json else _text(admission, path))
    if not admission.admitted:
        raise typer.Exit(1)


def _of_folder(folder: Path) -> World:
    """Return the world of a plain folder with YAML rules; levels are generated if it ships none.

    Raises:
        ConfigError: if it has Python code, which never runs here.
    """
    from heredity.kinds.world.gates.mutants import set_shipped
    from heredity.kinds.world.world import World

    if (folder / "dynamics.py").exists():
        raise ConfigError(
            f"{folder} has dynamics.py, and Python of a plain folder does not run here; install its package and give its name"
        )
    made = World(folder.resolve())
    if not (folder / "levels.json").exists():
        set_shipped(made, made.make_shipped())
    return made


def _verdict(report: GateReport) -> str:
    if report.left_out:
        return "left out"
    return "not judged" if report.unjudged else "passed" if report.passed else "REJECTED"


def _text(admission: Admission, path: Path) -> str:
    from heredity.cli.bars import columns

    rows: list[list[str]] = []
    for report in admission.gates:
        kinds = ", ".join(finding.kind for finding in report.findings)
        rows.append([report.gate, _verdict(report), report.left_out or report.unjudged or kinds])
    lines = [columns(("gate", "verdict", "findings"), rows), ""]
    for report in admission.gates:
        for finding in report.findings:
            times = f" ({finding.count} times)" if finding.count > 1 else ""
            lines.append(f"{report.gate}: {finding.kind}{times}: {finding.message}")
            if finding.level:
                trace = json.dumps(finding.to_json()["trace"]["actions"])
                lines.append(f"  reproduce: {finding.level}, actions {trace}")
    unjudged = any(report.unjudged for report in admission.gates)
    verdict = "admitted" if admission.admitted else "not judged" if unjudged else "rejected"
    return "\n".join([*lines, f"{admission.world} is {verdict} (seed {admission.seed}); see {path}"])


FORMATS = ("autoenv", "gymnasium", "verifiers")


def export(
    world_name: Annotated[
        str,
        typer.Argument(
            help="A world, such as grid_treasure or composed-7, or a folder whose world.yaml has rules.",
            metavar="WORLD",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Argument(help="A folder that does not exist yet.", metavar="OUT", show_default=False)],
    form: Annotated[str, typer.Option("--format", help=f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}.")] = "autoenv",
    skin: Annotated[
        str, typer.Option("--skin", help="Observations: text or inverse; with gymnasium also pictures.")
    ] = "text",
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Export a world so that it runs, unchanged, without Heredity.

    Formats: autoenv, a folder of AutoEnv-36; gymnasium, a package with an environment; verifiers, a package with a taskset.

    Example: heredity worlds export grid_treasure exported --format gymnasium
    """
    from heredity.kinds.world.exports.autoenv import autoenv_folder, gymnasium_package, verifiers_package, write_files

    forms = dict(zip(FORMATS, (autoenv_folder, gymnasium_package, verifiers_package), strict=True))
    if form not in forms:
        raise UnknownNameError("format of exported worlds", form, forms)
    made = shipping_world(world_name)
    files = forms[form](made, skin)
    write_files(out, files)
    total = sum(map(len, files.values()))
    if as_json:
        summary = {
            "world": world_name,
            "format": form,
            "skin": skin,
            "folder": str(out),
            "files": len(files),
            "bytes": total,
        }
        typer.echo(json.dumps(summary, indent=1))
    else:
        typer.echo(
            f"{world_name} as {form}: {len(files)} files, {total // 1024} KiB in {out}; see its README.md for requirements"
        )
        if made.dynamics.hooks is not None:
            typer.echo("its hooks are its author's code, which runs there without a sandbox")


def shipping_world(name: str) -> World:
    """Return a world by its name, or that of a folder in rules by its path (levels are generated if it ships none).

    Raises:
        ConfigError: if the folder has another form, or is faulty.
        UnknownNameError: if the world is unknown.
    """
    from heredity._core.plugins import is_path
    from heredity.kinds.world.folders.folder import is_folder
    from heredity.kinds.world.gates.mutants import set_shipped
    from heredity.kinds.world.world import world

    if is_folder(name):
        raise ConfigError(
            f"{name} contains code, or has no world.yaml; give a world's name, or a folder in rules alone"
        )
    made = world(name)
    if is_path(name) and not (made.folder / "levels.json").exists():
        set_shipped(made, made.make_shipped())
    return made


FORMS = ("chat", "glimpse")


def examples(
    world_name: Annotated[
        str,
        typer.Argument(help="A world's name, or the path of a folder in rules.", metavar="WORLD", show_default=False),
    ],
    out: Annotated[Path, typer.Argument(help="A folder that does not exist yet.", metavar="OUT", show_default=False)],
    count: Annotated[int, typer.Option("--count", min=5, help="Number of steps of good play.")] = 800,
    form: Annotated[
        str, typer.Option("--form", help="chat: prompts for a language model; glimpse: one line, one character.")
    ] = "chat",
    run: Annotated[
        Path | None,
        typer.Option("--run", help="Take the best rollouts of this run on train tasks.", show_default="the solution"),
    ] = None,
    min_score: Annotated[float, typer.Option("--min-score", help="With --run: minimum score of a rollout.")] = 0.5,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Random seed of levels and order.")] = 0,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Write steps of good play on a world's train levels as training data, four fifths for training (AutoEnv, appendix E.2).

    Example: heredity worlds examples grid_treasure examples --count 800
    """
    from heredity._core.outside import jsonl
    from heredity.kinds.world.commands.training_examples import dealt, reference_examples, run_examples
    from heredity.kinds.world.exports.autoenv import write_files
    from heredity.kinds.world.taskset import WorldTaskset

    if form not in FORMS:
        raise UnknownNameError("form of examples", form, FORMS)
    if form == "glimpse" and run is not None:
        raise ConfigError("--form glimpse needs the reference solution, which --run does not have; omit one of them")
    rows: list[Any]
    if run is not None:
        rows = run_examples(run, count, min_score)
    elif form == "chat":
        rows = asyncio.run(reference_examples(WorldTaskset(world_name), count, seed))
    else:
        rows = _glimpses(world_name, count, seed)
    train, validation = dealt(rows, seed)
    write_files(out, {"train.jsonl": jsonl(train), "validation.jsonl": jsonl(validation)})
    if as_json:
        counts = {"train": len(train), "validation": len(validation)}
        typer.echo(json.dumps({"world": world_name, "form": form, "folder": str(out), **counts}, indent=1))
    else:
        typer.echo(f"{world_name}: {len(train)} examples for training, {len(validation)} for validation: {out}")


def _glimpses(world_name: str, count: int, seed: int) -> list[Any]:
    from heredity.kinds.world.commands.training_examples import Glimpses
    from heredity.kinds.world.taskset import WorldTaskset
    from heredity.kinds.world.world import world

    tasks, glimpses, rows = WorldTaskset(world_name), Glimpses(world(world_name)), list[Any]()
    drawn = 0
    while len(rows) < count:
        levels = tasks.draw("train", drawn + 8, seed)[drawn:]
        drawn += len(levels)
        pairs = [pair for task in levels for pair in glimpses.demonstrated(task.spec["level"])]
        rows += [{"prompt": line, "completion": character} for line, character in pairs]
    return rows[:count]


FIRST = "test-01"
"""Default level."""

app = typer.Typer(cls=WholeHelp, no_args_is_help=True, rich_markup_mode=None)
app.command("play")(worlds_play.play)
app.command("bench")(worlds_bench.bench)
app.command("compose")(compose)
app.command("audit")(world_folders.audit)
app.command("admit")(admit)
app.command("export")(export)
app.command("curate")(worlds_curate.curate)
app.command("examples")(examples)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Name = Annotated[str, typer.Argument(help="A world, such as grid_treasure.", show_default=False)]
Place = Annotated[
    str, typer.Argument(help="A world, such as grid_treasure, or the path of a world folder.", show_default=False)
]
Skin = Annotated[str, typer.Option("--skin", help="text, inverse, picture or inverse-picture.")]


@app.command("list")
def list_worlds(
    library: Annotated[
        Path | None,
        typer.Option("--library", help="List the worlds in this folder instead, such as a suite's library."),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List the worlds with their reward, observation, semantics and required capabilities.

    Example: heredity worlds list
    """
    from heredity.cli.bars import columns, wrapped
    from heredity.kinds.world.description import CAPABILITIES
    from heredity.kinds.world.world import sound_worlds

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
    """Return the worlds in a folder and its subfolders, by path, and the errors of those that cannot be used."""
    from heredity.kinds.world.world import world

    places = sorted(file.parent for pattern in ("*/world.yaml", "*/*/world.yaml") for file in library.glob(pattern))
    if not places:
        raise ConfigError(f"{library} has no worlds; name a folder of folders with a world.yaml")
    sound: dict[str, World] = {}
    wrong: dict[str, str] = {}
    for folder in places:
        try:
            sound[str(folder)] = world(f"{folder.absolute()}/")
        except ConfigError as error:
            wrong[str(folder)] = str(error)
    return sound, wrong


def warn_of(faults: Mapping[str, str]) -> None:
    """Report unusable worlds in one line on stderr, if there are any."""
    if faults:
        typer.echo(f"heredity: {', '.join(faults)} cannot be used; see `heredity worlds list`", err=True)


def _asks(row: dict[str, Any]) -> str:
    """Return a letter for each capability that a world requires, in the order of AutoEnv's table A7."""
    from heredity.kinds.world.description import CAPABILITIES

    return "".join(word[0] if word in row["capabilities"] else "-" for word in CAPABILITIES)


def _row(made: World, name: str) -> dict[str, Any]:
    from heredity.kinds.world.world import SPLITS

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
    level: Annotated[str | None, typer.Option("--level", help="Level to show (default: the first).")] = None,
    skin: Skin = "text",
    picture: Annotated[Path | None, typer.Option("--picture", help="Write the observation as a PNG.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Show a world, or a world folder by its path: instruction, actions, symbols, and the first observation.

    Example: heredity worlds show grid_treasure --picture treasure.png
    """
    from heredity.kinds.world.episode import actions_text
    from heredity.kinds.world.folders.folder import is_folder
    from heredity.kinds.world.pictures import png
    from heredity.kinds.world.skins import SKINS, look
    from heredity.kinds.world.taskset import WorldTaskset
    from heredity.kinds.world.world import world

    if is_folder(name):
        if picture is not None or skin != "text":
            raise ConfigError(f"{name} is a world folder and has no skins or pictures; omit --skin and --picture")
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
        bool,
        typer.Option(
            "--check", help="Generate them and compare with the shipped levels; the exit code is 1 if they differ."
        ),
    ] = False,
    *,
    as_json: AsJson = False,
) -> None:
    """List the levels that a world ships, with their bounds; or regenerate them from their seeds.

    Example: heredity worlds levels ./my-world --write ./my-world
    """
    from heredity.cli.bars import columns
    from heredity.kinds.world.world import world

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
            typer.echo("regenerated levels are the same" if same else "regenerated levels are NOT the same")
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
        float, typer.Option("--seconds", min=0.0, help="Time spent trying to beat the bounds of one world, in seconds.")
    ] = 10.0,
    processes: Annotated[int | None, typer.Option("--processes", min=1, show_default="one per core")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Verify every level: solvable, bound kept by all kinds of agents, no income from refused actions.

    Example: heredity worlds verify grid_treasure
    """
    from heredity.cli.bars import bar, columns
    from heredity.kinds.world.folders.folder import is_folder
    from heredity.kinds.world.verify import verify_worlds
    from heredity.kinds.world.world import SPLITS, sound_worlds, world

    given = tuple(dict.fromkeys(names or ()))
    if any(map(is_folder, given)):
        world_folders.verify(given, as_json=as_json, processes=processes)
        return
    sound, wrong = sound_worlds() if every else ({}, {})
    chosen = (*sound,) or given
    warn_of(wrong)
    if not chosen:
        raise ConfigError("no world is given; name some, or use --all")
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
