"""`heredity worlds compose`: worlds drawn from mechanics by a seed, checked, written."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heredity.errors import ConfigError

if TYPE_CHECKING:
    from heredity.worlds.compose.admission import Composed


def compose(
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Compose the world of this seed.")] = None,
    seeds: Annotated[
        str | None, typer.Option("--seeds", help="Compose many, such as 0..199 or 0..4,7,9, and say what came of them.")
    ] = None,
    reward: Annotated[
        str | None, typer.Option("--reward", help="binary or accumulative; else the seed decides.")
    ] = None,
    observation: Annotated[str | None, typer.Option("--observation", help="full or partial.")] = None,
    semantics: Annotated[str | None, typer.Option("--semantics", help="aligned or inverse.")] = None,
    difficulty: Annotated[
        int | None, typer.Option("--difficulty", min=1, max=3, help="Of the world: how many mechanics, how tight.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Write admitted worlds here, each in its folder; what is known there is not redone."
        ),
    ] = None,
    processes: Annotated[int | None, typer.Option("--processes", min=1, show_default="one per core")] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Compose new worlds from mechanics, without a model.

    Every world goes through the seven gates of `heredity worlds admit`. The exit code is 1 if the one that was asked for is
    rejected.

    Example: heredity worlds compose --seed 7 --out worlds
    """
    from heredity.cli.bars import bar
    from heredity.worlds.compose.admission import admissions
    from heredity.worlds.compose.recipe import Recipe

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
    summary = _summary(rows, time.monotonic() - started)
    if as_json:
        typer.echo(json.dumps({**summary, "worlds": [one.to_json() for one in rows]}, indent=1))
    else:
        _print(rows, summary, out)
    if seed is not None and not rows[0].admitted:
        raise typer.Exit(1)


def _seeds(seed: int | None, seeds: str | None) -> Sequence[int]:
    from heredity.worlds.mixture import seeds_of

    if (seed is None) == (seeds is None):
        raise ConfigError("say which worlds: --seed 7 for one, or --seeds 0..199 for many")
    if seed is not None:
        return range(seed, seed + 1)
    return seeds_of(seeds or "")


def _summary(rows: list[Composed], seconds: float) -> dict[str, Any]:
    from heredity.worlds.compose.novelty import copies, novelty

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
    from heredity.cli.columns import columns

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
        typer.echo(f"{summary['distinct']} of them are distinct: {len(summary['copies'])} behave like one before them")
    for words, distances in summary["novelty"].items():
        typer.echo(f"{words}: {', '.join(f'{key} {value}' for key, value in distances.items())}")
    if out is not None and summary["admitted"]:
        typer.echo(f"written to {out}; play one with: heredity worlds play ./{out}/NAME")
