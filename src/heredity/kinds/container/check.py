"""Validating task folders: the format, the solution, which must pass, and doing nothing, which must not."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heredity._core.errors import ConfigError, HostError
from heredity.kinds.container import forging
from heredity.kinds.container.format import read_task
from heredity.kinds.container.verification import ContainerRollout, attempt, oracle, solve
from heredity.sandbox.containers.contract import Backend, ContainerSandbox
from heredity.sandbox.containers.task import ContainerTask

_FORGING = "/tmp/forging.py"

THRESHOLD = 1.0
"""Default minimum reward that counts as success; a task's `metadata.success_threshold` overrides it."""


@dataclass(frozen=True, slots=True)
class CheckedTask:
    """The findings on one task folder.

    Attributes:
        folder: the task's folder.
        name: the task's name; the folder's if it cannot be read.
        oracle: reward of the solution (None if there is none).
        noop: reward of doing nothing; None if there is none.
        faults: problems that make the task unusable.
        notes: further remarks.
        warnings: ways for an agent to get an unearned reward.
        seconds: wall time of the check.
    """

    folder: Path
    name: str
    oracle: float | None = None
    noop: float | None = None
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0


def task_folders(folder: Path) -> list[Path]:
    """Return the task folders at or below a folder, sorted.

    Raises:
        ConfigError: if there are none.
    """
    folders = sorted(path.parent for path in folder.rglob("task.toml"))
    if not folders:
        raise ConfigError(f"{folder} has no task.toml, nor has any folder below it; name a task or a folder of tasks")
    return folders


def success_threshold(task: ContainerTask) -> float:
    """Return the minimum reward that counts as success.

    Raises:
        ConfigError: if the task's `metadata.success_threshold` is not a number.
    """
    threshold = task.metadata.get("success_threshold", THRESHOLD)
    if type(threshold) not in (int, float):
        raise ConfigError(
            f"{task.folder / 'task.toml'}: metadata.success_threshold is {threshold!r}; expected a number; correct it"
        )
    return float(threshold)


async def check_tasks(backend: Backend, folder: Path, concurrent: int = 2) -> list[CheckedTask]:
    """Check every task at or below a folder, in the order of their paths. A duplicate name is a fault.

    Raises:
        ConfigError: if there is none, or `concurrent` is below 1.
        IsolationError: if this machine cannot isolate them.
    """
    if concurrent < 1:
        raise ConfigError(f"concurrent is {concurrent}; expected 1 or more")
    places = asyncio.Semaphore(concurrent)

    async def checked(path: Path) -> CheckedTask:
        async with places:
            return await check_task(backend, path)

    return _apart(await asyncio.gather(*map(checked, task_folders(folder))))


def _apart(tasks: Sequence[CheckedTask]) -> list[CheckedTask]:
    """Add a fault to tasks with duplicate names, since their records would be mixed up."""
    places: dict[str, list[Path]] = {}
    for task in tasks:
        places.setdefault(task.name, []).append(task.folder)
    marked: list[CheckedTask] = []
    for task in tasks:
        others = ", ".join(str(path) for path in places[task.name] if path != task.folder)
        fault = f"{task.folder} has the name {task.name}, and so has {others}; rename one of them"
        marked.append(replace(task, faults=(*task.faults, fault)) if others else task)
    return marked


async def check_task(backend: Backend, folder: Path) -> CheckedTask:
    """Read a task, attempt it with its solution and with nothing, and return the findings.

    Raises:
        IsolationError: if this machine cannot isolate it.
    """
    started = time.monotonic()
    try:
        task = read_task(folder)
        least = success_threshold(task)
        idle, solved = await attempt(backend, task, None), await oracle(backend, task)
    except (ConfigError, HostError) as error:
        return CheckedTask(folder, folder.name, faults=(str(error),), seconds=time.monotonic() - started)
    faults = [*_errors("the solution", solved), *_errors("doing nothing", idle)]
    if solved.verdict.reward is not None and solved.verdict.reward < least:
        output = solved.verdict.output.strip()[-500:]
        faults.append(f"the solution gets {solved.verdict.reward:g}, and {least:g} is success: {output or 'no output'}")
    if idle.verdict.reward is not None and idle.verdict.reward >= least:
        faults.append(f"doing nothing gets {idle.verdict.reward:g}, and {least:g} is success already")
    return CheckedTask(
        folder=folder,
        name=task.name,
        oracle=solved.verdict.reward,
        noop=idle.verdict.reward,
        faults=tuple(faults),
        notes=tuple(_notes(task, solved)),
        warnings=() if faults else tuple(_warnings(await attempt(backend, task, _forge))),
        seconds=time.monotonic() - started,
    )


def _errors(who: str, rollout: ContainerRollout) -> list[str]:
    verdict = rollout.verdict
    return [] if verdict.status == "ok" else [f"{who}: {verdict.status}: {verdict.message}"]


async def _forge(sandbox: ContainerSandbox, task: ContainerTask) -> None:
    """Solve a task, then have each of its programs write the reward where a verifier runs it."""
    await solve(sandbox, task)
    await sandbox.upload(Path(forging.__file__), _FORGING)
    await sandbox.exec(f"python3 {_FORGING}; rm {_FORGING}")


def _warnings(forged: ContainerRollout) -> list[str]:
    if forged.verdict.reward != forging.FORGED:
        return []
    return [
        "a program that the agent leaves can write the reward: the verifier runs it as the user who does; let it decide when that "
        "program has ended and clear /logs/verifier before (docs/containers.md), or set verifier.environment_mode = 'separate'"
    ]


def _notes(task: ContainerTask, solved: ContainerRollout) -> list[str]:
    notes = [f"unknown key {key}" for key in task.unknown_keys]
    if task.environment.network.mode != "no-network":
        notes.append(f"network_mode is {task.environment.network.mode}; without Docker there is no network")
    notes += [f"the solution leaves a process behind: {command}" for command in solved.leftovers]
    return notes
