"""`heredity bench`: benchmarks of the hot paths."""

from __future__ import annotations

import json

import typer

from heredity.cli.interface import WholeHelp

app = typer.Typer(cls=WholeHelp, no_args_is_help=True, rich_markup_mode=None)

_JSON = typer.Option(False, "--json", help="Print the figures as JSON.")
_REPEATS = typer.Option(5, "--repeats", min=1, help="Timings of each side; ratios are medians of pairs.")


@app.command()
def rollouts(json_output: bool = _JSON, repeats: int = _REPEATS) -> None:
    """Time sandboxed, recorded rollouts against a plain single-process loop with the same policy.

    Example: heredity bench rollouts --json
    """
    from heredity.bench import attempts as benchmark

    figures = benchmark.measure_rollouts(repeats)
    if json_output:
        typer.echo(json.dumps(figures, indent=1))
        return
    rows = [
        [name, mode, *(str(row[mode][k]) for k in benchmark.FIGURES), str(row["floor_ratio"])]
        for name, row in figures["results"].items()
        for mode in benchmark.MODES
    ]
    _table(f"Rollouts, baseline: {figures['baseline']}", ["case", "mode", *benchmark.FIGURES, "floor_ratio"], rows)


@app.command()
def submit(
    json_output: bool = _JSON, repeats: int = typer.Option(200, "--repeats", min=20, help="Submissions.")
) -> None:
    """Time one-episode CartPole submissions over HTTP, sandboxed and synced to disk.

    Example: heredity bench submit --repeats 200
    """
    from heredity.bench import attempts as benchmark

    figures = benchmark.measure_submissions(repeats)
    if json_output:
        typer.echo(json.dumps(figures, indent=1))
        return
    whole = figures["full_episode"]
    rows = [[key, str(figures[key]), str(whole[key])] for key in whole]
    _table("One-episode CartPole submissions over HTTP", ["figure", "starter policy", "500-step policy"], rows)


@app.command("kills")
def kills(
    count: int = typer.Option(200, "--kills", min=1, help="Number of SIGKILLs to send."),
    method: str = typer.Option("parametric", "--method", help="Deterministic method to run."),
    json_output: bool = _JSON,
) -> None:
    """Kill a run at random instants, resume it, and compare it with an undisturbed run.

    Example: heredity bench kills --kills 20 --method parametric
    """
    from heredity.bench import stores as benchmark

    figures = benchmark.measure_kills(count, method, notify=lambda line: typer.echo(line, err=True))
    if json_output:
        typer.echo(json.dumps(figures, indent=1))
    else:
        _table("Kill and resume", ["figure", "value"], [[k, str(v)] for k, v in figures.items()])
    if figures["differing"]:
        raise typer.Exit(1)


@app.command("registry")
def registry(
    json_output: bool = _JSON,
    repeats: int = typer.Option(400, "--repeats", min=20, help="Number of operations of each kind."),
) -> None:
    """Time durable operations on resources at 1,000, 10,000 and 100,000 versions against a bare SQLite insert.

    Example: heredity bench registry --json
    """
    from heredity.bench import stores as benchmark

    figures = benchmark.measure_registry(operations=repeats)
    if json_output:
        typer.echo(json.dumps(figures, indent=1))
        return
    sizes = figures["results"]
    rows = [[key, *(str(row[key]) for row in sizes.values())] for key in next(iter(sizes.values()))]
    _table(f"Registry, baseline: {figures['baseline']}", ["figure", *sizes], rows)


@app.command("worlds")
def worlds(
    json_output: bool = _JSON,
    seconds: float = typer.Option(0.3, "--seconds", min=0.01, help="Seconds for which each world is stepped."),
    rounds: int = typer.Option(
        7, "--rounds", min=1, help="Timings of each world written in rules and of its Python version."
    ),
) -> None:
    """Time steps and resets of every world against a nearly empty loop, and worlds in rules against Python.

    Example: heredity bench worlds --seconds 0.5
    """
    from heredity.bench import attempts as benchmark

    figures, rules = benchmark.measure_worlds(seconds), benchmark.measure_rules(rounds)
    if json_output:
        typer.echo(json.dumps({**figures, "rules": rules}, indent=1))
        return
    rows = [[name, *map(str, row.values())] for name, row in figures["results"].items()]
    _table(f"Worlds, baseline: {figures['baseline']}", ["case", "steps/s", "reset ms", "bare steps/s", "ratio"], rows)
    medians = {key: figures[key] for key in ("median_steps_per_s", "median_reset_ms", "median_ratio")}
    typer.echo(", ".join(f"{key} {value}" for key, value in medians.items()))
    columns = ["case", "lines of Python", "lines of rules", "steps/s, Python", "steps/s, rules", "ratio"]
    rows = [[name, *map(str, row.values())] for name, row in rules["by_world"].items()]
    _table("Worlds in rules alone, baseline: the same worlds in Python", columns, rows)
    low, median, high = (rules[f"ratio_{which}"] for which in ("min", "median", "max"))
    typer.echo(f"{rules['worlds']} worlds in rules: {low} to {high} of Python's speed, median {median}")


@app.command("metrics")
def metrics(
    json_output: bool = _JSON,
    rows: int = typer.Option(1_000_000, "--rows", min=1_000, help="Number of task results in the run."),
    repeats: int = typer.Option(3, "--repeats", min=1, help="Measurements of each format; figures are medians."),
) -> None:
    """Time recomputing every metric of a harness evolution run, and its memory, against a plain group-by.

    Example: heredity bench metrics --rows 100000
    """
    from heredity.bench import run_folders as benchmark

    figures = benchmark.measure_metrics(rows, repeats)
    if json_output:
        typer.echo(json.dumps(figures, indent=1))
        return
    results = figures["results"]
    lines = [[key, *(str(row[key]) for row in results.values())] for key in next(iter(results.values()))]
    _table(f"Metrics of {rows} task results, baseline: {figures['baseline']}", ["figure", *results], lines)
    typer.echo(f"inspecting a split of {benchmark.TASKS} tasks: {figures['inspect_s']} s; load {figures['load']}")


@app.command("bus")
def bus(
    json_output: bool = _JSON,
    participants: int = typer.Option(50, "--participants", min=4, help="Number of participants."),
    messages: int = typer.Option(10_000, "--messages", min=100, help="Requests and replies in each repeat."),
    repeats: int = typer.Option(3, "--repeats", min=1, help="Timings of each side; figures are medians."),
) -> None:
    """Time durable messages between the participants of a team, some of them faulty, against bare queues.

    Example: heredity bench bus --participants 8 --messages 1000
    """
    from heredity.bench import stores as benchmark

    figures = benchmark.measure_bus(participants, messages, repeats)
    if json_output:
        typer.echo(json.dumps(figures, indent=1))
        return
    faults = {f"faults: {key}": value for key, value in figures["faults"].items()}
    rows = [[key, str(value)] for key, value in (figures | faults).items() if key not in ("baseline", "faults")]
    _table(f"Bus of a team, baseline: {figures['baseline']}", ["figure", "value"], rows)


@app.command("judge")
def judge(
    json_output: bool = _JSON,
    seconds: float = typer.Option(3.0, "--seconds", min=0.1, help="Approximate seconds per side and repeat."),
    repeats: int = typer.Option(3, "--repeats", min=1, help="Timings of each side; figures are medians."),
) -> None:
    """Time verdicts on small cases of a compiled program, with all cores busy, against the bare program.

    Example: heredity bench judge --seconds 5
    """
    from heredity.bench import attempts as benchmark

    figures = benchmark.measure_judge(seconds, repeats)
    if json_output:
        typer.echo(json.dumps(figures, indent=1))
        return
    rows = [[key, str(value)] for key, value in figures.items() if key != "baseline"]
    _table(f"Judge of programs, baseline: {figures['baseline']}", ["figure", "value"], rows)


@app.command("view")
def view(
    json_output: bool = _JSON,
    rollouts: int = typer.Option(100_000, "--rollouts", min=1_000, help="Number of rollouts in the suite."),
    repeats: int = typer.Option(5, "--repeats", min=1, help="Number of openings; the figure is their median."),
) -> None:
    """Time opening a folder of many rollouts in `heredity view`, and reading rows anywhere in its lists.

    Example: heredity bench view --rollouts 100000
    """
    from heredity.bench import run_folders as benchmark

    figures = benchmark.measure_view(rollouts, repeats)
    if json_output:
        typer.echo(json.dumps(figures, indent=1))
        return
    _table("Opening a folder", ["figure", "value"], [[key, str(value)] for key, value in figures.items()])


def _table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    from rich.console import Console

    from heredity.pages.report.fitted import FittedTable

    left = sum(column in ("case", "mode", "figure") for column in columns)
    Console().print(FittedTable.plain(columns, rows, left=left, caption=title))
