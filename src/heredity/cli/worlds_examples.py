"""`heredity worlds examples`: training data from a world."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from heredity.errors import ConfigError, UnknownNameError

FORMS = ("chat", "glimpse")


def examples(
    world_name: Annotated[
        str,
        typer.Argument(help="A world's name, or the path of a folder in rules.", metavar="WORLD", show_default=False),
    ],
    out: Annotated[Path, typer.Argument(help="A folder that does not exist yet.", metavar="OUT", show_default=False)],
    count: Annotated[int, typer.Option("--count", min=5, help="How many steps of good play.")] = 800,
    form: Annotated[
        str, typer.Option("--form", help="chat: as a language model is asked; glimpse: one line, one character.")
    ] = "chat",
    run: Annotated[
        Path | None,
        typer.Option("--run", help="Take the best attempts of this run at train tasks.", show_default="the solution"),
    ] = None,
    min_score: Annotated[
        float, typer.Option("--min-score", help="With --run: attempts that score less are left out.")
    ] = 0.5,
    seed: Annotated[int, typer.Option("--seed", min=0, help="What levels and order come from.")] = 0,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Write steps of good play on a world's train levels as training data, four fifths to train on (AutoEnv, appendix E.2).

    Example: heredity worlds examples grid_treasure examples --count 800
    """
    from heredity.bridges.files import write_files
    from heredity.experiments.world_examples import dealt, reference_examples, run_examples
    from heredity.posttraining.tasks.dealing import jsonl
    from heredity.worlds.taskset import WorldTaskset

    if form not in FORMS:
        raise UnknownNameError("form of examples", form, FORMS)
    if form == "glimpse" and run is not None:
        raise ConfigError("--form glimpse takes the reference solution, which --run has not; leave out one of them")
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
        typer.echo(f"{world_name}: {len(train)} examples to train on, {len(validation)} for validation: {out}")


def _glimpses(world_name: str, count: int, seed: int) -> list[Any]:
    from heredity.worlds.glimpses import Glimpses
    from heredity.worlds.taskset import WorldTaskset
    from heredity.worlds.world import world

    tasks, glimpses, rows = WorldTaskset(world_name), Glimpses(world(world_name)), list[Any]()
    drawn = 0
    while len(rows) < count:
        levels = tasks.draw("train", drawn + 8, seed)[drawn:]
        drawn += len(levels)
        pairs = [pair for task in levels for pair in glimpses.demonstrated(task.spec["level"])]
        rows += [{"prompt": line, "completion": character} for line, character in pairs]
    return rows[:count]
