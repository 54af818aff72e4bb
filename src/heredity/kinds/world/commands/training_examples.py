"""Training data from worlds (AutoEnv, appendix E.2): each step of good play is an example.

The prompt is the one a language model would get at that step, from the same code: instruction, actions, recent actions
and the observation. The completion is the action. Good play is the reference solution on train levels, or the best
rollouts of a run's model on train tasks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError
from heredity._core.ids import generator
from heredity.analysis.training_data import Rollout, model_of, rollouts_of
from heredity.engine.player import plain_player
from heredity.engine.question_runner import conversation_of
from heredity.engine.runner import Job
from heredity.kinds.world.contract import Action
from heredity.kinds.world.runner import WorldRunner
from heredity.kinds.world.taskset import WorldTaskset
from heredity.kinds.world.world import world
from heredity.models import Reply, Request
from heredity.sandbox.limits import Limits
from heredity.tasks import Task

REFERENCE = "reference"
"""Model name of examples from the reference solution."""
SHARE = 0.8
"""Share of examples for training; the rest is for validation."""

Row = dict[str, Any]


async def reference_examples(tasks: WorldTaskset, count: int, entropy: int) -> list[Row]:
    """Return steps of the reference solution on train levels, in the order of play.

    Args:
        tasks: the world's levels.
        count: number of steps.
        entropy: source of the levels.

    Raises:
        ConfigError: if the world has too few levels.
    """
    rows: list[Row] = []
    drawn = 0
    while len(rows) < count:
        levels = tasks.draw("train", drawn + 8, entropy)[drawn:]
        drawn += len(levels)
        for task in levels:
            rows += await _played(tasks, task)
    return rows[:count]


def run_examples(run: Path, count: int, min_score: float) -> list[Row]:
    """Return steps of a run's best rollouts on train tasks, one rollout per task, the best tasks first.

    Args:
        run: the run's folder.
        count: maximum number of steps.
        min_score: rollouts with a lower score are left out.

    Raises:
        ConfigError: if no rollout in a world reached that score.
        RecordError: if its records cannot be read.
    """
    best: dict[str, Rollout] = {}
    for rollout in rollouts_of(run):
        if rollout.score >= min_score and (rollout.task not in best or rollout.score > best[rollout.task].score):
            best[rollout.task] = rollout
    model = model_of(run)
    ordered = sorted(best.values(), key=lambda rollout: -rollout.score)
    rows = [row for rollout in ordered for context in rollout.contexts for row in _turns(context, rollout.about, model)]
    if not rows:
        raise ConfigError(f"no rollout of {run} on a train task scored {min_score:g} or more; lower --min-score")
    return rows[:count]


def dealt(rows: Sequence[Row], entropy: int) -> tuple[list[Row], list[Row]]:
    """Shuffle examples and split them into training and validation."""
    order = generator(entropy, "worlds", "examples", "order").permutation(len(rows))
    split = round(SHARE * len(rows))
    return [rows[int(index)] for index in order[:split]], [rows[int(index)] for index in order[split:]]


class _Teacher:
    """Replies with the actions of a solution, one after another."""

    name = REFERENCE

    def __init__(self, actions: Sequence[Action]) -> None:
        self._actions = iter(actions)

    async def reply(self, request: Request) -> Reply:
        """Return the next action."""
        return Reply(f"<action>{json.dumps(next(self._actions).to_json())}</action>")


async def _played(tasks: WorldTaskset, task: Task) -> list[Row]:
    made = world(tasks.world_name)
    runner = WorldRunner(_Teacher(made.levels.solve(task.spec["level"])))
    rows: list[Row] = []
    async for _, trajectory in runner.run(
        [Job(tasks.info, plain_player(), task)], Limits(steps=_solution_length(made, task))
    ):
        about = {"score": trajectory.total_reward, "task": task.id, "candidate": trajectory.candidate}
        context = [{"role": message.role, "content": message.content} for message in conversation_of(trajectory)]
        rows += _turns(context, about, REFERENCE)
    return rows


def _solution_length(made: Any, task: Task) -> int:
    """Return the number of steps of the solution."""
    episode, actions = made.start(task.spec["level"]), made.levels.solve(task.spec["level"])
    for action in actions:
        if not episode.done:
            episode.step(action)
    return int(episode.t)


def _turns(context: Sequence[Row], about: Row, model: str | None) -> Iterator[Row]:
    """Yield the prompt and reply of each step: the system message, the message of the turn, and the reply."""
    system = [message for message in context[:1] if message["role"] == "system"]
    for asked, reply in pairwise(context):
        if asked["role"] == "user" and reply["role"] == "assistant":
            yield {"messages": [*system, asked, reply], **about, "model": model}
