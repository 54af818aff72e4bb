"""`heredity worlds play`: plays a world in the terminal."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heredity._core.errors import ConfigError
from heredity._core.outside import json_value
from heredity.cli.bars import activity
from heredity.kinds.world.commands import folders as world_folders

if TYPE_CHECKING:
    from heredity.kinds.world.description import ActionDescription, Description
    from heredity.kinds.world.episode import Episode
    from heredity.kinds.world.pictures import Picture

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
        world_folders.play(name, level, seed)
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
        params[key] = _number(text) if number else text
    return {"action": name, "params": params}


def _number(text: str) -> int | float | str:
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
