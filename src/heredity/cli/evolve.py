"""`heredity evolve`: the shortest way in: one's own program, one's own scorer, and the best that was found."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from heredity.errors import CandidateError, ConfigError, HeredityError, clean

if TYPE_CHECKING:
    from heredity.experiments.evolving import Measured
    from heredity.experiments.suite import SuiteResult
    from heredity.tasks.programs.task import ProgramTask

_SERVER, _KEY = "server", "OPENAI_API_KEY"
"""What the provider is called that `--base-url` names, and the variable that has its key, if it wants one."""

_OPTIONS = {
    "limits.episode_s": "--seconds",
    "limits.memory_bytes": "--memory",
    "budget.episodes": "--evaluations",
    "run.seeds": "--seeds",
    "evolver.method": "--method",
    "gateway.optimisation": "--model",
    f"gateway.providers.{_SERVER}.base_url": "--base-url",
    f"gateway.providers.{_SERVER}.": "",
}
"""The options that set keys of the configuration; messages name what was typed."""
_DECLARED = {"failure_score": "--failure-score", "stages": "--cascade", "metric": "--metric", "python": "--python"}
"""The same for keys of the task."""

_WITH = typer.Option([], "--with", help="A file or a folder that the scorer reads; give it once for each.")
_PYTHON = typer.Option(
    None, "--python", help="Interpreter of an environment whose packages they import, such as venv/bin/python."
)
_BASE_URL = typer.Option("", "--base-url", help="URL of an OpenAI-compatible endpoint.")
_MODEL = typer.Option(
    "",
    "--model",
    help="Model that writes edits, such as openai/gpt-5 (default: none).",
)
_QUIET = typer.Option(False, "--quiet", "-q", help="Show no progress; print the result alone.")
_FAILURE = typer.Option(None, "--failure-score", help="Score assigned to failed programs (default: ranked last).")
_SECONDS = "Processor seconds that an evaluation may take; by the clock 4 times as many, and 20 more to start."
_STATEMENT = typer.Option(None, "--statement", help="Markdown that says what is asked, for models and agents.")


def evolve(
    program: str = typer.Argument(
        help="The program to begin with; or a task: a folder with a task.toml, or one that `heredity evolve --tasks` lists.",
        default="",
    ),
    scorer: Path | None = typer.Option(
        None, "--scorer", help="Python file with evaluate(program_path), or verify(answer) for what solve() returns."
    ),
    beside: list[Path] = _WITH,
    python: Path | None = _PYTHON,
    method: str = typer.Option(
        "map-elites", "--method", help="map-elites, parametric or another method; with --agent, none."
    ),
    model: str = _MODEL,
    base_url: str = _BASE_URL,
    agent: str | None = typer.Option(
        None, "--agent", help="Coding agent instead of a method: a name such as claude-code, a folder, or a command."
    ),
    evaluations: int = typer.Option(
        200, "--evaluations", min=1, max=1_000_000, help="How often a program may be measured, for each seed."
    ),
    seeds: int = typer.Option(
        1, "--seeds", min=1, max=10_000, help="Runs with the same budget; 8 for a claim about the method."
    ),
    metric: str = typer.Option(
        "", "--metric", help="The metric that is the score; combined_score, or the mean of all."
    ),
    minimise: bool = typer.Option(False, "--minimise", help="Minimize the metric."),
    failure_score: float | None = _FAILURE,
    cascade: str = typer.Option("", "--cascade", help="Thresholds of evaluate_stage1 and so on, such as 0.5,0.75."),
    statement: Path | None = _STATEMENT,
    seconds: float = typer.Option(60.0, "--seconds", min=0.1, max=1e8, help=_SECONDS),
    memory_mib: int = typer.Option(2048, "--memory", min=64, max=1 << 30, help="MiB that an evaluation may have."),
    out: Path | None = typer.Option(None, "--out", help="Its folder; continued if it is there already."),
    quiet: bool = _QUIET,
    tasks: bool = typer.Option(False, "--tasks", help="List the tasks that come with Heredity, and exit."),
    json_output: bool = typer.Option(False, "--json", help="Print the result as JSON and nothing else on stdout."),
) -> None:
    """Evolve a program by what a scorer says of it; both run in the sandbox.

    Example: heredity evolve program.py --scorer evaluator.py --model openai/gpt-5 --evaluations 100
    """
    if tasks:
        _list(json_output)
        return
    if not program:
        raise ConfigError("name a program and its --scorer, or a task of `heredity evolve --tasks`")
    if scorer and Path(program).expanduser().is_dir():
        raise ConfigError(
            f"{program} is a folder; --scorer goes with the file of a program. Of a folder, task.toml says which files are which: "
            f"write one (see docs/evolve.md), then: heredity evolve {program}"
        )
    name = Path(program).stem if scorer else Path(program).name
    folder = out or Path("runs") / f"evolve-{name}-{time.strftime('%Y%m%d-%H%M%S')}"
    declared = _declared(metric, minimise, failure_score, cascade)
    if python is not None:
        declared["python"] = str(python.expanduser().absolute())
    own = (Path(program), scorer, *beside) if scorer else ()
    reword = partial(_in_options, names=_names(folder, [path.expanduser() for path in own]))
    with _reworded(reword):
        task, taskset = _task(folder, program, scorer, beside, declared, statement)
    sections: dict[str, dict[str, Any]] = {
        "run": {"protocol": "program-evolution", "name": f"evolve-{name}", "tasksets": [taskset], "seeds": seeds},
        "evolver": {"method": method} if agent is None else {**_agent(agent), "model": _named(model, base_url)},
        "budget": {"episodes": evaluations, "max_per_submit": evaluations},
        "views": {"validation": 16, "heldout": 32} if task.seeded else {"validation": 1, "heldout": 1},
        "limits": {"episode_s": seconds, "memory_bytes": memory_mib << 20},
        **_gateway(model, base_url, agent=agent is not None),
    }
    with _reworded(reword):
        _run(folder, task, sections, reword, json_output=json_output, quiet=quiet)


def _names(folder: Path, own: Sequence[Path]) -> dict[str, str]:
    """Return what messages call things, and what the user typed: options, and the files that were copied into the task."""
    from heredity.experiments.evolving import CONFIGURATION, TASK

    task = folder / TASK
    names = {f"{folder / CONFIGURATION}: ": "", **_OPTIONS}
    if not own:
        return names
    files = {str(task / path.name): str(path) for path in own}
    options = {f"{task / 'task.toml'}: {key}": option for key, option in _DECLARED.items()}
    return files | options | names


def _in_options(text: str, names: Mapping[str, str]) -> str:
    for name, typed in names.items():
        text = text.replace(name, typed)
    return text


@contextmanager
def _reworded(reword: Callable[[str], str]) -> Generator[None]:
    """Let errors name the options and the files that were typed, in place of the configuration that was written from them."""
    try:
        yield
    except HeredityError as error:
        error.args = (reword(str(error)),)
        raise


def _run(
    folder: Path,
    task: ProgramTask,
    sections: dict[str, dict[str, Any]],
    reword: Callable[[str], str],
    *,
    json_output: bool,
    quiet: bool,
) -> None:
    from heredity.cli.bars import working
    from heredity.cli.runs import execute, require_all
    from heredity.experiments.config import load
    from heredity.experiments.evolving import StartError, measure, write_configuration
    from heredity.experiments.suite import open_suite

    asked = "optimisation" in sections.get("gateway", {}) or "method" not in sections["evolver"]
    if not (asked or task.declared.program.endswith(".py")):
        raise ConfigError(
            f"{task.declared.program} is no Python, so a model or an agent has to change it; add --model or --agent"
        )
    config = load(write_configuration(folder, sections))
    require_all(config, folder, json_output=json_output, reword=reword)
    if not (folder / "runs").exists():
        try:
            with working("measuring the start program"):
                start = measure(task, config.limits.limits())
        except StartError as error:
            raise CandidateError(str(error)) from error
        if not quiet:
            _tell(start, task)
    result = execute(folder, open_suite(folder, config), silent=json_output or quiet)
    _conclude(task, result, json_output=json_output)


def _named(model: str, base_url: str) -> str:
    return f"{_SERVER}/{model.removeprefix(f'{_SERVER}/')}" if base_url else model


def _gateway(model: str, base_url: str, *, agent: bool) -> dict[str, dict[str, Any]]:
    """Return the section that says what model writes edits, and where it is."""
    if base_url and not model:
        raise ConfigError("--base-url is where a model is; name it with --model")
    if base_url and not base_url.startswith(("http://", "https://")):
        raise ConfigError(f"--base-url is {base_url!r}; give an address such as http://127.0.0.1:8000/v1")
    server: dict[str, Any] = {"base_url": base_url} | ({"api_key_env": _KEY} if os.environ.get(_KEY) else {})
    section: dict[str, Any] = {"providers": {_SERVER: server}} if base_url else {}
    if model and not agent:
        section["optimisation"] = _named(model, base_url)
    return {"gateway": section} if section else {}


def _agent(agent: str) -> dict[str, str]:
    """Return the key of an agent; a folder's path is absolute, since the configuration lies elsewhere."""
    from heredity.launchers import agent_key

    key = agent_key(agent)
    return {key: str(Path(agent).expanduser().absolute()) if key == "launcher" and "/" in agent else agent}


def _declared(metric: str, minimise: bool, failure_score: float | None, cascade: str) -> dict[str, Any]:
    declared: dict[str, Any] = {"metric": metric} if metric else {}
    if minimise:
        declared["minimise"] = True
    if failure_score is not None:
        declared["failure_score"] = failure_score
    if cascade:
        try:
            declared["stages"] = [float(part) for part in cascade.split(",")]
        except ValueError as error:
            raise ConfigError(
                f"--cascade is {cascade!r}; give numbers with commas between, such as 0.5,0.75"
            ) from error
    return declared


def _task(
    folder: Path,
    program: str,
    scorer: Path | None,
    beside: list[Path],
    declared: dict[str, Any],
    statement: Path | None,
) -> tuple[ProgramTask, str]:
    """Return the task and its taskset's name, written into the folder where it is one's own files."""
    from heredity.experiments.evolving import TASK, library_task, write_task
    from heredity.outside import read_text
    from heredity.refusals import reading
    from heredity.tasks.programs.task import read_program_task
    from heredity.tasks.programs.taskset import PREFIX

    if scorer is None:
        if declared or beside or statement:
            raise ConfigError(
                "--metric, --minimise, --failure-score, --cascade, --with, --python and --statement go with --scorer; of a task's "
                "folder, task.toml says this"
            )
        if own := library_task(program):
            return read_program_task(own), f"{PREFIX}{own.name}"
        given = Path(program).expanduser()
        if given.is_dir():
            return read_program_task(given), f"{PREFIX}{given.absolute()}"
        raise ConfigError(
            f"{program} is no task; give --scorer with a program, a folder with a task.toml, or see --tasks"
        )
    text = ""
    if statement is not None:
        with reading(statement, "text", "give a file in Markdown"):
            text = read_text(statement)
    return write_task(folder / TASK, Path(program).expanduser(), scorer, beside, declared, text), f"{PREFIX}./{TASK}"


def _conclude(task: ProgramTask, result: SuiteResult, *, json_output: bool) -> None:
    """Say what the runs came to, as the report does; without a program that has a score, nothing was done."""
    from heredity.cli.runs import say_problems
    from heredity.experiments.best import BEST
    from heredity.experiments.evolving import outcome_line, outcome_of

    page, outcome = result.folder / "report.html", outcome_of(task, result.metrics, result.winners)
    best = result.folder / BEST
    if json_output:
        import json

        keys = ("score", "interval", "seeds", "start", "verdict")
        figures = {key: getattr(outcome, key) for key in keys} if outcome else {"score": None}
        where = {"best": str(best), "run": outcome.run_id} if outcome else {"best": None}
        problems = {"failures": result.failures, "evolver_failures": result.evolver_failures}
        typer.echo(json.dumps({"folder": str(result.folder), "report": str(page), **where, **figures, **problems}))
    else:
        if outcome is None:
            typer.echo("no program has a held-out score; the report says why")
        else:
            record = task.declared.best_known
            typer.echo(f"best: {outcome_line(outcome)}{'' if record is None else f'; best known {record:.7g}'}")
            own = outcome.own if len(outcome.seeds) > 1 and not task.seeded else None
            typer.echo(f"program: {best / task.declared.program}{'' if own is None else f', {own:.7g}'}")
        typer.echo(f"report: {page}")
    say_problems(result)
    if outcome is None:
        raise typer.Exit(1)


def _shown(score: float, task: ProgramTask) -> str:
    return f"{task.declared.score_of(score):.7g}"


def _list(json_output: bool) -> None:
    import json

    from heredity.cli.columns import columns
    from heredity.tasks.programs.task import library_folder, read_program_task, task_folders

    tasks = [read_program_task(folder) for folder in task_folders(library_folder()).values()]
    if json_output:
        rows = [
            {
                "name": t.name,
                "title": t.declared.title,
                "best_known": t.declared.best_known,
                "minimise": t.declared.minimise,
            }
            for t in tasks
        ]
        typer.echo(json.dumps(rows))
        return
    best = {task.name: task.declared.best_known for task in tasks}
    shown = {name: "" if value is None else f" (best known {value:.7g})" for name, value in best.items()}
    rows = [(task.name, f"{task.declared.title}{shown[task.name]}") for task in tasks]
    typer.echo(columns(("task", "what is sought"), rows))


def _say(line: str) -> None:
    typer.echo(clean(line), err=True)


def _tell(start: Measured, task: ProgramTask) -> None:
    from heredity.experiments.evolving import remedy_of

    metrics = ", ".join(f"{key} {value:.6g}" for key, value in start.metrics.items() if value is not None)
    _say(f"start program: {_shown(start.score, task)} ({metrics}; {start.cpu_s:.2g} s of the processor)")
    for key, text in start.texts.items():
        _say(f"  {key}: {' '.join(text.split())[:200]}{remedy_of(text)}")
