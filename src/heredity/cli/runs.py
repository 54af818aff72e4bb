"""`heredity run | resume | report | compare`: experiments from the command line."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from heredity.cli import completion
from heredity.cli.signals import InterruptedRunError, run_interruptibly
from heredity.errors import ConfigError, IsolationError, MissingExtraError, RecordError, RunLockedError, clean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heredity.configuration.config import Config
    from heredity.experiments.best import Winner
    from heredity.experiments.suite import SuiteResult
    from heredity.results.run import RunResults
    from heredity.results.suite import SuiteResults

_JSON = typer.Option(False, "--json", help="Print the result as JSON and nothing else on stdout.")
_QUIET = typer.Option(False, "--quiet", "-q", help="Show no progress; print the result alone.")
_UNSAFE = typer.Option(False, "--unsafe", help="Run with the isolation that works here, rather than refuse.")
_LINES = 12
"""Lines of a prompt that are printed; the rest is in its file."""
_JOBS = typer.Option(None, "--jobs", min=1, help="Runs at the same time (engine.parallel_runs).")


def run(
    file: str = typer.Argument(
        help="Configuration (TOML), one run or a suite with a matrix; or an installed suite's name.",
        autocompletion=completion.suites,
    ),
    overrides: list[str] = typer.Argument(None, metavar="[KEY=VALUE]...", help="Such as budget.episodes=64."),
    agent: str | None = typer.Option(
        None, "--agent", help="Coding agent instead of the matrix: a name such as claude-code, a folder, or a command."
    ),
    folder: Path = typer.Option(Path("runs"), "--folder", help="Where suites are kept."),
    out: Path | None = typer.Option(None, "--out", help="This suite's own folder; continued if it is there already."),
    cases: Path | None = typer.Option(None, "--cases", help="Judge on the hidden cases of this suite, to compare."),
    until: str = typer.Option(
        "", "--until", help='Run these two entries seed after seed until told apart, such as "gepa vs random decided".'
    ),
    most_seeds: int | None = typer.Option(None, "--most-seeds", min=1, help="With --until: run no more seeds (32)."),
    jobs: int | None = _JOBS,
    json_output: bool = _JSON,
    quiet: bool = _QUIET,
    unsafe: bool = _UNSAFE,
) -> None:
    """Run an experiment: a run, or a suite of runs, with progress, leaderboard and report.

    Example: heredity run demo --until "parametric vs structural decided" --most-seeds 20
    """
    from heredity.experiments.config import load
    from heredity.experiments.sealed import adopt_cases
    from heredity.experiments.sequence import begin, seeds_of
    from heredity.experiments.suite import forget_unbegun, new_suite_folder, open_suite
    from heredity.experiments.suites import suite_file
    from heredity.launchers import agent_key

    changes: dict[str, Any] = {} if agent is None else {f"evolver.{agent_key(agent)}": agent, "matrix": {}}
    if jobs:
        changes["engine.parallel_runs"] = jobs
    if unsafe:
        changes["engine.unsafe"] = True
    config = load(suite_file(file), list(overrides or ()), changes)
    if until:
        changes["run.seeds"] = seeds_of(config.run.seeds, most_seeds)
        config = load(suite_file(file), list(overrides or ()), changes)
    elif most_seeds is not None:
        raise ConfigError('--most-seeds goes with --until; add --until "A vs B decided", or set run.seeds')
    suite = out if out is not None else new_suite_folder(folder, config)
    fresh = not suite.exists()
    require_all(config, suite, json_output=json_output)
    if cases is not None:
        adopt_cases(suite, cases)
    try:
        if until:
            begin(suite, config, until)
        result = execute(suite, open_suite(suite, config), silent=json_output or quiet)
        _conclude(result, json_output=json_output)
    except (ConfigError, MissingExtraError, IsolationError):
        if fresh:
            forget_unbegun(suite)
        raise


def demo(
    folder: Path = typer.Option(Path("runs"), "--folder", help="Where suites are kept."),
    open_page: bool = typer.Option(
        True, "--open/--no-open", help="Open the report in a browser, where there is a screen."
    ),
    json_output: bool = _JSON,
    quiet: bool = _QUIET,
) -> None:
    """Run the demonstration suite, which takes 60 to 150 seconds, and open its report.

    Example: heredity demo --no-open
    """
    from heredity.experiments.config import load
    from heredity.experiments.suite import new_suite_folder, open_suite
    from heredity.experiments.suites import suite_file

    config = load(suite_file("demo"))
    suite = new_suite_folder(folder, config)
    require_all(config, suite, json_output=json_output)
    result = execute(suite, open_suite(suite, config), silent=json_output or quiet)
    if open_page and not json_output and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        import webbrowser

        webbrowser.open((result.folder / "report.html").absolute().as_uri())
    _conclude(result, json_output=json_output)


def resume(
    suite: Path = typer.Argument(help="The suite's folder, such as runs/demo-20260101-120000."),
    jobs: int | None = _JOBS,
    json_output: bool = _JSON,
    quiet: bool = _QUIET,
) -> None:
    """Continue an interrupted suite: nothing is run or charged twice.

    Example: heredity resume runs/demo-20260101-120000
    """
    from heredity.experiments.suite import open_suite, with_jobs

    config = open_suite(suite)
    require_all(config, suite, json_output=json_output)
    resumed = with_jobs(config, jobs) if jobs else config
    _conclude(execute(suite, resumed, silent=json_output or quiet), json_output=json_output)


def report(folder: Path = typer.Argument(help="A suite's or a run's folder."), json_output: bool = _JSON) -> None:
    """Rebuild metrics.json, report.md and report.html from the records.

    Example: heredity report runs/demo-20260101-120000
    """
    from heredity.cli.bars import working
    from heredity.experiments.results import rebuild

    with working("reading records and writing reports"):
        rebuilt = rebuild(folder)
    if json_output:
        typer.echo(json.dumps(rebuilt.metrics.model_dump(mode="json"), indent=1))
    else:
        _show(rebuilt.metrics)
        show_winners(rebuilt.winners)
        typer.echo(f"report: {folder / 'report.html'}")
    for name, reason in rebuilt.unreadable.items():
        _say(f"{name} was left out: {reason}")
    if rebuilt.unreadable:
        raise typer.Exit(1)


def compare(
    folders: list[Path] = typer.Argument(help="Two or more suites or runs with the same hidden cases."),
    out: Path | None = typer.Option(None, "--out", help="Write the comparison's metrics and report into this folder."),
    json_output: bool = _JSON,
) -> None:
    """Compare runs of several suites as one; only runs judged on the same hidden cases are paired.

    Example: heredity compare runs/first runs/second --out runs/both
    """
    from heredity.cli.bars import working
    from heredity.experiments.comparison import compare_folders
    from heredity.experiments.results import write_derived

    with working("reading records and comparing runs"):
        comparison = compare_folders(folders)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        write_derived(out, comparison.metrics, comparison.runs)
    if json_output:
        typer.echo(json.dumps(comparison.metrics.model_dump(mode="json"), indent=1))
    else:
        _show(comparison.metrics)
        if out is not None:
            typer.echo(f"report: {out / 'report.html'}")
    for note in comparison.notes:
        _say(note)


def require_all(
    config: Config, suite: Path, *, json_output: bool, reword: Callable[[str], str] = lambda line: line
) -> None:
    """Refuse what cannot run here, with everything that is missing, and say the notes on tasksets.

    Args:
        config: the suite's configuration.
        suite: its folder.
        json_output: print what is missing as JSON, too.
        reword: puts a refusal into the words of the command.
    """
    from heredity.cli.bars import working
    from heredity.experiments.preflight import PreflightError, require

    try:
        with working("checking that everything it needs is here"):
            notes = require(config, suite)
    except PreflightError as error:
        if json_output:
            typer.echo(json.dumps({"missing": [reword(line) for line in error.lines]}, ensure_ascii=False))
        typer.echo(f"heredity: {reword(str(error))}", err=True)
        raise typer.Exit(2) from error
    for note in notes:
        _say(note)


def execute(suite: Path, config: Config, *, silent: bool) -> SuiteResult:
    """Run or continue a suite with its progress on stderr, unless silently; an interruption says how to go on."""
    from heredity.cli.live import watcher_for
    from heredity.experiments.progress import RunProgress, Silent
    from heredity.experiments.results import report_of
    from heredity.experiments.suite import run_suite

    runs: list[RunProgress] = []
    watcher = Silent() if silent else watcher_for(runs, suite, report_of(config.run.protocol).words)
    try:
        with watcher:
            return run_interruptibly(run_suite(suite, config, watcher, runs))
    except InterruptedRunError as error:
        _say(f"interrupted; nothing is lost: heredity resume {shlex.quote(str(suite))}")
        raise typer.Exit(error.code) from error
    except RunLockedError:
        raise
    except RecordError as error:
        raise RecordError(f"{error}; then: heredity resume {shlex.quote(str(suite))}") from error


def _conclude(result: SuiteResult, *, json_output: bool) -> None:
    page = result.folder / "report.html"
    if json_output:
        paths = {"folder": str(result.folder), "report": str(page)}
        problems = {"failures": result.failures, "evolver_failures": result.evolver_failures, "notes": result.notes}
        best = [
            {"taskset": w.taskset, "evolver": w.evolver, "run_id": w.run.run_id, "folder": str(w.folder)}
            for w in result.winners
        ]
        typer.echo(json.dumps({**paths, "best": best, **problems, **result.metrics.model_dump(mode="json")}))
    else:
        _show(result.metrics)
        show_winners(result.winners)
        typer.echo(f"report: {page}")
    say_problems(result)


def say_problems(result: SuiteResult) -> None:
    """Say on stderr what went wrong and how to go on; the exit code is 1 if a run did not end or its evolver failed."""
    from heredity.experiments.suite import REPORT
    from heredity.results.text import listed

    about_tasksets = {run.taskset for run in result.runs}  # before they began
    for name, note in result.notes.items():
        if name not in about_tasksets:
            _say(f"{name}: {note}")
    for name, reason in result.evolver_failures.items():
        _say(f"{name}: its evolver failed: {reason}")
    for reason in dict.fromkeys(result.failures.values()):
        names = [name for name, why in result.failures.items() if why == reason]
        _say(reason if REPORT in names else f"{listed(names)} did not end: {reason}")
    if result.failures:
        _say(f"continue with: heredity resume {shlex.quote(str(result.folder))}")
    if result.failures or result.evolver_failures:
        raise typer.Exit(1)


def show_winners(winners: Sequence[Winner]) -> None:
    """Print where each winner's files are, and of prompts and other resources the texts that evolution changed."""
    from heredity.results.text import clean, number, short_task

    for winner in winners:
        of = f" of {short_task(winner.taskset)}" if len(winners) > 1 else ""
        heldout = winner.run.heldout and winner.run.heldout.mean
        score = "" if heldout is None else f", held-out {number(heldout)}"
        typer.echo(f"best{of}: {winner.folder} ({winner.evolver}, seed {winner.run.seed}{score})")
        prompts = {path: text for path, text in winner.changed.items() if path.startswith("prompt/")}
        for path, text in prompts.items():
            lines = clean(text.strip()).splitlines()
            rest = [f"... {len(lines) - _LINES} more lines"] if len(lines) > _LINES else []
            typer.echo("\n".join([f"  {path}:", *(f"    {line}" for line in [*lines[:_LINES], *rest])]))
        if others := [path for path in winner.changed if path not in prompts]:
            typer.echo(f"  changed: {', '.join(others)}")


def _say(line: str) -> None:
    typer.echo(clean(" ".join(line.splitlines())), err=True)


def _show(metrics: RunResults | SuiteResults) -> None:
    from rich.console import Console

    from heredity.experiments.results import report_of
    from heredity.reports import page_of
    from heredity.reports.terminal import render

    Console().print(render(page_of(metrics, [], report_of(metrics.protocol))))
