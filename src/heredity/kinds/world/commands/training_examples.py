"""Training data from worlds (AutoEnv, appendix E.2): each step of good play is an example.

The prompt is the one a language model would get at that step, from the same code: instruction, actions, recent actions
and the observation. The completion is the action. Good play is the reference solution on train levels, or the best
rollouts of a run's model on train tasks.
"""

from __future__ import annotations

import itertools
import json
import string
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from heredity._core.errors import ConfigError, RefusedError
from heredity._core.ids import generator
from heredity.analysis.training_data import Rollout, model_of, rollouts_of
from heredity.engine.player import plain_player
from heredity.engine.question_runner import conversation_of
from heredity.engine.runner import Job
from heredity.kinds.world.contract import Action, LevelData
from heredity.kinds.world.description import Description, Parameter
from heredity.kinds.world.episode import Episode
from heredity.kinds.world.kind import WorldRunner
from heredity.kinds.world.taskset import WorldTaskset
from heredity.kinds.world.world import World, world
from heredity.models import Reply, Request
from heredity.sandbox.limits import Limits
from heredity.tasks import Task

CHARACTERS = string.ascii_letters + string.digits
"""Characters of the actions, in the order of the description."""
ALPHABET = string.digits + string.ascii_letters + string.punctuation + " "
LONGEST = 480
"""Maximum length of a line, so that it fits a character-level model."""
_UNSEEN = ("steps", "message")


class Glimpses:
    """The encoding of a world in characters.

    Args:
        world: the world.

    Attributes:
        actions: every action by its character.

    Raises:
        ConfigError: if it has more actions than characters, or actions that cannot be listed.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        actions = list(itertools.islice(_every_action(world.description), len(CHARACTERS) + 1))
        if len(actions) > len(CHARACTERS):
            raise ConfigError(
                f"{world.name} has more than {len(CHARACTERS)} actions, but each needs a single character; "
                "take a model that reads: heredity worlds examples --form chat"
            )
        self.actions = dict(zip(CHARACTERS, actions, strict=False))
        self._characters = {_key(action): character for character, action in self.actions.items()}

    def line(self, episode: Episode) -> str:
        """Return the line for the current state.

        Raises:
            ConfigError: if it is longer than `LONGEST`.
        """
        values = [_flat(value) for name, value in episode.observe().items() if name not in _UNSEEN]
        line = "".join(c if c in ALPHABET else "?" for c in "|".join(values)) + ">"
        if len(line) > LONGEST:
            raise ConfigError(
                f"{self._world.name} shows {len(line)} characters, more than {LONGEST}; take a model that reads: "
                "heredity worlds examples --form chat"
            )
        return line

    def read(self, reply: str) -> Action | RefusedError:
        """Return the action encoded by the first character of a reply."""
        action = self.actions.get(reply.strip()[:1])
        return RefusedError(f"{reply[:20]!r} does not encode an action") if action is None else action

    def demonstrated(self, data: LevelData) -> Iterator[tuple[str, str]]:
        """Yield each step's line and the reference solution's answer on a level."""
        episode = self._world.start(data)
        for action in self._world.levels.solve(data):
            if episode.done:
                return
            yield self.line(episode), self._characters[_key(action)]
            episode.step(action)


def _key(action: Action) -> str:
    return repr((action.name, sorted(action.params.items())))


def _every_action(described: Description) -> Iterator[Action]:
    for name, action in described.actions.items():
        choices = [[(key, value) for value in _values(name, key, kind)] for key, kind in action.params.items()]
        for chosen in itertools.product(*choices):
            yield Action(name, dict(chosen))


def _values(name: str, key: str, kind: Parameter) -> Sequence[Any]:
    if kind.type == "choice":
        return kind.of
    if kind.type == "integer":
        return range(int(kind.low or 0), int(kind.high or 0) + 1)[: len(CHARACTERS) + 1]
    raise ConfigError(
        f"the {kind.type} {key} of {name} cannot be listed, so actions are not single characters; take a model that reads: "
        "heredity worlds examples --form chat"
    )


def _flat(value: Any) -> str:
    if isinstance(value, list):
        return "/".join(_flat(inner) for inner in cast(list[Any], value))
    if isinstance(value, dict):
        return ",".join(_flat(inner) for inner in cast(dict[str, Any], value).values())
    return f"{value:g}" if isinstance(value, float) else str(value)


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
