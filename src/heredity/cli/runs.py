"""Commands for experiments: `heredity run`, `resume`, `report`, `compare`, `verify`, `view`, `demo` and `plan`."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
import webbrowser
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heredity._core.errors import ConfigError, clean
from heredity.cli import interface
from heredity.cli.bars import activity
from heredity.cli.signals import InterruptedRunError, run_interruptibly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heredity._api import Suite
    from heredity.analysis.planning import Pilot
    from heredity.experiments.best import Winner
    from heredity.experiments.estimate import Estimate
    from heredity.experiments.suite import SuiteResult
    from heredity.results.card import Card, Check
    from heredity.results.run import RunResults
    from heredity.results.suite import SuiteResults


def verify(
    folder: Path = typer.Argument(help="Folder of a run or a suite, as published."),
    replay: list[str] = typer.Option(
        None,
        "--replay",
        metavar="candidates|methods|all",
        help="Play candidates again in the sandbox, or run built-in methods again from their seeds.",
    ),
    sample: int | None = typer.Option(
        None, "--sample", min=1, help="Number of rollouts of each run that are played again (all)."
    ),
    strict: bool | None = typer.Option(
        None,
        "--strict/--no-strict",
        help="Exit with 3 if nothing failed but a claim could not be checked.",
        show_default="for published folders",
    ),
    log: list[str] = typer.Option(
        None, "--log", help="Log of the owner's: git repository, file, or address of a Rekor instance; repeat for more."
    ),
    trust: list[Path] = typer.Option(
        None, "--trust", help="File of certificates of a timestamp authority, or of a Rekor instance's key (PEM)."
    ),
    card: Path | None = typer.Option(None, "--card", help="File for the card with all checks."),
    json_output: bool = typer.Option(False, "--json", help="Print the card as JSON and nothing else on stdout."),
) -> None:
    """Check the claims of a run or a suite: its journal, opened cases, blobs, scores, figures and pages.

    Exits with 0 if every check passed, 1 if one failed, and with --strict 3 if a claim could not be checked.

    Example: heredity verify runs/demo-20260101-120000 --replay all --sample 20
    """
    from heredity._core.errors import ConfigError
    from heredity.experiments.verification.cards import save_card
    from heredity.experiments.verification.logs import Given
    from heredity.experiments.verification.verify import Asked, is_published, unproven
    from heredity.experiments.verification.verify import verify as verified

    parts = {"candidates", "methods"} if "all" in (replay or ()) else {*(replay or ())}
    if not parts <= {"candidates", "methods"}:
        raise ConfigError(f"--replay {', '.join(sorted(parts))}: expected candidates, methods or all")
    asked = Asked(
        candidates="candidates" in parts or sample is not None,
        methods="methods" in parts,
        most=sample,
        logs=Given(log or (), trust or ()),
    )
    made = verified(folder, asked, lambda name: typer.echo(f"checking {name}", err=True))
    if is_published(folder) if strict is None else strict:
        made = made.model_copy(update={"unproven": unproven(made)})
    if card is not None:
        save_card(card, made)
    if json_output:
        typer.echo(json.dumps(made.model_dump(mode="json")))
    else:
        _verify_show(made)
        for claim in made.unproven:
            typer.echo(f"not shown: {claim}")
    if any(check.status == "failed" for check in made.checks):
        raise typer.Exit(1)
    if made.unproven:
        raise typer.Exit(3)


def _verify_show(card: Card) -> None:
    from rich.console import Console

    from heredity.pages.report.fitted import FittedTable

    console, rows = Console(), list[list[str]]()
    alike: dict[tuple[str, str, str], list[Check]] = {}
    for check in card.checks:
        # Passed checks are grouped over all runs, failed ones by reason.
        alike.setdefault((check.name, check.status, "" if check.status == "passed" else check.reason), []).append(check)
    for (name, status, reason), checks in alike.items():
        runs = [check.run for check in checks if check.run]
        of = runs[0] if len(runs) == 1 else f"{len(runs)} runs" if runs else ""
        rows.append([name, status, of, reason or (checks[0].reason if len(checks) == 1 else "")])
    console.print(FittedTable.plain(("check", "", "of", "found"), rows, left=4))
    if card.replays:
        console.print(FittedTable.plain(("replayed", "on", "equal", "different", "exempt"), _replay_rows(card), left=2))
    statuses = ("passed", "failed", "not checked")
    console.print(", ".join(f"{sum(c.status == status for c in card.checks)} {status}" for status in statuses))


def _replay_rows(card: Card) -> list[list[str]]:
    """Return a row for each part that was made again, over all runs."""
    rows: list[list[str]] = []
    for what, split in dict.fromkeys((row.what, row.split) for row in card.replays):
        some = [row for row in card.replays if (row.what, row.split) == (what, split)]
        exempt: dict[str, int] = {}
        for row in some:
            for why, count in row.exempt.items():
                exempt[why] = exempt.get(why, 0) + count
        equal, recorded = sum(row.equal for row in some), sum(row.recorded for row in some)
        reasons = "; ".join(f"{count}, as {why}" for why, count in exempt.items())
        rows.append([what, split, f"{equal} of {recorded}", str(sum(row.different for row in some)), reasons or "0"])
    return rows


PORT = 8767


def view(
    folder: Annotated[Path, typer.Argument(help="Folder of a suite, of a run, or of suites.")] = Path("runs"),
    port: Annotated[int, typer.Option("--port", help="TCP port on 127.0.0.1; 0 takes a free one.")] = PORT,
    token: Annotated[
        str,
        typer.Option(
            "--token",
            envvar="HEREDITY_TOKEN",
            help="Prefix of addresses; set the variable, as others can see command lines.",
            show_default="a new one",
        ),
    ] = "",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    read_only: Annotated[bool, typer.Option("--read-only", help="Do not start or stop anything.")] = False,
) -> None:
    """Show runs and suites as pages: live progress, lineage, rollouts, model calls, traces, reports.

    Example: heredity view runs/demo-20260101-120000
    """
    from heredity.experiments.config import headline, suites
    from heredity.pages.live.actions import Actions
    from heredity.pages.live.app import ViewApp
    from heredity.pages.live.place import Place

    if folder == Path("runs"):
        # Without runs, the page starts one.
        folder.mkdir(exist_ok=True)
    served = Place.of(folder)
    kept = served.folder.parent if served.single else served.folder
    app = ViewApp(
        served, None if read_only else Actions(kept), {name: headline(file) for name, file in suites().items()}
    )
    try:
        with activity():
            run_interruptibly(_serve(app, port, token, browser=browser))
    except InterruptedRunError as error:
        raise typer.Exit(error.code) from error


async def _serve(app: object, port: int, token: str, *, browser: bool) -> None:
    from heredity._core.engine_folder import EngineFolder
    from heredity.pages.live.app import ViewApp, serve_view

    assert isinstance(app, ViewApp)
    async with serve_view(app, port=port, token=token) as address:
        typer.echo(f"page: {address}")
        with EngineFolder() as folder:
            if browser:
                await asyncio.to_thread(webbrowser.open, leading_to(address, folder).as_uri())
            await asyncio.Event().wait()


def leading_to(address: str, folder: Path) -> Path:
    """Write a redirect to an address that only this user can read: all users see browsers' command lines."""
    path = folder / "open.html"
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(
            f'<!doctype html><meta http-equiv="refresh" content="0;url={address}"><a href="{address}">heredity view</a>\n'
        )
    return path


_JSON = typer.Option(False, "--json", help="Print the result as JSON and nothing else on stdout.")
_QUIET = typer.Option(False, "--quiet", "-q", help="Print the result without progress.")
_UNSAFE = typer.Option(False, "--unsafe", help="Run with the isolation available here instead of refusing.")
_LINES = 12
"""Number of lines of a prompt to print; its file has the rest."""
_JOBS = typer.Option(None, "--jobs", min=1, help="Number of parallel runs (engine.parallel_runs).")


def run(
    file: str = typer.Argument(
        help="Configuration (TOML) of a run, or of a suite with a matrix; or the name of an installed suite.",
        autocompletion=interface.suites,
    ),
    overrides: list[str] = typer.Argument(
        None, metavar="[KEY=VALUE]...", help="Overrides, such as budget.episodes=64."
    ),
    agent: str | None = typer.Option(
        None,
        "--agent",
        help="Coding agent to run instead of the suite's evolvers: name such as claude-code, folder, or command.",
    ),
    folder: Path = typer.Option(Path("runs"), "--folder", help="Parent folder of suites."),
    out: Path | None = typer.Option(None, "--out", help="Folder of this suite; an existing one is continued."),
    cases: Path | None = typer.Option(None, "--cases", help="Suite whose hidden cases to judge on, for comparison."),
    until: str = typer.Option(
        "", "--until", help='Add seeds to these two entries until one is better, such as "gepa vs random decided".'
    ),
    most_seeds: int | None = typer.Option(
        None, "--most-seeds", min=1, help="With --until: maximum number of seeds (32)."
    ),
    jobs: int | None = _JOBS,
    dry_run: bool = typer.Option(False, "--dry-run", help="Check everything, print the estimated cost, start nothing."),
    canary: bool = typer.Option(False, "--canary", help="Run the costliest single run first, then estimate again."),
    yes: bool = typer.Option(False, "--yes", "-y", help="Do not ask, regardless of the estimated cost."),
    json_output: bool = _JSON,
    quiet: bool = _QUIET,
    unsafe: bool = _UNSAFE,
) -> None:
    """Run an experiment: a run, or a suite of runs, with progress, leaderboard and report.

    Before a suite that may cost more than $5, or whose cost is unknown, it asks. Without a terminal such a suite needs
    --yes, --canary, or a limit in gateway.max_cost_usd.

    Example: heredity run demo --until "parametric vs structural decided" --most-seeds 20
    """
    from heredity import _api

    if dry_run:
        _dry_run(file, overrides or (), agent, folder, json_output=json_output, unsafe=unsafe)
        return

    def approve(made: Estimate) -> None:
        ask(made, quiet=quiet or json_output, agreed=yes or canary)

    with explained(json_output=json_output):
        suite = _api.run(
            file,
            overrides or (),
            agent=agent,
            folder=folder,
            out=out,
            cases=cases,
            until=until,
            most_seeds=most_seeds,
            jobs=jobs,
            unsafe=unsafe,
            progress=not (json_output or quiet),
            canary=canary,
            approve=approve,
        )
        if canary and (result := _after_canary(suite.result, jobs, yes=yes, quiet=json_output or quiet)):
            suite = result
    _conclude(suite.result, json_output=json_output)


_ASK_USD = 5.0
"""Estimated cost in US dollars from which a suite is confirmed."""
_ASK_CALLS = 100
"""Number of calls from which a suite is confirmed if the price of a model is unknown."""


def _dry_run(
    file: str, overrides: Sequence[str], agent: str | None, folder: Path, *, json_output: bool, unsafe: bool
) -> None:
    from heredity import _api
    from heredity.experiments.estimate import lines

    made, missing = _api.dry_run(file, overrides, agent=agent, folder=folder, unsafe=unsafe)
    if json_output:
        typer.echo(json.dumps({**made.to_json(), "missing": missing}, ensure_ascii=False))
    else:
        typer.echo("\n".join(lines(made)))
        for line in missing:
            _say(f"missing: {line}")
    if missing:
        raise typer.Exit(2)


def ask(made: Estimate, *, quiet: bool, agreed: bool) -> None:
    """Show the estimate of a suite that calls paid models; ask before one that may be expensive.

    Raises:
        ConfigError: without a terminal, if nothing allows the cost.
        Exit: if the answer is no.
    """
    from heredity._core.errors import ConfigError
    from heredity.experiments.estimate import lines

    said = lines(made)
    if made.paid and not quiet:
        typer.echo("\n".join(said), err=True)
    cost, calls = made.cost_usd, sum(one.calls.high for one in made.paid)
    unknown = cost is None and calls > _ASK_CALLS
    if agreed or made.limit_usd is not None or not (unknown or (cost is not None and cost.high > _ASK_USD)):
        return
    if quiet or not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise ConfigError(
            f"this suite may cost more than ${_ASK_USD:g}, and nobody can be asked ({said[-1]}); try one run of it with --canary, "
            "set a limit with gateway.max_cost_usd=N, or allow it with --yes"
        )
    if not typer.confirm("Start it? (--canary runs one run first)", err=True):
        raise typer.Exit(1)


def _after_canary(result: SuiteResult, jobs: int | None, *, yes: bool, quiet: bool) -> Suite | None:
    """Report the cost of the first run of a suite, and run the others if that is wanted."""
    from heredity import _api
    from heredity.experiments.estimate import earlier_runs, estimate, lines
    from heredity.experiments.suite import open_suite

    config, folder = open_suite(result.folder), result.folder
    measured = [run for run in earlier_runs(folder.parent) if run.folder.is_relative_to(folder)]
    for name, usage in (item for run in measured for item in run.usage.items()):
        each = "" if not usage.cost_usd else f", ${usage.cost_usd / usage.calls:.2g} each"
        _say(
            f"measured: {usage.calls} calls of {name}{each}; {usage.input_tokens} tokens in, {usage.output_tokens} tokens out"
        )
    made = estimate(config, folder.parent)
    if made.runs == len(measured) or result.failures:
        return None
    typer.echo("\n".join(["the whole suite:", *lines(made)]), err=True)
    asked = not quiet and sys.stdin.isatty() and sys.stderr.isatty()
    if yes or (asked and typer.confirm(f"Run the other {made.runs - len(measured)} runs?", err=True)):
        return _api.resume(folder, jobs=jobs, progress=not quiet)
    _say(f"the others: heredity resume {shlex.quote(str(folder))}")
    return None


def demo(
    folder: Path = typer.Option(Path("runs"), "--folder", help="Parent folder of suites."),
    open_page: bool = typer.Option(True, "--open/--no-open", help="Open the report in a browser if there is a screen."),
    json_output: bool = _JSON,
    quiet: bool = _QUIET,
) -> None:
    """Run the demonstration suite, which takes 60 to 150 seconds, and open its report.

    Example: heredity demo --no-open
    """
    from heredity import _api

    with explained(json_output=json_output):
        result = _api.run("demo", folder=folder, progress=not (json_output or quiet)).result
    if open_page and not json_output and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        import webbrowser

        webbrowser.open((result.folder / "report.html").absolute().as_uri())
    _conclude(result, json_output=json_output)


def resume(
    suite: Path = typer.Argument(help="Folder of the suite, such as runs/demo-20260101-120000."),
    jobs: int | None = _JOBS,
    json_output: bool = _JSON,
    quiet: bool = _QUIET,
) -> None:
    """Resume an interrupted suite; nothing is run or charged twice.

    Example: heredity resume runs/demo-20260101-120000
    """
    from heredity import _api

    with explained(json_output=json_output):
        resumed = _api.resume(suite, jobs=jobs, progress=not (json_output or quiet))
    _conclude(resumed.result, json_output=json_output)


def report(folder: Path = typer.Argument(help="Folder of a suite or a run."), json_output: bool = _JSON) -> None:
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
        _say(f"{name} left out: {reason}")
    if rebuilt.unreadable:
        raise typer.Exit(1)


def compare(
    paths: list[Path] = typer.Argument(
        help="Folders of two or more suites or runs with the same hidden cases; or logs of Inspect, or records of SEAGym."
    ),
    out: Path | None = typer.Option(None, "--out", help="Folder for the comparison's metrics and report."),
    scorer: str = typer.Option("", "--scorer", help="With logs: the scorer to compare (the first one)."),
    cluster: str = typer.Option("", "--cluster", help="With logs: metadata of a sample that names its cluster (none)."),
    minimize: bool = typer.Option(False, "--minimize", help="With logs: lower scores are better."),
    json_output: bool = _JSON,
) -> None:
    """Compare the runs of several suites, judged on the same hidden cases; or evaluations by other tools, paired by sample.

    Example: heredity compare logs/*.eval --out comparison
    """
    from heredity._core.errors import ConfigError
    from heredity.records.run_folder import is_run, is_suite

    of_ours = [is_run(path) or is_suite(path) for path in paths]
    if not any(of_ours) and any(path.exists() for path in paths):
        _compare_records(paths, out, (scorer, cluster), minimize=minimize, json_output=json_output)
        return
    if scorer or cluster or minimize:
        raise ConfigError(
            "--scorer, --cluster and --minimize are for logs of other tools; leave them out for runs and suites"
        )
    _compare_runs(paths, out, json_output=json_output)


def _compare_runs(folders: list[Path], out: Path | None, *, json_output: bool) -> None:
    from heredity.cli.bars import working
    from heredity.experiments.results import compare_folders, write_derived

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


def _compare_records(
    paths: list[Path], out: Path | None, choice: tuple[str, str], *, minimize: bool, json_output: bool
) -> None:
    from rich.console import Console

    from heredity.cli.bars import working
    from heredity.experiments.imports.contract import Choice, compare_records
    from heredity.pages.report import write_page
    from heredity.pages.report.evaluations_page import evaluations_page
    from heredity.pages.report.terminal import render
    from heredity.records.run_folder import write_atomic

    with working("reading logs and comparing them"):
        comparison = compare_records(paths, Choice(*choice), higher_is_better=not minimize)
    page, data = evaluations_page(comparison), json.dumps(comparison.model_dump(mode="json"), indent=1)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        write_atomic(out / "comparison.json", data.encode() + b"\n")
        write_page(out, page)
    if json_output:
        typer.echo(data)
    else:
        Console().print(render(page))
        if out is not None:
            typer.echo(f"report: {out / 'report.html'}")
    for note in comparison.notes:
        _say(note)


@contextmanager
def explained(*, json_output: bool) -> Generator[None]:
    """List missing parts, as JSON too, or how to go on after an interruption; exit with the code that says so."""
    from heredity.experiments.preflight import PreflightError

    try:
        yield
    except PreflightError as error:
        if json_output:
            typer.echo(json.dumps({"missing": error.lines}, ensure_ascii=False))
        typer.echo(f"heredity: {error}", err=True)
        raise typer.Exit(2) from error
    except KeyboardInterrupt as error:
        if not isinstance(error.__cause__, InterruptedRunError):
            raise
        _say(str(error))
        raise typer.Exit(error.__cause__.code) from error


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
    """Print on stderr what failed and how to continue; exit with 1 if a run did not end or its evolver failed."""
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
    """Print the folder of each winner, and the prompts and other texts that evolution changed."""
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
    from heredity.pages.report import page_of
    from heredity.pages.report.terminal import render

    Console().print(render(page_of(metrics, [], report_of(metrics.protocol))))


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
