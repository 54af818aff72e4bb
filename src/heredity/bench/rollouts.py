"""Time of sandboxed, recorded rollouts against a plain loop that steps the same policy in one process.

The baseline is the obvious loop: `gymnasium.make`, `reset`, `act`, `step`, without isolation or recording. Ours
confines the same policy, uses all cores, checks every action, records every step as columns and writes them to synced
blobs. Two modes are measured: `lockstep` (a policy process plays a batch of episodes concurrently) and `isolated` (a
fresh process per episode, the default of a run). `floor_ratio` is the limit of the machine: the plain loop in one
process per core, each with its share of the episodes, over the plain loop in one. Cores that share a physical core add
little.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

from heredity._core.engine_folder import EngineFolder
from heredity._core.workers import process_pool
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory, encode_many
from heredity.kinds.policy.environments.taskset import make_from_spec
from heredity.kinds.policy.runner import EpisodeRunner
from heredity.records.blobs import BlobStore
from heredity.resources import Candidate, SourceTree
from heredity.sandbox.limits import Limits
from heredity.tasks import Taskset
from heredity.tasks.registry import taskset

BALANCE = """
class Policy:
    def __init__(self, obs_space, action_space, env_meta):
        pass

    def reset(self, episode_index):
        pass

    def act(self, obs):
        return 1 if 3.0 * obs[2] + obs[3] + 0.1 * obs[1] + 0.05 * obs[0] > 0 else 0
"""
"""A controller that keeps CartPole's pole up for all 500 steps."""

_SWING = """
import numpy as np

class Policy:
    def __init__(self, obs_space, action_space, env_meta):
        size = action_space.shape[0]
        self.table = np.sin(np.arange(64)[:, None] * 0.2 + np.arange(size)[None, :]).astype(np.float32) * 0.5

    def reset(self, episode_index):
        self.t = 0

    def act(self, obs):
        self.t += 1
        return self.table[self.t % 64]
"""

_WANDER = """
class Policy:
    def __init__(self, obs_space, action_space, env_meta):
        pass

    def reset(self, episode_index):
        self.t = 0

    def act(self, obs):
        self.t += 1
        return (2, 2, 0, 2, 1, 2, 3, 5)[(self.t * 7 + int(obs["direction"])) % 8]
"""


@dataclass(frozen=True, slots=True)
class Case:
    """One measurement: a policy in an environment for a number of episodes."""

    name: str
    environment: str
    policy: str
    episodes: int


CASES = (
    Case("cartpole", "CartPole-v1", BALANCE, 128),
    Case("reacher", "Reacher-v5", _SWING, 32),
    Case("halfcheetah", "HalfCheetah-v5", _SWING, 16),
    Case("minigrid_doorkey", "MiniGrid-DoorKey-16x16-v0", _WANDER, 32),
)
FIGURES = ("wall_ratio_vs_raw", "us_per_step", "ms_per_episode", "raw_us_per_step", "overhead_ms_per_episode")
_ALL = slice(None)
MODES = {"lockstep": 32, "isolated": 1}


def measure(repeats: int = 5, cases: tuple[Case, ...] = CASES) -> dict[str, Any]:
    """Run every case in both modes and return the figures.

    Args:
        repeats: number of timings of each side, alternating; the ratio is the median of the pairs.
        cases: measurements to run.
    """
    return asyncio.run(_measure(repeats, cases))


async def _measure(repeats: int, cases: tuple[Case, ...]) -> dict[str, Any]:
    results: dict[str, Any] = {}
    runners = {mode: EpisodeRunner(lockstep=lockstep) for mode, lockstep in MODES.items()}
    try:
        for case in cases:
            results[case.name] = await _case(case, runners, repeats)
    finally:
        for runner in runners.values():
            await runner.close()
    return {"baseline": "one process: gymnasium.make, reset, act, step; no isolation, no record", "results": results}


async def _case(case: Case, runners: dict[str, EpisodeRunner], repeats: int) -> dict[str, Any]:
    tasks = taskset(f"gymnasium/{case.environment}")
    jobs = _jobs(case, tasks)
    raw = _RawLoop(case)
    row: dict[str, Any] = {"episodes": case.episodes}
    with _blobs() as blobs, _Floor(case) as floor:
        for runner in runners.values():
            await _ours(runner, jobs, blobs)
        timed: dict[str, list[float]] = {"raw": [], "floor": [], **{mode: [] for mode in runners}}
        for _ in range(repeats):
            timed["raw"].append(raw.run())
            timed["floor"].append(floor.run())
            for mode, runner in runners.items():
                timed[mode].append(await _ours(runner, jobs, blobs))
    row["steps"], row["floor_ratio"] = raw.steps, round(_ratio(timed["floor"], timed["raw"]), 3)
    row |= {mode: _figures(timed[mode], timed["raw"], raw.steps, case.episodes) for mode in runners}
    best = row["lockstep"]
    return {**row, "mode": "lockstep", **{k: best[k] for k in ("wall_ratio_vs_raw", "us_per_step", "ms_per_episode")}}


def _ratio(ours: list[float], theirs: list[float]) -> float:
    return statistics.median(o / t for o, t in zip(ours, theirs, strict=True))


def _figures(ours: list[float], raw: list[float], steps: int, episodes: int) -> dict[str, float]:
    mine, plain = statistics.median(ours), statistics.median(raw)
    return {
        "wall_ratio_vs_raw": round(_ratio(ours, raw), 3),
        "us_per_step": round(mine / steps * 1e6, 2),
        "ms_per_episode": round(mine / episodes * 1e3, 3),
        "raw_us_per_step": round(plain / steps * 1e6, 2),
        "overhead_ms_per_episode": round((mine - plain) / episodes * 1e3, 3),
    }


def _jobs(case: Case, tasks: Taskset) -> list[Job]:
    candidate = Candidate.program(SourceTree({"policy.py": case.policy}))
    drawn = tasks.draw("train", case.episodes, 7)
    return [Job(tasks.info, candidate, task, episode_index=i, policy_seed=i) for i, task in enumerate(drawn)]


async def _ours(runner: EpisodeRunner, jobs: list[Job], blobs: BlobStore) -> float:
    start = time.perf_counter()
    trajectories: list[Trajectory] = [t async for _, t in runner.run(jobs, Limits())]
    blobs.put(encode_many(trajectories))
    seconds = time.perf_counter() - start
    failed = [t for t in trajectories if t.failure]
    if failed:
        raise RuntimeError(f"{len(failed)} episodes failed: {failed[0].failure}")
    return seconds


class _RawLoop:
    """Baseline: the same policy, seeds and environment in one plain loop."""

    def __init__(self, case: Case) -> None:
        tasks = taskset(f"gymnasium/{case.environment}")
        scope: dict[str, Any] = {}
        exec(compile(case.policy, "policy.py", "exec"), scope)
        self._env = make_from_spec(tasks.info.spec)
        self._make = lambda: scope["Policy"](self._env.observation_space, self._env.action_space, {})
        self._seeds = [t.spec["seed"] for t in tasks.draw("train", case.episodes, 7)]
        self.steps = 0

    def run(self, share: slice = _ALL) -> float:
        """Play a share of the episodes; return the seconds it took."""
        env = self._env
        steps = 0
        start = time.perf_counter()
        for index, seed in enumerate(self._seeds[share]):
            policy = self._make()
            policy.reset(index)
            observation, _ = env.reset(seed=seed)
            done = False
            while not done:
                observation, _, terminated, truncated, _ = env.step(policy.act(observation))
                steps += 1
                done = terminated or truncated
        self.steps = steps
        return time.perf_counter() - start


class _Floor:
    """The plain loop in one process per core, each with its share of the episodes."""

    def __init__(self, case: Case) -> None:
        self._count = len(os.sched_getaffinity(0))
        self._pool = process_pool(self._count, _prepare, (case,))

    def __enter__(self) -> Self:
        self.run()
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def run(self) -> float:
        """Play every episode; return the seconds it took."""
        start = time.perf_counter()
        shares = [slice(first, None, self._count) for first in range(self._count)]
        list(self._pool.map(_play, shares))
        return time.perf_counter() - start


_prepared: list[_RawLoop] = []


def _prepare(case: Case) -> None:
    _prepared[:] = [_RawLoop(case)]


def _play(share: slice) -> float:
    return _prepared[0].run(share)


@contextmanager
def _blobs() -> Generator[BlobStore]:
    with EngineFolder() as folder:
        store = BlobStore(folder / "blobs")
        store.put(b"the folder is there before the clock starts")
        yield store
