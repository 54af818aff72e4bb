"""`heredity worlds compose`: worlds drawn from mechanics by a seed, checked, written."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heredity.errors import ConfigError

if TYPE_CHECKING:
    from heredity.worlds.compose.admission import Admission

_RANGE = re.compile(r"(\d+)\.\.(\d+)")


def compose(
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Compose the world of this seed.")] = None,
    seeds: Annotated[
        str | None, typer.Option("--seeds", help="Compose many, such as 0..199, and say what came of them.")
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
        Path | None, typer.Option("--out", help="Write admitted worlds into this folder, each in a folder of its name.")
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Compose new worlds from mechanics, without a model: `heredity worlds compose --seed 7 --out worlds`.

    Every world is checked: it reads as rules, its 15 levels differ and are solvable, bounds are exact, nothing is paid for
    idling or for invalid actions. The exit code is 1 if the one that was asked for is rejected.
    """
    from heredity.cli.bars import bar
    from heredity.worlds.compose.admission import admit
    from heredity.worlds.compose.recipe import Recipe

    wanted = _seeds(seed, seeds)
    started = time.monotonic()
    admissions: list[Admission] = []
    with bar("worlds", len(wanted)) as done:
        for number in wanted:
            recipe = Recipe(number, reward, observation, semantics, None if difficulty is None else str(difficulty))
            admission, world = admit(recipe)
            admissions.append(admission)
            if world is not None and out is not None:
                world.write(out / world.name)
            done()
    summary = _summary(admissions, time.monotonic() - started)
    if as_json:
        typer.echo(json.dumps({**summary, "worlds": [one.to_json() for one in admissions]}, indent=1))
    else:
        _print(admissions, summary, out)
    if seed is not None and admissions[0].reason:
        raise typer.Exit(1)


def _seeds(seed: int | None, seeds: str | None) -> range:
    if (seed is None) == (seeds is None):
        raise ConfigError("say which worlds: --seed 7 for one, or --seeds 0..199 for many")
    if seed is not None:
        return range(seed, seed + 1)
    match = _RANGE.fullmatch(seeds or "")
    if match is None or int(match.group(1)) > int(match.group(2)):
        raise ConfigError(f"--seeds is {seeds!r}; expected two numbers, the less first, such as 0..199")
    return range(int(match.group(1)), int(match.group(2)) + 1)


def _summary(admissions: list[Admission], seconds: float) -> dict[str, Any]:
    from heredity.worlds.compose.novelty import novelty

    admitted = {one.name: one.fingerprint for one in admissions if one.fingerprint is not None}
    reasons = Counter(one.reason for one in admissions if one.reason)
    return {
        "composed": len(admissions),
        "admitted": len(admitted),
        "rejected": dict(sorted(reasons.items())),
        "seconds": round(seconds, 2),
        "novelty": novelty(admitted) if len(admissions) > 1 else {},
    }


def _print(admissions: list[Admission], summary: dict[str, Any], out: Path | None) -> None:
    from heredity.cli.columns import columns

    heads = ("world", "reward", "observation", "semantics", "random", "greedy", "made of")
    cells = [
        [
            one.name,
            *(str(one.meta.get(key, "-")) for key in heads[1:4]),
            *(f"{one.players[key]:.2f}" if one.players else "-" for key in heads[4:6]),
            f"REJECTED ({one.reason}): {one.detail}" if one.reason else ", ".join(one.meta["mechanics"]),
        ]
        for one in admissions
    ]
    typer.echo(columns(heads, cells))
    rejected = ", ".join(f"{count} {reason}" for reason, count in summary["rejected"].items())
    typer.echo(
        f"{summary['composed']} composed, {summary['admitted']} admitted"
        + (f"; rejected: {rejected}" if rejected else "")
    )
    for words, distances in summary["novelty"].items():
        typer.echo(f"{words}: {', '.join(f'{key} {value}' for key, value in distances.items())}")
    if out is not None and summary["admitted"]:
        typer.echo(f"written to {out}; play one with: heredity worlds play ./{out}/NAME")
