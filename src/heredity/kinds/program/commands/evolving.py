"""Evolving a user's program: from program and scorer to a suite, and from its results to a summary."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial, wraps
from inspect import signature
from pathlib import Path
from typing import Any, ParamSpec

import tomli_w

from heredity._api import Best, Files, Suite, Work, awaited, blocking, checked
from heredity._core.errors import CandidateError, ConfigError, HeredityError, clean
from heredity._core.outside import read_bytes, read_text
from heredity._core.refusals import reading
from heredity.agents.launchers import agent_key
from heredity.cli.bars import working
from heredity.cli.signals import run_anywhere
from heredity.configuration.config import Config
from heredity.engine.kind import Opening, Workers
from heredity.engine.rollout import RolloutError
from heredity.engine.runner import Job
from heredity.experiments.best import BEST, Winner
from heredity.experiments.config import resolve
from heredity.experiments.preflight import PreflightError
from heredity.experiments.suite import SuiteResult, open_suite
from heredity.kinds.program.kind import KIND, start_program
from heredity.kinds.program.taskset import (
    FILE,
    MOST_BYTES,
    PREFIX,
    STATEMENT,
    ProgramTask,
    ProgramTaskset,
    files_below,
    library_folder,
    read_program_task,
    task_folders,
)
from heredity.methods.operators.evidence import shortened
from heredity.pages.report.sentences import JUDGED, few_seeds
from heredity.records.run_folder import write_atomic
from heredity.results import text
from heredity.results.run import Verdict
from heredity.results.suite import CellResults, SuiteResults, TasksetComparison
from heredity.sandbox.limits import Limits

CONFIGURATION = "evolve.toml"
TASK = "task"
_MOST_SAID = 4_000
"""Characters that are shown of a traceback; of a message half as many."""
_SERVER, _KEY = "server", "OPENAI_API_KEY"
"""Name of the provider at `--base-url`, and the environment variable with its key, if it needs one."""

_OPTIONS = {
    "limits.episode_s": "--seconds",
    "limits.memory_bytes": "--memory",
    "budget.episodes": "--evaluations",
    "run.seeds": "--seeds",
    "evolver.method": "--method",
    "gateway.optimisation": "--model",
    f"gateway.providers.{_SERVER}.base_url": "--base-url",
    f"gateway.providers.{_SERVER}.": "",
    "the configuration: ": "",
}
"""The options that set keys of the configuration; messages name what was typed."""
_DECLARED = {"failure_score": "--failure-score", "stages": "--cascade", "metric": "--metric", "python": "--python"}
"""The same for keys of the task."""

P = ParamSpec("P")


@dataclass(frozen=True)
class Measured:
    """A scorer's results for a program: score, all metrics, texts, and CPU seconds."""

    score: float
    metrics: Mapping[str, float | None]
    texts: Mapping[str, str]
    cpu_s: float


def write_task(
    folder: Path, program: Path, scorer: Path, beside: Sequence[Path], declared: Mapping[str, Any], statement: str
) -> ProgramTask:
    """Write a task's folder from the user's files; if it has runs already, check that its files are the same.

    Args:
        folder: output folder.
        program: start program.
        scorer: the scorer.
        beside: further files and folders that the scorer reads; they are copied next to it.
        declared: content of `task.toml`.
        statement: problem statement, in Markdown.

    Raises:
        ConfigError: if a file cannot be read, two have one name, or the folder is of other files.
    """
    files: dict[str, bytes] = {}
    folders = [path.name or path.resolve().name for path in beside if path.is_dir()]
    for path, name in _files_by_name((program, scorer, *beside)):
        with reading(path, "a plain file", f"give the path of a file of at most {MOST_BYTES >> 20} MiB"):
            content = read_bytes(path, MOST_BYTES)
        if name in files or name in (FILE, STATEMENT):
            raise ConfigError(f"{path}: another file of the task is called {name} too; rename one of them")
        files[name] = content
    table = {"title": program.stem, **declared, "program": program.name, "scorer": scorer.name}
    table |= {"folders": folders} if folders else {}
    files |= {FILE: tomli_w.dumps(table).encode(), STATEMENT: statement.encode()}
    if (folder.parent / "runs").exists() and folder.exists():
        there = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files_below(folder)}
        if changed := sorted(name for name in {*there, *files} if there.get(name) != files.get(name)):
            raise ConfigError(
                f"{folder} was started with another {changed[0]}; choose another --out, or continue it with `heredity resume`"
            )
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / name, content)
    return read_program_task(folder)


def _files_by_name(paths: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Return files, including those in folders, with their names in a task."""
    for path in paths:
        if path.is_dir():
            name = path.name or path.resolve().name
            yield from ((file, f"{name}/{file.relative_to(path).as_posix()}") for file in files_below(path))
        else:
            yield path, path.name


def library_task(name: str) -> Path | None:
    """Return the folder of a built-in task, or None."""
    return task_folders(library_folder()).get(name.removeprefix(PREFIX))


def measure(task: ProgramTask, limits: Limits) -> Measured:
    """Measure the start program of a task, in the sandbox.

    Raises:
        ConfigError: if it fails, with the scorer's or the program's message.
    """
    taskset = ProgramTaskset(f"{PREFIX}{task.folder}", task)
    (drawn,) = taskset.draw("train", 1, 0)

    async def measured() -> Measured:
        runner = KIND.open(Opening(workers=Workers(count=1)))
        try:
            async for _, trajectory in runner.run([Job(taskset.info, start_program(taskset.info), drawn)], limits):
                if trajectory.failure is not None:
                    trace = f"\n{trajectory.failure.traceback[-_MOST_SAID:]}" if trajectory.failure.traceback else ""
                    message = trajectory.failure.message
                    message = f"{shortened(message, _MOST_SAID // 2)}{remedy_of(message)}"
                    raise StartError(f"the start program cannot be scored: {message}{trace}")
                metrics, texts = trajectory.columns["info/metrics"][0], trajectory.columns["info/texts"][0]
                return Measured(trajectory.total_reward, metrics, texts, trajectory.cost["cpu_s"])
            raise RolloutError("nothing was measured")
        finally:
            await runner.close()

    score_of_start = run_anywhere(measured())
    if score_of_start.score < task.declared.failure_return:
        given, value = task.declared.failure_score, task.declared.score_of(score_of_start.score)
        raise ConfigError(
            f"the start program has {value:g}, and a failed one would get {given:g}, which is better; leave "
            "failure_score out, and failed programs rank last"
        )
    return score_of_start


def remedy_of(message: str) -> str:
    """Return the remedy if a program or a scorer misses a package; else an empty text."""
    if "No module named" not in message:
        return ""
    return "; install it into an environment and name that, as in --python venv/bin/python, or give files of yours by --with"


class StartError(HeredityError):
    """The start program cannot be scored; the message may include its traceback."""


@dataclass(frozen=True)
class Outcome:
    """The result of an evolution, as in its report, with the metric's own sign.

    Attributes:
        run_id: the winner's run: of several seeds, the one with the best validation score.
        score: held-out mean over seeds.
        interval: of that mean, over new seeds, or for a single seed over hidden cases; None if not available.
        seeds: held-out score of each seed.
        own: the winner's held-out score.
        start: held-out score of the start program; None if unknown.
        verdict: on the difference between the two: of the method if there are several seeds, else of the program;
            None if there is one case, or nothing to compare with.
    """

    run_id: str
    score: float
    interval: tuple[float, float] | None
    seeds: tuple[float, ...]
    own: float | None
    start: float | None
    verdict: Verdict | None


def outcome_of(task: ProgramTask, suite: SuiteResults, winners: Sequence[Winner]) -> Outcome | None:
    """Return the result of an evolution; None if no program has a held-out score."""
    cells = [cell for taskset in suite.tasksets for cell in taskset.cells if not cell.reference]
    if not cells or not winners:
        return None
    cell, winner = cells[0], winners[0]
    turned = task.declared.score_of
    bounds = None if cell.ci is None or few_seeds(cell) else sorted(map(turned, cell.ci))
    verdict = next((_verdict(c, cell) for c in suite.comparisons.tasksets if cell.evolver in (c.a, c.b)), None)
    own = winner.run.heldout.mean if winner.run.heldout else None
    return Outcome(
        str(winner.run.run_id),
        turned(cell.mean),
        None if bounds is None else (bounds[0], bounds[1]),
        tuple(turned(seed.mean) for seed in cell.seeds),
        None if own is None else turned(own),
        None if cell.reference_mean is None else turned(cell.reference_mean),
        verdict if task.seeded or len(cell.seeds) > 1 else None,
    )


def _verdict(comparison: TasksetComparison, cell: CellResults) -> Verdict:
    """Return the result of comparing an evolver with the start, or with a single seed of its program."""
    comparison = comparison.seen_from(cell.evolver)
    return (comparison.evolvers if len(cell.seeds) > 1 else comparison.candidates).verdict


def outcome_line(outcome: Outcome) -> str:
    """Write an outcome in one line, to follow "best: "."""
    seeds, bounds = outcome.seeds, outcome.interval
    exact = len(seeds) == 1 and bounds is None
    digits = text.decimals_for(text.spread_of([bounds or (None, None)]), outcome.score)

    def shown(value: float) -> str:
        return f"{value:.7g}" if exact else text.number(value, digits)

    line = shown(outcome.score)
    if bounds:
        over = f"{len(seeds)} seeds" if len(seeds) > 1 else "hidden cases"
        line += f" {text.interval(*bounds, digits)} over {over}"
    elif len(seeds) > 1:
        line += f" (mean of seeds {', '.join(map(shown, seeds))})"
    if outcome.start is not None:
        line += f", start {shown(outcome.start)}"
    return line if outcome.verdict is None else f"{line}: {JUDGED[outcome.verdict]}"


def names_of(folder: Path, own: Sequence[Path]) -> dict[str, str]:
    """Return the names in messages, each with the text that the user typed: options, and files copied into the task."""
    task = folder / TASK
    if not own:
        return _OPTIONS
    files = {str(task / path.name): str(path) for path in own}
    options = {f"{task / 'task.toml'}: {key}": option for key, option in _DECLARED.items()}
    return files | options | _OPTIONS


def in_options(text: str, names: Mapping[str, str]) -> str:
    """Return a message in the words that the user typed, as `names_of` gives them."""
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
        if isinstance(error, PreflightError):
            error.lines = [reword(line) for line in error.lines]
        raise


def _model_name(model: str, base_url: str) -> str:
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
        section["optimisation"] = _model_name(model, base_url)
    return {"gateway": section} if section else {}


def _agent(agent: str) -> dict[str, str]:
    """Return the key of an agent; a folder's path is absolute, since the configuration lies in another folder."""
    key = agent_key(agent)
    return {key: str(Path(agent).expanduser().absolute()) if key == "launcher" and "/" in agent else agent}


def _declared(
    metric: str, minimise: bool, failure_score: float | None, cascade: str | Sequence[float]
) -> dict[str, Any]:
    declared: dict[str, Any] = {"metric": metric} if metric else {}
    if minimise:
        declared["minimise"] = True
    if failure_score is not None:
        declared["failure_score"] = failure_score
    if cascade:
        try:
            declared["stages"] = [float(part) for part in (cascade.split(",") if isinstance(cascade, str) else cascade)]
        except ValueError as error:
            raise ConfigError(
                f"--cascade is {cascade!r}; give numbers with commas between, such as 0.5,0.75"
            ) from error
    return declared


def _task(
    folder: Path,
    program: str,
    own: Sequence[Path],
    files: Sequence[str | Path],
    declared: dict[str, Any],
    statement: str | Path | None,
) -> tuple[ProgramTask, str]:
    """Return the task and its taskset's name, written into the folder if it is made of the user's files."""
    if not own:
        if declared or files or statement:
            raise ConfigError(
                "--metric, --minimise, --failure-score, --cascade, --with, --python and --statement go with --scorer; of a task's "
                "folder, task.toml says this"
            )
        if shipped := library_task(program):
            return read_program_task(shipped), f"{PREFIX}{shipped.name}"
        given = Path(program).expanduser()
        if given.is_dir():
            return read_program_task(given), f"{PREFIX}{given.absolute()}"
        raise ConfigError(
            f"{program} is no task; give --scorer with a program, a folder with a task.toml, or see --tasks"
        )
    text = ""
    if statement is not None:
        with reading(Path(statement), "text", "give a file in Markdown"):
            text = read_text(Path(statement))
    task = write_task(folder / TASK, own[0], own[1], own[2:], declared, text)
    return task, f"{PREFIX}./{TASK}"


@dataclass(frozen=True)
class Evolution:
    """Result of evolving a program, with scores in the metric's own sign.

    Attributes:
        suite: the suite behind it, with the runs of all seeds.
        task: the program, its scorer and the declarations about them.
        outcome: the figures that the command prints; None if no program has a held-out score.
    """

    suite: Suite
    task: ProgramTask
    outcome: Outcome | None

    @property
    def folder(self) -> Path:
        """The suite's folder."""
        return self.suite.folder

    @property
    def score(self) -> float | None:
        """Held-out score of the best program, the mean over seeds where there are several; None if there is none."""
        return self.outcome.score if self.outcome else None

    @property
    def start_score(self) -> float | None:
        """Held-out score of the program that evolution began with; None if it is not known."""
        return self.outcome.start if self.outcome else None

    @property
    def files(self) -> Mapping[str, bytes]:
        """Files of the best program, path to content; empty if no program has a score."""
        return self._best.files

    @property
    def text(self) -> str:
        """Source of the best program."""
        return self.files.get(self.task.declared.program, b"").decode(errors="replace")

    @property
    def _best(self) -> Best:
        runs = {run.id: run.best for run in self.suite.runs}
        best = runs.get(self.outcome.run_id) if self.outcome else None
        return best or Best(self.folder / BEST, Files({}))

    def __repr__(self) -> str:
        line = outcome_line(self.outcome) if self.outcome else "no program has a held-out score"
        return f"<Evolution of {self.task.declared.program}: {line}, {self.folder}>"


def prepare(
    program: str | Path,
    scorer: str | Path | None = None,
    *,
    files: Sequence[str | Path] = (),
    python: str | Path | None = None,
    method: str = "map-elites",
    model: str = "",
    base_url: str = "",
    agent: str | None = None,
    evaluations: int = 200,
    seeds: int = 1,
    metric: str = "",
    minimise: bool = False,
    failure_score: float | None = None,
    cascade: str | Sequence[float] = (),
    statement: str | Path | None = None,
    seconds: float = 60.0,
    memory_mib: int = 2048,
    out: str | Path | None = None,
    progress: bool = True,
) -> Work[Evolution]:
    """Evolve a program against a scorer, both in the sandbox, and return the best program.

    Args:
        program: the start program's file; or a task: a folder with a task.toml, or a name that `heredity evolve
            --tasks` lists.
        scorer: Python file with `evaluate(program_path)`, or `verify(answer)` for what `solve()` returns.
        files: further files and folders that the scorer reads.
        python: interpreter of an environment whose packages they import.
        method: search method.
        model: model that writes edits, such as `"openai/gpt-5-mini"`; without one, constants alone are changed.
        base_url: URL of an OpenAI-compatible endpoint.
        agent: coding agent instead of a method: a name such as `"claude-code"`, a folder, or a command.
        evaluations: budget of evaluations per seed.
        seeds: runs with the same budget; 8 for a claim about the method.
        metric: the metric that is the score (by default combined_score, or the mean of all).
        minimise: minimize the metric.
        failure_score: score assigned to failed programs (by default they are ranked last).
        cascade: thresholds of evaluate_stage1 and so on.
        statement: Markdown file with the task's statement, for models and agents.
        seconds: timeout per evaluation, in CPU seconds.
        memory_mib: memory limit per evaluation, in MiB.
        out: output folder (an existing one is resumed).
        progress: show progress on stderr.

    Raises:
        ConfigError: if an argument is wrong or something that it needs is missing.
        CandidateError: if the program that evolution begins with cannot be scored.

    Example:
        >>> best = heredity.evolve("program.py", scorer="scorer.py", evaluations=8, progress=False)
        >>> best.score >= best.start_score, sorted(best.files)
        (True, ['program.py'])
    """
    name = Path(program).stem if scorer else Path(program).name
    folder = Path(out).expanduser() if out else Path("runs") / f"evolve-{name}-{time.strftime('%Y%m%d-%H%M%S')}"
    own = _own_files(program, scorer, files) if scorer else []
    declared = _declared(metric, minimise, failure_score, cascade)
    if python is not None:
        declared["python"] = str(Path(python).expanduser().absolute())
    reword = partial(in_options, names=names_of(folder, own))
    with _reworded(reword):
        task, taskset = _task(folder, str(program), own, files, declared, statement)
        sections: dict[str, dict[str, Any]] = {
            "run": {"protocol": "program-evolution", "name": f"evolve-{name}", "tasksets": [taskset], "seeds": seeds},
            "evolver": {"method": method}
            if agent is None
            else {**_agent(agent), "model": _model_name(model, base_url)},
            "budget": {"episodes": evaluations, "max_per_submit": evaluations},
            "views": {"validation": 16, "heldout": 32} if task.seeded else {"validation": 1, "heldout": 1},
            "limits": {"episode_s": seconds, "memory_bytes": memory_mib << 20},
            **_gateway(model, base_url, agent=agent is not None),
        }
        if not (model or agent is not None or task.declared.program.endswith(".py")):
            raise ConfigError(
                f"{task.declared.program} is not Python, so only a model or an agent can change it; add --model or --agent"
            )
        config = _open(folder, task, sections, progress=progress)

    def conclude(result: SuiteResult) -> Evolution:
        return Evolution(Suite(result), task, outcome_of(task, result.metrics, result.winners))

    return Work(folder, config, progress, conclude, within=partial(_reworded, reword))


def _own_files(program: str | Path, scorer: str | Path, files: Sequence[str | Path]) -> list[Path]:
    """Return the files of a task without a task.toml: the program, the scorer, and those that it reads."""
    own = [Path(path).expanduser() for path in (program, scorer, *files)]
    if own[0].is_dir():
        raise ConfigError(
            f"{program} is a folder; --scorer goes with the file of a program. Of a folder, task.toml says which files are which: "
            f"write one (see docs/evolve.md), then: heredity evolve {program}"
        )
    return own


def _open(folder: Path, task: ProgramTask, sections: dict[str, dict[str, Any]], *, progress: bool) -> Config:
    """Write the folder of an evolution, checked and with a start program that has a score, and return its configuration."""
    config = resolve(sections, base=folder.absolute())
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(folder / CONFIGURATION, tomli_w.dumps(sections).encode())  # for `heredity run`
    checked(config, folder, progress=progress)
    if not (folder / "runs").exists():
        _measure_start(task, config.limits.limits(), progress=progress)
    open_suite(folder, config)
    return config


def _measure_start(task: ProgramTask, limits: Limits, *, progress: bool) -> None:
    try:
        with working("measuring the start program") if progress else nullcontext():
            start = measure(task, limits)
    except StartError as error:
        raise CandidateError(str(error)) from error
    if progress:
        metrics = ", ".join(f"{key} {value:.6g}" for key, value in start.metrics.items() if value is not None)
        score = f"{task.declared.score_of(start.score):.7g}"
        lines = [f"start program: {score} ({metrics}; {start.cpu_s:.2g} s of CPU time)"]
        lines += [f"  {key}: {' '.join(value.split())[:200]}{remedy_of(value)}" for key, value in start.texts.items()]
        sys.stderr.write("".join(f"{clean(line)}\n" for line in lines))


def _in_parameters(function: Callable[P, Work[Evolution]]) -> Callable[P, Work[Evolution]]:
    """Let messages name parameters of Python in place of the command's options."""
    names = {"with": "files", "memory": "memory_mib"} | {
        name.replace("_", "-"): name for name in signature(function).parameters
    }

    def reword(message: str) -> str:
        return re.sub(r"(?<![\w-])--([a-z-]+)", lambda match: names.get(match[1], match[0]), message)

    def both(inner: Callable[[], AbstractContextManager[None]]) -> Callable[[], AbstractContextManager[None]]:
        @contextmanager
        def context() -> Generator[None]:
            with _reworded(reword), inner():
                yield

        return context

    @wraps(function)
    def evolve(*args: P.args, **kwargs: P.kwargs) -> Work[Evolution]:
        with _reworded(reword):
            work = function(*args, **kwargs)
        return replace(work, within=both(work.within))

    evolve.__name__ = "evolve"
    return evolve


evolve = blocking(_in_parameters(prepare), Evolution)
evolve_async = awaited(_in_parameters(prepare), Evolution)
