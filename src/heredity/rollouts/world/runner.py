"""`WorldRunner`: players in worlds. A player sees what a world shows and nothing else.

Heredity's own worlds and those in rules are stepped in this process, those of folders with code in the sandbox
(see `heredity.rollouts.world.process`).
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from heredity.actors.contract import Solving
from heredity.actors.conversation import Conversation
from heredity.actors.parts import Parts
from heredity.actors.player import (
    KeepingPrograms,
    Move,
    Player,
    PlayerFailedError,
    ProgramPlayer,
    ReactPlayer,
    read_player,
)
from heredity.actors.program import Services
from heredity.actors.tools import Toolbox
from heredity.errors import CandidateError, ConfigError, HostError
from heredity.gateway import Model, Reply, Request
from heredity.ids import seed_sequence
from heredity.results.status import FailureSource, Status
from heredity.rollouts.contract import Job
from heredity.rollouts.rollout import RolloutError, attributed
from heredity.rollouts.streams import as_completed
from heredity.rollouts.trajectory import Column, Failure, Trajectory
from heredity.rollouts.world.folder_process import folder_world_process
from heredity.rollouts.world.process import LibraryWorldProcess, WorldBriefing, WorldProcess
from heredity.sandbox.limits import Limits
from heredity.worlds.contract import RefusedError
from heredity.worlds.episode import Step


class WorldRunner:
    """Rollouts levels of worlds: tasksets of the kind `"world"`.

    A candidate with `agent/player` plays itself; any other one is a language model that reasons and acts (see
    `heredity.actors.player`).

    Args:
        model: what plays, and what programs may ask; None if no candidate needs one.
        programs: the sandbox for candidates that have programs, and for worlds of folders; whoever made it closes it.
        settings: `seconds` bounds an episode, `max_turns` the model calls of a program for one action.
        concurrent: most rollouts at the same time.
        recent: how many of its last actions a language model is shown.

    Raises:
        ConfigError: if a number is out of range.
    """

    def __init__(
        self,
        model: Model | None = None,
        *,
        programs: KeepingPrograms | None = None,
        settings: Solving | None = None,
        concurrent: int = 8,
        recent: int = 10,
    ) -> None:
        self.settings = settings or Solving()
        for name, given in (("concurrent", concurrent), ("recent", recent), ("max_turns", self.settings.max_turns)):
            if given < 1:
                raise ConfigError(f"{name} is {given}; expected 1 or more")
        if not self.settings.seconds > 0:
            raise ConfigError(f"seconds is {self.settings.seconds}; expected more than 0")
        self._model, self._programs, self._recent = model, programs, recent
        self._places = asyncio.Semaphore(concurrent)

    def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncGenerator[tuple[int, Trajectory]]:
        """Attempt jobs, yielding (position, trajectory) as each one ends; what has not ended is dropped when it is closed.

        A rollout may take `Solving.seconds` or `Limits.episode_s`, whichever is less, a program `Limits.act_s` for an action.
        The total reward of a trajectory is normalised: the sum of rewards over the level's bound. It is at most 1, but for
        worlds of folders, whose bounds are only declared. These have `Limits.init_s` to begin a level and `Limits.act_s` for
        each step.

        Raises:
            BudgetError: if the budget does not allow a model call; the rollouts under way are dropped.
            ConfigError: if a candidate or a world needs a sandbox, or a candidate a model, and there is none.
        """

        async def attempt(position: int, job: Job) -> tuple[int, Trajectory]:
            async with self._places:
                return position, await self._attempt(job, limits)

        return as_completed(attempt(position, job) for position, job in enumerate(jobs))

    async def close(self) -> None:
        """Do nothing: the runner starts no process of its own."""

    async def _attempt(self, job: Job, limits: Limits) -> Trajectory:
        settings = replace(self.settings, seconds=min(self.settings.seconds, limits.episode_s))
        # Repeats of a rollout differ in their place alone; with one seed they would all be alike.
        seed = int(seed_sequence(job.policy_seed, "play", job.episode_index).generate_state(1)[0])
        record = _Record(job, Conversation(self._model or _NoModel(), settings, seed))
        return await attributed(record, self._played(record, limits), settings.seconds)

    async def _played(self, record: _Record, limits: Limits) -> Trajectory:
        try:
            async with self._world_process(record, limits) as process:
                record.seen.append(process.sight.words)
                try:
                    parts = read_player(record.job.candidate)
                except ConfigError as error:
                    return record.failed(Status.IMPORT_ERROR, FailureSource.CANDIDATE, str(error))
                async with self._player(parts, process.briefing, record, limits) as player:
                    while not process.done and (limits.steps is None or len(record.steps) < limits.steps):
                        move = await player.act(process.sight)
                        record.add(move, await self._taken(process, move, record, limits), process)
        except PlayerFailedError as error:
            return record.failed(error.status, FailureSource.CANDIDATE, str(error), error.traceback)
        return record.trajectory()

    async def _taken(self, process: WorldProcess, move: Move, record: _Record, limits: Limits) -> Step:
        """Take an action; where the world fails at it, and goes on without it, that is the candidate's own failure."""
        try:
            return await process.take(move.given)
        except RolloutError as error:
            if error.failure_source is not FailureSource.ENVIRONMENT or not await self._plays(record, limits):
                raise
            message = (
                f"{error}; without the action {json.dumps(_action(move.given), default=str)[:200]} the world goes on"
            )
            raise RolloutError(
                message, error.traceback, status=Status.INVALID_ACTION, failure_source=FailureSource.CANDIDATE
            ) from error

    async def _plays(self, record: _Record, limits: Limits) -> bool:
        """Whether a fresh level goes through the actions so far, and then goes on with some other action."""
        try:
            async with self._world_process(record, limits) as fresh:
                for move in record.moves:
                    await fresh.take(move.given)
                await fresh.idle()
        except (RolloutError, HostError):
            return False
        return True

    @asynccontextmanager
    async def _world_process(self, record: _Record, limits: Limits) -> AsyncGenerator[WorldProcess]:
        spec = record.job.task.spec
        if "folder" not in spec:
            process = LibraryWorldProcess(spec)
            await process.begin()
            yield process
        elif self._programs is None:
            raise ConfigError("the world is a folder, and there is no sandbox to run it in; give programs")
        else:
            async with folder_world_process(spec, self._programs, limits) as process:
                yield process

    @asynccontextmanager
    async def _player(
        self, parts: Parts, briefing: WorldBriefing, record: _Record, limits: Limits
    ) -> AsyncGenerator[Player]:
        conversation = record.conversation
        if parts.program is None:
            if self._model is None:
                raise ConfigError(
                    "the candidate is played by a language model, and there is none; set gateway.execution"
                )
            yield ReactPlayer(parts, (briefing.instruction, briefing.actions), conversation, self._recent)
            return
        if self._programs is None:
            raise ConfigError("the candidate has a program, and there is no sandbox to run it in; give programs")
        services = Services(conversation, Toolbox(parts.tools, self._programs, conversation))
        given = {
            "instruction": briefing.instruction,
            "actions": briefing.listed,
            "prompts": dict(parts.prompts),
            "memories": dict(parts.memories),
        }
        async with self._programs.open(parts.program, "agent:Player", given, services=services.all) as program:
            if services.fatal is not None:
                raise services.fatal
            record.program = ProgramPlayer(program, services, limits.act_s)
            record.program.check()
            yield record.program


class _NoModel:
    """Stands where no model is configured: a program that asks is told so."""

    name = "none"

    async def reply(self, request: Request) -> Reply:
        raise CandidateError("there is no language model to ask; the run sets none (gateway.execution)")


@dataclass
class _Record:
    """What is known of one rollout while it lasts, and how it becomes a trajectory."""

    job: Job
    conversation: Conversation
    program: ProgramPlayer | None = None
    moves: list[Move] = field(default_factory=list[Move])
    steps: list[Step] = field(default_factory=list[Step])
    seen: list[str] = field(default_factory=list[str])
    started: float = field(default_factory=time.monotonic)

    @property
    def _upper_bound(self) -> float:
        return float(self.job.task.spec["bound"])

    def add(self, move: Move, step: Step, process: WorldProcess) -> None:
        """Keep what a player did, what came of it, and what it sees now."""
        self.moves.append(move)
        self.steps.append(step)
        self.seen.append(process.sight.words)

    def trajectory(self) -> Trajectory:
        """Return the record of an episode that has ended."""
        return self._trajectory(None, FailureSource.NONE)

    def failed(self, status: str, failure_source: FailureSource, message: str, trace: str = "") -> Trajectory:
        """Return the record of a rollout that something ended before its time; what was collected stays on record."""
        return self._trajectory(Failure(status, message, trace, len(self.steps)), failure_source)

    def _trajectory(self, failure: Failure | None, failure_source: FailureSource) -> Trajectory:
        terminated = bool(self.steps) and self.steps[-1].terminated
        return Trajectory(
            task_id=self.job.task.id,
            candidate=self.job.candidate.digest,
            status=failure.category if failure else Status.OK,
            failure_source=failure_source,
            total_reward=float(sum(step.reward for step in self.steps)) / self._upper_bound,
            length=len(self.steps),
            terminated=terminated,
            columns=self._columns(failure is None and not terminated),
            stdout=self.program.stdout if self.program else "",
            stderr=self.program.stderr if self.program else "",
            failure=failure,
            seconds=time.monotonic() - self.started,
            cost=self._cost(),
        )

    def _columns(self, truncated: bool) -> dict[str, Column]:
        steps, length = self.steps, len(self.steps)
        rewards = np.array([step.reward for step in steps], np.float64)
        last = np.arange(length) == length - 1
        return {
            "obs": self.seen,
            "action": [_action(move.given) for move in self.moves],
            "reward": rewards / self._upper_bound,
            "terminated": np.array([step.terminated for step in steps], np.bool_),
            "truncated": last & truncated,
            "messages": [message.to_json() for message in self.conversation.messages],
            "info/message": [step.message for step in steps],
            "info/refused": [step.refused for step in steps],
            "info/thought": [move.thought or None for move in self.moves],
            "info/total": np.cumsum(rewards),
            "info/bound": np.full(length, self._upper_bound),
        }

    def _cost(self) -> Mapping[str, float]:
        amounts: dict[str, Any] = {
            **self.conversation.usage.to_json(),
            "model_calls": self.conversation.calls,
            "tool_calls": self.conversation.tool_calls,
            "act_s": self.program.act_s if self.program else None,
        }
        return {name: float(amount) for name, amount in amounts.items() if amount is not None}


def _action(given: object) -> Any:
    return {"action": None, "params": {}} if isinstance(given, RefusedError) else given
