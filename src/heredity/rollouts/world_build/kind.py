"""The kind of builds: what attempts a task is a folder of files that are to be a world."""

from __future__ import annotations

import os
from pathlib import Path

from heredity.resources import Candidate, SourceTree
from heredity.rollouts.contract import Runner
from heredity.rollouts.kind import Candidates, Kind, Opening
from heredity.rollouts.world_build.runner import BuildRunner
from heredity.tasks import TasksetInfo
from heredity.worlds.themes.taskset import KIND as NAME

THEME = "theme.md"
"""The file that holds what a world is about."""


def _open(opening: Opening) -> Runner:
    return BuildRunner(opening.workers.count or os.cpu_count() or 1)


def _starter(info: TasksetInfo) -> Candidate:
    return Candidate.program(SourceTree({THEME: f"{info.public['theme']}\n"}))


def _read(folder: Path) -> Candidate:
    return Candidate.program(SourceTree.from_folder(folder))


KIND = Kind(NAME, _open, candidates=Candidates(starter=_starter, read=_read), usage=lambda trajectory: None)
