"""`heredity worlds admit`: a world at the gates, and its certificate."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heredity.cli import world_folders
from heredity.errors import ConfigError

if TYPE_CHECKING:
    from heredity.worlds.gates.admit import Admission
    from heredity.worlds.gates.contract import GateReport
    from heredity.worlds.world import World


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
        Path | None, typer.Option("--out", help="Where the certificate is written; the folder itself by default.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            min=0,
            help="What all chance of the gates comes from.",
            show_default="0; drawn afresh for a world with hooks",
        ),
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the certificate.")] = False,
) -> None:
    """Execute the seven gates on a world and write a certificate; the exit code is 1 if it is rejected.

    Example: heredity worlds admit ./my-world --out certificates
    """
    from heredity.cli.bars import bar
    from heredity.worlds.gates.admit import GATES
    from heredity.worlds.gates.admit import admit as execute
    from heredity.worlds.gates.contract import Subject
    from heredity.worlds.world import is_path, sound_worlds, world

    if (Path(name) / "env_main.py").is_file():
        hidden = secrets.randbelow(2**31) if seed is None else seed
        _finish(world_folders.admission(Path(name), hidden), out or Path(name), as_json=as_json)
        return
    made = _of_folder(Path(name)) if is_path(name) else world(name)
    if not is_path(name) and out is None:
        raise ConfigError(f"{name} is installed, and its folder is left as it is; name a folder with --out")
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
    """Return the world of a plain folder, whose rules are YAML; its levels are generated where none are shipped.

    Raises:
        ConfigError: if it has Python, which is never run here.
    """
    from heredity.worlds.gates.wrapping import set_shipped
    from heredity.worlds.world import World

    if (folder / "dynamics.py").exists():
        raise ConfigError(
            f"{folder} has dynamics.py, and the Python of a plain folder is not run here; install its package and give its name"
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
    from heredity.cli.columns import columns

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
                lines.append(f"  to see it: {finding.level}, actions {trace}")
    unjudged = any(report.unjudged for report in admission.gates)
    verdict = "admitted" if admission.admitted else "not judged" if unjudged else "rejected"
    return "\n".join([*lines, f"{admission.world} is {verdict} (seed {admission.seed}); {path} says so"])
