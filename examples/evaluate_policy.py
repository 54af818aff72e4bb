"""Evaluate a policy program in the sandbox: returns, failures with their tracebacks, and a trajectory as rows.

    python examples/evaluate_policy.py [FOLDER [TASKSET]]

FOLDER holds `policy.py` and whatever it needs; without one, a program that fails in some episodes is evaluated.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.kinds.policy.kind import EpisodeRunner
from heredity.resources import Candidate, SourceTree
from heredity.sandbox.limits import Limits
from heredity.tasks.registry import taskset

CARELESS = """
class Policy:
    def __init__(self, obs_space, action_space, env_meta):
        self.scale = 1.0

    def reset(self, episode_index):
        self.gains = [1, 3] if episode_index % 2 else [1, 3, 0]
        print("gains", self.gains)

    def act(self, obs):
        return int(self.gains[0] * obs[3] + self.gains[1] * obs[2] + self.gains[2] * obs[1] > 0)
"""


async def evaluate(program: SourceTree, name: str, episodes: int = 4) -> list[Trajectory]:
    """Attempt the first train tasks of a taskset, in the order of the tasks."""
    tasks = taskset(name)
    candidate = Candidate.program(program)
    drawn = tasks.draw("train", episodes, entropy=7)
    jobs = [Job(tasks.info, candidate, task, episode_index=i) for i, task in enumerate(drawn)]
    async with EpisodeRunner() as runner:
        found = {position: ended async for position, ended in runner.run(jobs, Limits(act_s=1.0, episode_s=30.0))}
    return [found[i] for i in range(episodes)]


def main() -> None:
    program = SourceTree.from_folder(Path(sys.argv[1])) if len(sys.argv) > 1 else SourceTree({"policy.py": CARELESS})
    trajectories = asyncio.run(evaluate(program, sys.argv[2] if len(sys.argv) > 2 else "gymnasium/CartPole-v1"))
    for trajectory in trajectories:
        print(
            f"{trajectory.task_id}: {trajectory.status}, return {trajectory.total_reward:g}, {trajectory.length} steps"
        )
        if trajectory.failure:
            print(
                f"  {trajectory.failure_source} to blame, step {trajectory.failure.step_index}: {trajectory.failure.message}"
            )
            print("  " + trajectory.failure.traceback.replace("\n", "\n  ").rstrip())
    longest = max(trajectories, key=lambda t: t.length)
    for row in list(longest.rows())[:2]:
        print(row)


if __name__ == "__main__":
    main()
