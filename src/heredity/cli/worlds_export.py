"""`heredity worlds export`: a world for other people's programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heredity.errors import ConfigError, UnknownNameError

if TYPE_CHECKING:
    from heredity.worlds.world import World

FORMATS = ("autoenv", "gymnasium", "verifiers")


def export(
    world_name: Annotated[
        str,
        typer.Argument(
            help="A world, such as grid_treasure or composed-7, or the path of a folder whose world.yaml has rules.",
            metavar="WORLD",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Argument(help="A folder that does not exist yet.", metavar="OUT", show_default=False)],
    form: Annotated[str, typer.Option("--format", help=f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}.")] = "autoenv",
    skin: Annotated[
        str, typer.Option("--skin", help="What is seen: text, inverse, or a picture in gymnasium.")
    ] = "text",
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Export a world so that it runs without Heredity, and plays the same.

    Formats: autoenv, a folder of AutoEnv-36; gymnasium, a package with an environment; verifiers, a package with a taskset.

    Example: heredity worlds export grid_treasure exported --format gymnasium
    """
    from heredity.bridges.autoenv import autoenv_folder
    from heredity.bridges.files import write_files
    from heredity.bridges.packages import gymnasium_package, verifiers_package

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
            f"{world_name} as {form}: {len(files)} files, {total // 1024} KiB in {out}; its README.md says what it needs"
        )
        if made.dynamics.hooks is not None:
            typer.echo("its hooks are code of its author, which runs there without the sandbox that it has here")


def shipping_world(name: str) -> World:
    """Return a world by its name, or that of a folder in rules by its path; levels are made where it ships none.

    Raises:
        ConfigError: if it is a folder in another form, or faulty.
        UnknownNameError: if there is no such world.
    """
    from heredity.worlds.folder import is_folder
    from heredity.worlds.gates.wrapping import set_shipped
    from heredity.worlds.world import is_path, world

    if is_folder(name):
        raise ConfigError(
            f"{name} has code of its own, or no world.yaml; expected a world's name, or a folder in rules alone"
        )
    made = world(name)
    if is_path(name) and not (made.folder / "levels.json").exists():
        set_shipped(made, made.make_shipped())
    return made
