from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.kinds.container.folders import write_task

from heredity._core.errors import ConfigError
from heredity.engine.question_runner import SolvingRunner
from heredity.engine.runner import Job
from heredity.experiments.config import resolve
from heredity.experiments.engine import Engine
from heredity.kinds.container.format import read_task
from heredity.resources import Candidate, SourceTree
from heredity.sandbox.bubblewrap_root import available
from heredity.sandbox.limits import Limits
from heredity.tasks import Task, TasksetInfo

INFO = TasksetInfo("tasks/small", "1", "container", {}, {}, "Small.", 0.0)
CANDIDATE = Candidate({"prompt/system": SourceTree({"prompt.md": "Work."})})


def engine(gateway: Mapping[str, str], containers: str = "bubblewrap") -> Engine:
    data = {"run": {"tasksets": ["tasks/data"]}, "gateway": dict(gateway), "engine": {"containers": containers}}
    return Engine(resolve(data), ["container"])


@pytest.mark.skipif(available() is not None, reason="container tasks cannot be isolated here")
async def test_container_tasks_are_attempted_in_both_halves_of_a_run(tmp_path: Path) -> None:
    task = read_task(write_task(tmp_path))
    spec = {"folder": str(task.folder), "digest": task.digest}
    async with engine({"execution": "offline/rule-follower"}) as running:
        for split in ("train", "heldout"):
            jobs = [Job(INFO, CANDIDATE, Task(f"{split}/0", split, 0, spec))]
            [(_, trajectory)] = [pair async for pair in running.run(jobs, Limits())]
            assert (trajectory.status, trajectory.total_reward) == ("ok", 0.0)


async def test_container_tasks_need_a_model() -> None:
    with pytest.raises(
        ConfigError, match=r"container tasks are worked on by a language model: .* offline/shell-worker"
    ):
        async with engine({}):
            pass


async def test_an_unknown_backend_is_refused() -> None:
    with pytest.raises(ConfigError, match="unknown backend of containers 'chroot'; known: bubblewrap, docker"):
        async with engine({"execution": "offline/rule-follower"}, "chroot"):
            pass


async def test_the_longest_run_of_a_matrix_says_how_long_an_attempt_may_take() -> None:
    matrix = {"limits.episode_s": [20.0, 900.0]}
    data = {"run": {"tasksets": ["questions/reasoning-gym/gcd"]}, "gateway": {"execution": "offline/rule-follower"}}
    async with Engine(resolve({**data, "matrix": matrix}), ["question"]) as running:
        runner = running.under().train["question"]
        assert isinstance(runner, SolvingRunner)
        assert runner.settings.seconds == 900.0
