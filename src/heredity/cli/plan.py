"""`heredity plan`: how many seeds and held-out cases distinguish two entries, and at which cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from heredity._core.errors import ConfigError

if TYPE_CHECKING:
    from heredity.analysis.planning import Pilot


def plan(
    source: str = typer.Argument(
        help="Folder of a suite, whose runs are the pilot; or a suite (name or TOML) with --pilot.",
    ),
    pilot: Path | None = typer.Option(None, "--pilot", help="Folder of earlier runs to use as the pilot."),
    between: str = typer.Option("", "--between", help='Two entries, such as "gepa vs random" (default: the two best).'),
    taskset: str = typer.Option("", "--taskset", help="Plan for one taskset, in its units (default: all)."),
    effect: float | None = typer.Option(
        None, "--effect", help="Difference to detect (default: the smallest that the pilot's size detects)."
    ),
    normalised: bool = typer.Option(False, "--normalised", help="The effect on one taskset is in normalised scores."),
    power: float = typer.Option(0.8, "--power", help="Probability of detecting the difference, between 0.5 and 1."),
    tests: int | None = typer.Option(None, "--tests", min=1, help="Tests in the family (default: those of the suite)."),
    out: Path | None = typer.Option(None, "--out", help="File for a page with power curves, such as plan.html."),
    json_output: bool = typer.Option(False, "--json", help="Print the result as JSON and nothing else on stdout."),
) -> None:
    """Plan seeds and held-out cases from a pilot; for a suite without one, estimate its calls and cost.

    Example: heredity plan runs/demo-20260101-120000 --between "gepa vs random" --effect 5
    """
    from heredity.analysis.planning import Wanted
    from heredity.analysis.planning import plan as planned
    from heredity.experiments.results import read_pilot

    if not 0.5 < power < 1.0:
        raise ConfigError(f"--power {power:g} is not between 0.5 and 1; give a fraction such as 0.8")
    if effect is not None and not 0.0 < effect < float("inf"):
        raise ConfigError(f"--effect is {effect:g}; give a number above 0")
    if pilot is None and not Path(source).is_dir() and effect is None and not (between or taskset or out):
        _estimated(source, json_output=json_output)
        return
    folder = _pilot_folder(source, pilot)
    read = read_pilot(folder)
    family = tests if tests is not None or pilot is None else _tests_of(source, one=bool(taskset))
    result = planned(read, Wanted(_pair(read, between), _taskset(read, taskset), effect, normalised, power, family))
    if out is not None:
        _write(out, result)
    if json_output:
        typer.echo(json.dumps(result.model_dump(mode="json")))
        return
    from rich.console import Console

    from heredity.pages.report.plan_page import plan_page
    from heredity.pages.report.terminal import render

    Console().print(render(plan_page(result)))
    if out is not None:
        typer.echo(f"plan: {out}")


def _estimated(source: str, *, json_output: bool) -> None:
    """Print the estimate of a suite that has not been run."""
    from heredity.experiments.config import load, suite_file
    from heredity.experiments.estimate import estimate, lines

    made = estimate(load(suite_file(source)), Path("runs"))
    if json_output:
        typer.echo(json.dumps(made.to_json()))
        return
    typer.echo("\n".join(lines(made)))
    pilot = f"runs/{suite_file(source).stem}-pilot"
    typer.echo(
        f"with other settings: heredity run {source} --dry-run KEY=VALUE\n"
        f"for seeds and cases: heredity run {source} --out {pilot} run.seeds=4, then heredity plan {pilot}"
    )


def _pilot_folder(source: str, pilot: Path | None) -> Path:
    from heredity.experiments.config import suite_file
    from heredity.experiments.results import is_suite

    if pilot is not None:
        suite_file(source)
        return pilot
    if is_suite(Path(source)):
        return Path(source)
    if Path(source).is_dir():
        raise ConfigError(f"{source} does not hold a suite; give a suite's folder, such as runs/demo-20260101-120000")
    file = suite_file(source)
    made = f"runs/{file.stem}-pilot"
    raise ConfigError(
        f"{source} has not been run, and a plan needs a pilot: heredity run {source} --out {made} run.seeds=4, then heredity plan "
        f"{made}; or give earlier runs with --pilot FOLDER"
    )


def _tests_of(source: str, *, one: bool) -> int:
    """Return the number of tests between evolvers that a suite will have, over all its tasksets or on single ones."""
    import math

    from heredity.experiments.config import cells, load, suite_file

    runs = cells(load(suite_file(source)))
    pairs, tasksets = math.comb(len({cell.label for cell in runs}), 2), len({cell.taskset for cell in runs})
    return max(1, pairs * (tasksets if one else 1))


def _pair(pilot: Pilot, between: str) -> tuple[str, str]:
    from heredity.analysis.ranking import standings
    from heredity.experiments.sequence import pair_of

    entries = pilot.entries
    if between:
        return pair_of(between, entries)
    if len(entries) < 2:
        raise ConfigError(
            f"the pilot has one entry ({', '.join(entries)}), and a plan compares two; add an entry and run it again"
        )
    table = standings({t.name: t.means for t in pilot.tasksets}, entries, {t.name: t.family for t in pilot.tasksets})
    first, second = sorted(entries, key=lambda entry: -(table[entry].rank_score or 0.0))[:2]
    return first, second


def _taskset(pilot: Pilot, name: str) -> str:
    fitting = [t.name for t in pilot.tasksets if t.name == name] or [t.name for t in pilot.tasksets if name in t.name]
    if name and len(fitting) != 1:
        raise ConfigError(
            f"--taskset {name} matches {len(fitting)} tasksets; give one of {', '.join(t.name for t in pilot.tasksets)}"
        )
    return fitting[0] if name else ""


def _write(out: Path, result: object) -> None:
    from heredity.pages.report import html
    from heredity.pages.report.plan_page import plan_page
    from heredity.records.run_folder import write_atomic
    from heredity.results.suite import Plan

    assert isinstance(result, Plan)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(out, html.render(plan_page(result)).encode())
