"""Evolving one's own program: from a program and a scorer to a suite, and from its results to what they say of the program."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from heredity.errors import ConfigError, HeredityError
from heredity.evolution.operators.evidence import shortened
from heredity.experiments.best import Winner
from heredity.outside import read_bytes
from heredity.records.run_folder import write_atomic
from heredity.refusals import reading
from heredity.reports.cells import few_seeds
from heredity.reports.sentences import JUDGED
from heredity.results import text
from heredity.results.run import Verdict
from heredity.results.suite import CellResults, SuiteResults, TasksetComparison
from heredity.rollouts.contract import Job
from heredity.rollouts.kind import Opening, Workers
from heredity.rollouts.program.kind import KIND, start_program
from heredity.rollouts.rollout import RolloutError
from heredity.sandbox.limits import Limits
from heredity.tasks.programs.task import (
    FILE,
    MOST_BYTES,
    STATEMENT,
    ProgramTask,
    files_below,
    library_folder,
    read_program_task,
    task_folders,
)
from heredity.tasks.programs.taskset import PREFIX, ProgramTaskset

CONFIGURATION = "evolve.toml"
TASK = "task"
_MOST_SAID = 4_000
"""Characters that are shown of a traceback; of a message half as many."""


@dataclass(frozen=True)
class Measured:
    """What a scorer said of a program: its score, all metrics, the texts, and processor seconds."""

    score: float
    metrics: Mapping[str, float | None]
    texts: Mapping[str, str]
    cpu_s: float


def write_task(
    folder: Path, program: Path, scorer: Path, beside: Sequence[Path], declared: Mapping[str, Any], statement: str
) -> ProgramTask:
    """Write a task's folder from one's own files; where runs have begun on it, check that it is of the same files.

    Args:
        folder: where it goes.
        program: what evolution begins with.
        scorer: what measures it.
        beside: further files and folders that the scorer reads; they are put beside it.
        declared: what `task.toml` says.
        statement: what is asked, in Markdown.

    Raises:
        ConfigError: if a file cannot be read, two have one name, or the folder is of other files.
    """
    files: dict[str, bytes] = {}
    folders = [path.name or path.resolve().name for path in beside if path.is_dir()]
    for path, name in _named((program, scorer, *beside)):
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
                f"{folder} was begun with another {changed[0]}; choose another --out, or go on there with `heredity resume`"
            )
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / name, content)
    return read_program_task(folder)


def _named(paths: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Return files, and those of folders, with what they are called in a task."""
    for path in paths:
        if path.is_dir():
            name = path.name or path.resolve().name
            yield from ((file, f"{name}/{file.relative_to(path).as_posix()}") for file in files_below(path))
        else:
            yield path, path.name


def library_task(name: str) -> Path | None:
    """Return the folder of a task that comes with Heredity, or None."""
    return task_folders(library_folder()).get(name.removeprefix(PREFIX))


def measure(task: ProgramTask, limits: Limits) -> Measured:
    """Measure the program that a task begins with, in the sandbox.

    Raises:
        ConfigError: if it fails; with what the scorer or the program said.
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

    score_of_start = asyncio.run(measured())
    if score_of_start.score < task.declared.failure_return:
        given, value = task.declared.failure_score, task.declared.score_of(score_of_start.score)
        raise ConfigError(
            f"the start program has {value:g}, and one that fails counts {given:g}, which is better; leave "
            "failure_score out, and what fails ranks below everything else"
        )
    return score_of_start


def remedy_of(message: str) -> str:
    """Return what to do where a program or a scorer says that a package is missing; else nothing."""
    if "No module named" not in message:
        return ""
    return "; install it into an environment and name that, as in --python venv/bin/python, or give files of yours by --with"


class StartError(HeredityError):
    """The program that is to be evolved cannot be scored as it is; the message may hold its traceback."""


def write_configuration(folder: Path, table: Mapping[str, Mapping[str, Any]]) -> Path:
    """Write the suite of an evolution, for `heredity run` too, and return its path."""
    path = folder / CONFIGURATION
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(path, tomli_w.dumps(table).encode())
    return path


@dataclass(frozen=True)
class Outcome:
    """What an evolution came to, as its report says it, with the metric's own sign.

    Attributes:
        run_id: the run whose program is the winner: of several seeds, the one with the best validation score.
        score: held-out mean over seeds.
        interval: of that mean, over new seeds, or of a single seed over hidden cases; None where there is none.
        seeds: held-out score of each seed.
        own: the winner's held-out score.
        start: held-out score of the start program; None if it is not known.
        verdict: on the difference between the two: of the method where there are several seeds, else of the program; None where
            there is one case, or nothing to compare with.
    """

    run_id: str
    score: float
    interval: tuple[float, float] | None
    seeds: tuple[float, ...]
    own: float | None
    start: float | None
    verdict: Verdict | None


def outcome_of(task: ProgramTask, suite: SuiteResults, winners: Sequence[Winner]) -> Outcome | None:
    """Return what an evolution came to; None if no program has a held-out score."""
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
    """Return what a comparison with the start says of an evolver, or with a single seed of its program."""
    verdict = (comparison.evolvers if len(cell.seeds) > 1 else comparison.candidates).verdict
    if comparison.a == cell.evolver:
        return verdict
    return {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}.get(verdict, verdict)


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
