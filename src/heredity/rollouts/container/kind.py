"""The kind of container tasks: harnesses work with a shell in a container, and what they leave is verified."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heredity.rollouts.container.probing import probe
from heredity.rollouts.container.runner import ContainerRunner
from heredity.rollouts.contract import Runner
from heredity.rollouts.kind import Candidates, Kind, Needs, Opening
from heredity.tasks import Task
from heredity.tasks.containers import read_task


def _open(opening: Opening) -> Runner:
    assert opening.model is not None, "required"
    assert opening.backend is not None, "needed"
    return ContainerRunner(
        opening.model,
        backend=opening.backend,
        programs=opening.programs,
        settings=opening.settings,
        concurrent=min(opening.concurrent, 2 * len(os.sched_getaffinity(0))),
    )


def _shown(task: Task) -> Mapping[str, Any]:
    return {"prompt": read_task(Path(task.spec["folder"])).instruction}


KIND = Kind(
    "container",
    _open,
    Needs(
        model="required",
        purpose="container tasks are worked on",
        offline="offline/shell-worker",
        programs=True,
        containers=True,
    ),
    Candidates(probe=probe),
    shown=_shown,
)
