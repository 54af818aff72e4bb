"""`heredity init`: write a small starter project, one kind for each use."""

from __future__ import annotations

import json
import shlex
from importlib.resources import files
from pathlib import Path

import typer

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.cli import interface


def init(
    kind: str = typer.Argument(
        "",
        help="policy, prompts, harness, post-training, worlds, program, team or agent-eval (default: list them).",
        autocompletion=interface.projects,
    ),
    folder: Path | None = typer.Argument(None, help="Folder to write, new or empty (default: KIND)."),
    json_output: bool = typer.Option(False, "--json", help="Print JSON instead of text."),
) -> None:
    """Write a small project that runs as it is: a configuration, your own part, a test, a README.

    Example: heredity init policy my-policy
    """
    offered = kinds()
    if not kind:
        _list(offered, json_output=json_output)
        return
    if kind not in offered:
        raise UnknownNameError("kind of project", kind, offered)
    target = folder or Path(kind)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ConfigError(f"{target} exists and is not empty; give another folder: heredity init {kind} FOLDER")
    written = _copy_files(offered[kind], target)
    if json_output:
        typer.echo(json.dumps({"kind": kind, "folder": str(target), "files": written}, indent=1))
        return
    typer.echo("\n".join(f"wrote {target / name}" for name in written))
    typer.echo(f"next: cd {shlex.quote(str(target))} && {_next_command(target)}")
    typer.echo(f"{target / 'README.md'} explains the files and the next steps")


def _next_command(folder: Path) -> str:
    """Return the command that runs a project: its suite, or else the first one that its README gives."""
    if (folder / "suite.toml").is_file():
        return "heredity run suite.toml"
    lines = (folder / "README.md").read_text(encoding="utf-8").splitlines()
    return next(line.partition("  # ")[0].rstrip() for line in lines if line.startswith("heredity "))


def kinds() -> dict[str, Path]:
    """Return the folder of each kind of project."""
    root = Path(str(files("heredity.library") / "projects"))
    return {path.name: path for path in sorted(root.iterdir()) if (path / "README.md").is_file()}


def _list(offered: dict[str, Path], *, json_output: bool) -> None:
    from heredity.cli.bars import columns

    abouts = {
        name: path.joinpath("README.md").read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
        for name, path in offered.items()
    }
    if json_output:
        typer.echo(json.dumps([{"kind": name, "about": about} for name, about in abouts.items()], indent=1))
    else:
        typer.echo(columns(("project", "what it is"), list(abouts.items())))
        typer.echo("\nheredity init KIND FOLDER writes one")


def _copy_files(source: Path, target: Path) -> list[str]:
    """Copy a project's files without Python's caches; return their names."""
    names = sorted(
        str(path.relative_to(source))
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
    for name in names:
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((source / name).read_bytes())
    return names
