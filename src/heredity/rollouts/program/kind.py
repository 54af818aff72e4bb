"""The kind of program tasks: what attempts one is a program, and a scorer measures it."""

from __future__ import annotations

from pathlib import Path

from heredity.resources import Candidate, SourceTree
from heredity.resources.candidate import AGENT
from heredity.results.status import Status
from heredity.rollouts.contract import Runner
from heredity.rollouts.kind import Candidates, Kind, Needs, Opening
from heredity.rollouts.program.runner import ProgramRunner, read_task
from heredity.rollouts.trajectory import Failure
from heredity.tasks import TasksetInfo
from heredity.tasks.programs.taskset import KIND as NAME


def _open(opening: Opening) -> Runner:
    return ProgramRunner(opening.workers.count)


def start_program(info: TasksetInfo) -> Candidate:
    """Return the program that a task begins with."""
    task = read_task(str(info.spec["folder"]), str(info.spec["digest"]))
    return Candidate.program(SourceTree({task.declared.program: task.program}))


def _read(folder: Path) -> Candidate:
    return Candidate.program(SourceTree.from_folder(folder))


def _refusal(candidate: Candidate) -> Failure | None:
    if AGENT in candidate.parts:
        return None
    return Failure(Status.MISSING_POLICY, "there is no program; submit a folder with the program that evolves")


KIND = Kind(
    NAME,
    _open,
    Needs(confined=True, commands=True),
    Candidates(starter=start_program, read=_read, refusal=_refusal),
    usage=lambda trajectory: None,
)
