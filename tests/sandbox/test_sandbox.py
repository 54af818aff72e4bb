from __future__ import annotations

import asyncio
import importlib.util
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.kinds.policy.environments import EnvironmentTaskset, environment_spec
from heredity.kinds.policy.kind import EpisodeRunner
from heredity.resources import Candidate, SourceTree
from heredity.sandbox.limits import Limits

HEAD = """class Policy:
    def __init__(self, obs_space, action_space, env_meta):
        self.t = 0
    def reset(self, episode_index):
        self.index = episode_index
    def act(self, obs):
        self.t += 1
"""

BALANCE = HEAD + "        return int(obs[2] + 0.5 * obs[3] > 0)\n"

WANDER = HEAD + (
    "        field = int(obs['image'][3, 5, 0]) + int(obs['direction']) + len(obs['mission'])\n"
    "        return (field + self.t * self.t) % 3\n"
)

PROGRAMS = {
    "syntax": "class Policy:\n    def act(self obs):\n        pass\n",
    "shape": HEAD + "        return [[1, 0], [0, 1]]\n",
    "nan": HEAD + "        return float('nan')\n",
    "text": HEAD + "        return 'left'\n",
    "nothing": HEAD + "        return None\n",
    "step 17": HEAD + "        if self.t == 18:\n            raise ValueError('boom')\n        return self.t % 2\n",
    "hang": HEAD + "        while self.t > 3:\n            pass\n        return 0\n",
    "memory": HEAD + "        self.kept = bytearray(2 << 30)\n        return 0\n",
    "exit": HEAD + "        import os\n        os._exit(0)\n",
    "crash": HEAD + "        import ctypes\n        ctypes.string_at(0)\n",
    "closed pipe": HEAD + "        import os, time\n        os.closerange(3, 99)\n        time.sleep(60)\n",
    "deep source": "x = " + "-" * 100_000 + "1\n" + BALANCE,
    "denied": "import heredity\n" + BALANCE,
    "denied later": HEAD + "        import torch\n        return 0\n",
    "missing": "x = 1\n",
    "constructor": "class Policy:\n    def __init__(self, *args):\n        raise KeyError('colour')\n",
    "import hangs": "import time\ntime.sleep(60)\n" + BALANCE,
    "exit on import": "import os\nos._exit(3)\n",
}

EXPECTED = {
    "syntax": ("import_error", None, 'File "policy.py", line 2', "SyntaxError"),
    "shape": ("invalid_action", 0, 'File "policy.py", line 6, in act', "shape ()"),
    "nan": ("invalid_action", 0, 'File "policy.py", line 6, in act', "must be finite"),
    "text": ("invalid_action", 0, 'File "policy.py", line 6, in act', "must be numeric"),
    "nothing": ("invalid_action", 0, 'File "policy.py", line 6, in act', "must be numeric"),
    "step 17": ("act_error", 17, 'File "policy.py", line 9, in act', "ValueError: boom"),
    "hang": ("rollout_timeout", 3, 'File "policy.py", line 6, in act', "0.8 s"),
    "memory": ("oom", 0, 'File "policy.py", line 8, in act', "MemoryError"),
    "exit": ("act_error", 0, 'File "policy.py", line 6, in act', "ended itself"),
    "crash": ("act_error", 0, 'File "policy.py", line 6, in act', "SIGSEGV"),
    "closed pipe": ("act_error", 0, 'File "policy.py", line 6, in act', "closed its pipe to the host"),
    "deep source": ("import_error", None, "", "nests too deeply to be compiled"),
    "denied": ("denied_import", None, 'File "policy.py", line 1', "'heredity' is not available"),
    "denied later": ("denied_import", 0, 'File "policy.py", line 8, in act', "'torch' is not available"),
    "missing": ("missing_policy", None, "", "neither a class Policy nor make_policy"),
    "constructor": ("init_error", None, 'File "policy.py", line 3, in __init__', "KeyError: 'colour'"),
    "import hangs": ("init_timeout", None, "", "importing and constructing"),
    "exit on import": ("import_error", None, "", "exit status 3"),
}


def jobs(environment: str, programs: Sequence[str], episodes: int = 1, entropy: int = 5) -> list[Job]:
    taskset = EnvironmentTaskset(environment_spec(environment))
    tasks = taskset.draw("train", episodes, entropy)
    candidates = [Candidate.program(SourceTree({"policy.py": text})) for text in programs]
    return [Job(taskset.info, c, t, i) for c in candidates for i, t in enumerate(tasks)]


async def play(runner: EpisodeRunner, wanted: Sequence[Job], limits: Limits | None = None) -> list[Trajectory]:
    trajectories = {position: t async for position, t in runner.run(wanted, limits or Limits())}
    return [trajectories[position] for position in range(len(wanted))]


@pytest.fixture(scope="module")
def failures() -> dict[str, Trajectory]:
    async def play_all() -> list[Trajectory]:
        async with EpisodeRunner(workers=2) as runner:
            limits = Limits(act_s=0.8, init_s=2.0, episode_s=30.0, memory_bytes=256 << 20)
            return await play(runner, jobs("CartPole-v1", list(PROGRAMS.values())), limits)

    return dict(zip(PROGRAMS, asyncio.run(play_all()), strict=True))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_failing_program_is_to_blame_and_learns_where_it_failed(name: str, failures: dict[str, Trajectory]) -> None:
    trajectory = failures[name]
    category, step, location, message = EXPECTED[name]
    assert trajectory.failure is not None
    assert (trajectory.status, trajectory.failure_source) == (category, "candidate"), trajectory.failure
    assert message in f"{trajectory.failure.message}\n{trajectory.failure.traceback}"
    assert location in trajectory.failure.traceback
    if step is not None:
        assert trajectory.failure.step_index == step
        assert trajectory.length == step
    assert str(Path(__file__).anchor) + "tmp" not in trajectory.failure.traceback


def test_a_missing_file_is_said_to_be_missing() -> None:
    async def attempt() -> Trajectory:
        taskset = EnvironmentTaskset(environment_spec("CartPole-v1"))
        candidate = Candidate.program(SourceTree({"system/policy.py": BALANCE}))
        async with EpisodeRunner(workers=1) as runner:
            return (await play(runner, [Job(taskset.info, candidate, taskset.draw("train", 1, 1)[0])]))[0]

    trajectory = asyncio.run(attempt())
    assert trajectory.status == "missing_policy"
    assert trajectory.failure is not None
    assert "no policy.py" in trajectory.failure.message


def same(one: Trajectory, other: Trajectory) -> bool:
    keys = set(one.columns)
    return (
        keys == set(other.columns)
        and one.total_reward == other.total_reward
        and one.status == other.status
        and all(np.array_equal(one.columns[k], other.columns[k]) for k in keys)
    )


@pytest.mark.parametrize(
    ("environment", "program"),
    [("CartPole-v1", BALANCE), ("MiniGrid-FourRooms-v0", WANDER)],
    ids=["CartPole", "MiniGrid"],
)
def test_episodes_in_lock_step_are_the_same_as_isolated_ones(environment: str, program: str) -> None:
    if environment.startswith("MiniGrid") and importlib.util.find_spec("minigrid") is None:
        pytest.skip("minigrid is not installed")

    async def both() -> list[list[Trajectory]]:
        wanted, runs = jobs(environment, [program], episodes=6), list[list[Trajectory]]()
        for lockstep in (1, 6):
            async with EpisodeRunner(workers=1, lockstep=lockstep) as runner:
                runs.append(await play(runner, wanted, Limits(steps=60)))
        return runs

    isolated, together = asyncio.run(both())
    assert [t.status for t in isolated] == ["ok"] * 6
    assert not same(isolated[0], isolated[1])
    assert all(same(one, other) for one, other in zip(isolated, together, strict=True))


def test_one_failing_episode_in_lock_step_leaves_the_others_alone() -> None:
    program = (
        HEAD + "        if self.index == 2 and self.t == 5:\n            raise ValueError('mine')\n        return 0\n"
    )

    async def attempt() -> list[Trajectory]:
        async with EpisodeRunner(workers=1, lockstep=4) as runner:
            return await play(runner, jobs("CartPole-v1", [program], episodes=4))

    statuses = [t.status for t in asyncio.run(attempt())]
    assert statuses == ["ok", "ok", "act_error", "ok"]


def test_a_hang_in_lock_step_costs_only_the_episode_that_hangs() -> None:
    program = HEAD + "        while self.index == 1 and self.t == 3:\n            pass\n        return 0\n"

    async def attempt() -> list[Trajectory]:
        async with EpisodeRunner(workers=1, lockstep=3) as runner:
            return await play(runner, jobs("CartPole-v1", [program], episodes=3), Limits(act_s=0.4))

    assert [t.status for t in asyncio.run(attempt())] == ["ok", "rollout_timeout", "ok"]


def test_output_is_kept_up_to_its_limit_for_each_episode() -> None:
    program = HEAD + (
        "        import sys\n        print('o' * 700)\n        print('e' * 10, file=sys.stderr)\n        return self.t % 2\n"
    )

    async def attempt() -> list[Trajectory]:
        async with EpisodeRunner(workers=1) as runner:
            return await play(runner, jobs("CartPole-v1", [program], 2), Limits(output_bytes=1000, steps=10))

    for trajectory in asyncio.run(attempt()):
        assert len(trajectory.stdout) == 1000
        assert trajectory.stderr == ("e" * 10 + "\n") * trajectory.length


def test_what_native_code_prints_is_kept() -> None:
    program = HEAD + "        import os\n        os.write(1, b'from below')\n        return 0\n"

    async def attempt() -> list[Trajectory]:
        async with EpisodeRunner(workers=1) as runner:
            return await play(runner, jobs("CartPole-v1", [program]), Limits(steps=2))

    assert "from below" in asyncio.run(attempt())[0].stdout


def environment_workers() -> list[int]:
    pids: list[int] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
            parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == os.getpid() and b"environment_worker" in command:
            pids.append(int(process.name))
    return pids


def test_a_killed_environment_worker_is_the_hosts_fault_and_the_runner_goes_on() -> None:
    slow = HEAD + "        import time\n        time.sleep(0.05)\n        return 0\n"

    async def attempt() -> tuple[list[Trajectory], list[Trajectory]]:
        async with EpisodeRunner(workers=1) as runner:
            await runner.start()
            for _ in range(200):  # a process has no name for a moment while it starts
                if environment_workers():
                    break
                await asyncio.sleep(0.01)
            (worker,) = environment_workers()
            playing = asyncio.create_task(play(runner, jobs("CartPole-v1", [slow], 3)))
            await asyncio.sleep(0.3)
            os.kill(worker, signal.SIGKILL)
            lost = await asyncio.wait_for(playing, 20)
            return lost, await play(runner, jobs("CartPole-v1", [BALANCE], 2))

    lost, after = asyncio.run(attempt())
    assert {(t.status, t.failure_source) for t in lost} == {("host_error", "host")}
    assert [t.status for t in after] == ["ok", "ok"]


def test_a_caller_that_stops_early_leaves_a_runner_that_still_works() -> None:
    slow = HEAD + "        import time\n        time.sleep(0.2)\n        return 0\n"

    async def attempt() -> list[Trajectory]:
        async with EpisodeRunner(workers=1) as runner:
            playing = asyncio.create_task(play(runner, jobs("CartPole-v1", [slow], 8)))
            await asyncio.sleep(0.3)
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)
            return await asyncio.wait_for(play(runner, jobs("CartPole-v1", [BALANCE], 2)), 20)

    assert [t.status for t in asyncio.run(attempt())] == ["ok", "ok"]


def test_a_closed_runner_leaves_no_process_and_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    async def attempt() -> None:
        async with EpisodeRunner(workers=2) as runner:
            await play(runner, jobs("CartPole-v1", [BALANCE], 2))

    asyncio.run(attempt())
    assert environment_workers() == []
    assert list(tmp_path.iterdir()) == []


def columns_of(program: str, environment: str = "CartPole-v1", **limits: Any) -> Trajectory:
    async def attempt() -> Trajectory:
        async with EpisodeRunner(workers=1) as runner:
            return (await play(runner, jobs(environment, [program]), Limits(**limits)))[0]

    return asyncio.run(attempt())


def test_columns_have_one_more_observation_than_steps() -> None:
    trajectory = columns_of(BALANCE, steps=20)
    assert trajectory.length == 20
    assert trajectory.columns["obs"].shape == (21, 4)
    assert {k: len(trajectory.columns[k]) for k in ("action", "reward", "terminated", "truncated")} == dict.fromkeys(
        ("action", "reward", "terminated", "truncated"), 20
    )
    assert trajectory.columns["truncated"][-1]
    assert not trajectory.columns["terminated"].any()
    rows = list(trajectory.rows())
    assert rows[3]["t"] == 3
    assert rows[3]["reward"] == 1.0
    assert np.allclose(rows[3]["obs"], trajectory.columns["obs"][3])


def test_an_action_out_of_bounds_is_clipped_and_flagged_but_recorded_as_sent() -> None:
    trajectory = columns_of(HEAD + "        return 7 if self.t == 2 else 0\n", steps=4)
    assert trajectory.status == "ok"
    assert list(trajectory.columns["action"]) == [0, 7, 0, 0]
    assert list(trajectory.columns["info/invalid_action"]) == [False, True, False, False]


@pytest.mark.skipif(importlib.util.find_spec("minigrid") is None, reason="minigrid is not installed")
def test_nested_observations_have_a_column_for_each_leaf() -> None:
    trajectory = columns_of(WANDER, "MiniGrid-FourRooms-v0", steps=5)
    assert trajectory.columns["obs/image"].shape == (6, 7, 7, 3)
    assert trajectory.columns["obs/image"].dtype == np.uint8
    assert len(trajectory.columns["obs/mission"]) == 6
    assert isinstance(trajectory.columns["obs/mission"][0], str)


def test_a_policy_sees_observations_that_later_steps_do_not_change() -> None:
    program = HEAD + (
        "        self.seen = getattr(self, 'seen', []) + [(obs, obs.copy())]\n"
        "        assert all((a == b).all() for a, b in self.seen)\n        obs[:] = 7\n        self.seen[-1] = (obs, obs.copy())\n"
        "        return 0\n"
    )
    trajectory = columns_of(program, steps=8)
    assert trajectory.status == "ok", trajectory.failure
    assert not (np.asarray(trajectory.columns["obs"]) == 7).any()
