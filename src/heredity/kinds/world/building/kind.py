"""The kind of builds: a candidate is a folder of files that should form a world."""

from __future__ import annotations

import os
from pathlib import Path

from heredity.engine.kind import Candidates, Kind, Needs, Opening
from heredity.engine.runner import Runner
from heredity.kinds.world.building.runner import BuildRunner
from heredity.kinds.world.themes.taskset import KIND as NAME
from heredity.resources import Candidate, SourceTree
from heredity.tasks import TasksetInfo

THEME = "theme.md"
"""The file that holds the theme."""


def _open(opening: Opening) -> Runner:
    return BuildRunner(opening.workers.count or os.cpu_count() or 1)


def _starter(info: TasksetInfo) -> Candidate:
    return Candidate.program(SourceTree({THEME: f"{info.public['theme']}\n"}))


def _read(folder: Path) -> Candidate:
    return Candidate.program(SourceTree.from_folder(folder))


KIND = Kind(
    NAME,
    _open,
    Needs(reads=("limits.episode_s",)),
    Candidates(starter=_starter, read=_read),
    usage=lambda trajectory: None,
)
