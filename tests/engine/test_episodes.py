from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import HostError
from heredity.engine.runner import Job
from heredity.kinds.policy import kind
from heredity.kinds.policy.kind import EpisodeRunner
from heredity.resources import Candidate, SourceTree
from heredity.sandbox.limits import Limits
from heredity.tasks.registry import taskset

STILL = "class Policy:\n    def __init__(self, o, a, m): pass\n    def act(self, obs): return 0\n"


def jobs(count: int) -> list[Job]:
    tasks = taskset("gymnasium/CartPole-v1")
    candidate = Candidate.program(SourceTree({"policy.py": STILL}))
    return [Job(tasks.info, candidate, task, episode_index=i) for i, task in enumerate(tasks.draw("train", count, 1))]


async def test_a_worker_that_cannot_start_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kind, "_WORKER_MODULE", "heredity.engine.nothing")
    runner = EpisodeRunner(1)
    try:
        with pytest.raises(HostError, match="an environment worker did not start"):
            await runner.start()
    finally:
        await runner.close()


async def test_a_request_given_up_leaves_the_runner_usable() -> None:
    async with EpisodeRunner(1) as runner:
        stream = runner.run(jobs(64), Limits())
        async for _ in stream:
            break
        await stream.aclose()
        ended = [t async for _, t in runner.run(jobs(4), Limits())]
    assert [t.status for t in ended] == ["ok"] * 4


async def test_two_requests_at_once_get_their_own_answers() -> None:
    import asyncio

    async def lengths(count: int) -> list[int]:
        by_position = {position: t.length async for position, t in runner.run(jobs(count), Limits())}
        return [by_position[position] for position in range(count)]

    async with EpisodeRunner(2) as runner:
        alone = await lengths(12)
        both = await asyncio.gather(lengths(12), lengths(7))
    assert both == [alone, alone[:7]]


def test_the_folder_of_a_killed_process_is_swept_and_that_of_a_living_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    living = EngineFolder()
    pid = os.fork()
    if pid == 0:
        EngineFolder()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    assert len(list(tmp_path.iterdir())) == 2
    third = EngineFolder()
    assert sorted(tmp_path.iterdir()) == sorted([living.path, third.path])
    living.remove()
    third.remove()
    assert list(tmp_path.iterdir()) == []


async def test_trajectories_are_those_of_the_plain_loop_with_its_wrappers_to_the_last_bit() -> None:
    import numpy as np

    from heredity.kinds.policy.environments.taskset import make_from_spec

    source = (
        "class Policy:\n"
        "    def __init__(self, o, a, m): pass\n"
        "    def reset(self, i): self.t = 0\n"
        "    def act(self, obs):\n"
        "        self.t += 1\n"
        "        return {action}\n"
    )
    for name, action in (("CartPole-v1", "self.t % 2"), ("MountainCar-v0", "1"), ("Pendulum-v1", "[0.5]")):
        tasks = taskset(f"gymnasium/{name}")
        (task,) = tasks.draw("train", 1, 5)
        candidate = Candidate.program(SourceTree({"policy.py": source.format(action=action)}))
        async with EpisodeRunner(1) as runner:
            ((_, ours),) = [pair async for pair in runner.run([Job(tasks.info, candidate, task)], Limits())]
        env = make_from_spec(tasks.info.spec)
        seen, rewards, flags = [env.reset(seed=task.spec["seed"])[0]], [], (False, False)
        while not any(flags):
            step = eval(action, {"self": type("S", (), {"t": len(rewards) + 1})})
            step = step if isinstance(step, int) else np.array(step, dtype=np.float32)
            observation, reward, *flags, _ = env.step(step)
            seen.append(observation)
            rewards.append(float(reward))
        assert np.array_equal(ours.columns["obs"], np.array(seen))
        assert ours.columns["reward"].tolist() == rewards
        assert (ours.columns["terminated"][-1], ours.columns["truncated"][-1]) == tuple(flags)


async def test_workers_that_are_still_starting_end_with_who_starts_them(monkeypatch: pytest.MonkeyPatch) -> None:
    started, both = list[subprocess.Popen[bytes]](), asyncio.Event()
    begin = kind._start_worker

    def kept(connection: socket.socket) -> subprocess.Popen[bytes]:
        started.append(begin(connection))
        if started[1:]:
            both.set()
        return started[-1]

    async def never(reader: asyncio.StreamReader) -> bool:
        return await asyncio.get_running_loop().create_future()

    monkeypatch.setattr(kind, "_start_worker", kept)
    monkeypatch.setattr(kind, "_answers", never)
    async with EpisodeRunner(workers=2) as runner:
        starting = asyncio.create_task(runner.start())
        await both.wait()
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        assert all(process.poll() is not None for process in started)
