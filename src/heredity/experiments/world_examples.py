"""Training data from worlds (AutoEnv, appendix E.2): each step of good play is an example.

The prompt is what a language model that plays the world is asked at that step, by the very code that asks it: instruction,
actions, what it did last and what it sees. The completion is the action. Good play is the reference solution on train levels, or
the best attempts of a run's model at train tasks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from heredity.actors.player import plain_player
from heredity.analysis.training_data import Rollout, model_of, rollouts_of
from heredity.errors import ConfigError
from heredity.gateway import Reply, Request
from heredity.ids import generator
from heredity.rollouts.contract import Job
from heredity.rollouts.question.runner import conversation_of
from heredity.rollouts.world.runner import WorldRunner
from heredity.sandbox.limits import Limits
from heredity.tasks import Task
from heredity.worlds.contract import Action
from heredity.worlds.taskset import WorldTaskset
from heredity.worlds.world import world

REFERENCE = "reference"
"""What the model of examples is called that are steps of the reference solution."""
SHARE = 0.8
"""How many examples are to train on; the others are for validation."""

Row = dict[str, Any]


async def reference_examples(tasks: WorldTaskset, count: int, entropy: int) -> list[Row]:
    """Return steps of the reference solution on train levels, in the order of play.

    Args:
        tasks: the world's levels.
        count: how many steps.
        entropy: what the levels are drawn from.

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
    """Return steps of a run's best attempts at train tasks, one attempt a task, the best tasks first.

    Args:
        run: the run's folder.
        count: how many steps at most.
        min_score: attempts that scored less are left out.

    Raises:
        ConfigError: if it has no attempts at worlds that scored so much.
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
        raise ConfigError(
            f"no attempt of {run} at a train task scored {min_score:g} or more; ask for less with --min-score"
        )
    return rows[:count]


def dealt(rows: Sequence[Row], entropy: int) -> tuple[list[Row], list[Row]]:
    """Return examples in random order, to train on and for validation."""
    order = generator(entropy, "worlds", "examples", "order").permutation(len(rows))
    split = round(SHARE * len(rows))
    return [rows[int(index)] for index in order[:split]], [rows[int(index)] for index in order[split:]]


class _Teacher:
    """Answers with the actions of a solution, one after the other."""

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
    async for _, trajectory in runner.run([Job(tasks.info, plain_player(), task)], Limits(steps=_solved(made, task))):
        about = {"score": trajectory.total_reward, "task": task.id, "candidate": trajectory.candidate}
        context = [{"role": message.role, "content": message.content} for message in conversation_of(trajectory)]
        rows += _turns(context, about, REFERENCE)
    return rows


def _solved(made: Any, task: Task) -> int:
    """Return how many steps the solution takes."""
    episode, actions = made.start(task.spec["level"]), made.levels.solve(task.spec["level"])
    for action in actions:
        if not episode.done:
            episode.step(action)
    return int(episode.t)


def _turns(context: Sequence[Row], about: Row, model: str | None) -> Iterator[Row]:
    """Yield what a player was asked at each step: the system's message, that of the turn, and the reply."""
    system = [message for message in context[:1] if message["role"] == "system"]
    for asked, reply in pairwise(context):
        if asked["role"] == "user" and reply["role"] == "assistant":
            yield {"messages": [*system, asked, reply], **about, "model": model}
