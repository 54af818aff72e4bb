"""`heredity worlds curate`: chooses a benchmark from a pool of worlds."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heredity._core.errors import ConfigError

if TYPE_CHECKING:
    from heredity.kinds.world.curation import Candidate, Curation

_RANGE = re.compile(r"composed-(\d+)\.\.(\d+)")


def curate(
    pool: Annotated[
        list[str],
        typer.Argument(
            help="Folders of admitted worlds, names of worlds, composed-0..59 and the like, or installed for all.",
            show_default=False,
        ),
    ],
    size: Annotated[int, typer.Option("--size", min=1, help="Number of worlds to take.")] = 36,
    easy: Annotated[
        float,
        typer.Option("--easy", help="Exclude worlds where players without a plan reach this share of the bounds."),
    ] = 0.9,
    hard: Annotated[
        float,
        typer.Option(
            "--hard", help="Exclude worlds where the strongest search gets less than this share of the bounds."
        ),
    ] = 0.0,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Choose a balanced benchmark from a pool of worlds, and print its tables 1, A6 and A7.

    Example: heredity worlds curate ./admitted composed-0..59 --size 36
    """
    from heredity.cli.bars import bar
    from heredity.kinds.world.curation import curate as choose

    if not hard < easy:
        raise ConfigError(f"--hard {hard:g} and --easy {easy:g}; expected shares of the bounds, hard below easy")
    names = [name for part in pool for name in _names_in(part)]
    out: dict[str, str] = {}
    candidates: list[Candidate] = []
    with bar("worlds", len(names)) as done:
        for name in dict.fromkeys(names):
            try:
                candidates.append(_measure(name))
            except ConfigError as error:
                out[name] = f"not admitted: {error}"
            done()
    curation = choose(candidates, size, easy=easy, hard=hard, out=out)
    typer.echo(json.dumps(curation.to_json(), indent=1) if as_json else _text(curation, size))
    if len(curation.chosen) < size:
        typer.echo(f"heredity: the pool gives {len(curation.chosen)} of the {size} requested worlds", err=True)
    if not curation.chosen:
        raise typer.Exit(1)


def _names_in(part: str) -> Sequence[str]:
    from heredity._core.plugins import is_path
    from heredity.kinds.world.world import world_names

    if part == "installed":
        return world_names()
    match = _RANGE.fullmatch(part)
    if match is not None:
        return [f"composed-{seed}" for seed in range(int(match[1]), int(match[2]) + 1)]
    folder = Path(part)
    if is_path(part) and not (folder / "world.yaml").is_file():
        inner = sorted(path.parent for path in folder.glob("*/world.yaml"))
        if not inner:
            raise ConfigError(f"{part} has no folder with a world.yaml; name a folder of worlds")
        return [f"{path if path.is_absolute() else f'./{path}'}" for path in inner]
    return [part]


def _measure(name: str) -> Candidate:
    """Return a world of the pool with its measurements.

    Raises:
        ConfigError: if it is not admitted, faulty, or missing.
    """
    from heredity._core.plugins import is_path
    from heredity.kinds.world.compose.admission import judged
    from heredity.kinds.world.compose.recipe import Recipe
    from heredity.kinds.world.curation import candidate, certified
    from heredity.kinds.world.world import world

    recipe = None if is_path(name) else Recipe.from_name(name)
    if recipe is not None:
        verdict = judged(recipe)
        if not verdict.admitted:
            raise ConfigError(f"{verdict.reason}: {verdict.detail}")
        return candidate(name, world(name), verdict.players)
    made = world(name)
    return candidate(name, made, certified(made.folder) if is_path(name) else None)


def _text(curation: Curation, size: int) -> str:
    from heredity.cli.bars import columns
    from heredity.kinds.world.curation import AXES
    from heredity.kinds.world.description import CAPABILITIES

    value = curation.to_json()
    heads = ("", *value["table_1"])
    shown: Mapping[str, Callable[[Any], str]] = {
        "count": str,
        "ratio": lambda ratio: f"{100 * ratio:.1f}%",
        "actions": lambda mean: "-" if mean is None else f"{mean:.2f}",
        "lines": lambda mean: "-" if mean is None else f"{mean:.2f}",
    }
    first = [[key, *(write(column[key]) for column in value["table_1"].values())] for key, write in shown.items()]
    features = [
        [row["world"], *(row[axis] for axis in AXES), str(row["actions"]), str(row["lines"])] for row in value["worlds"]
    ]
    asked = [
        [row["world"], *(_mark(name in row["found"], name in row["declared"]) for name in CAPABILITIES)]
        for row in value["worlds"]
    ]
    players = ("random", "greedy", "search-much", "solution")
    for cells, row in zip(features, value["worlds"], strict=True):
        cells += [f"{row['means'][name]:.2f}" for name in players]
    lines = [
        f"{len(curation.chosen)} of {size} worlds; {len(curation.left)} more are suitable, {len(curation.out)} excluded",
        "",
    ]
    lines += ["Table 1", columns(heads, first), "", "Table A6, with shares of the bounds by player"]
    lines += [columns(("world", *AXES, "actions", "lines", *players), features), ""]
    lines += [
        "Table A7: x detected and declared, f detected only, d declared only",
        columns(("world", *CAPABILITIES), asked),
    ]
    if curation.out:
        lines += ["", "Out", columns(("world", "why"), [[name, why] for name, why in curation.out.items()])]
    return "\n".join(lines)


def _mark(detected: bool, declared: bool) -> str:
    return "x" if detected and declared else "f" if detected else "d" if declared else ""
