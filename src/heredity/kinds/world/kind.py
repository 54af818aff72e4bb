"""The kind of worlds: players, a language model or programs, act in levels until they end.

A player sees only the output of the world's skin. Heredity's own worlds and those in rules are stepped in this
process, those of folders with code in the sandbox (see `heredity.kinds.world.process`).
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

from heredity._core.errors import CandidateError, ConfigError, HostError, RefusedError
from heredity._core.ids import seed_sequence
from heredity.engine.actor import Solving
from heredity.engine.conversation import Conversation
from heredity.engine.kind import CONVERSING, Candidates, Kind, Needs, Opening
from heredity.engine.parts import Parts
from heredity.engine.player import (
    KeepingPrograms,
    Move,
    Player,
    PlayerFailedError,
    ProgramPlayer,
    ReactPlayer,
    plain_player,
    read_player,
)
from heredity.engine.program import Services
from heredity.engine.rollout import RolloutError, attributed
from heredity.engine.runner import Job, Runner
from heredity.engine.streams import as_completed
from heredity.engine.tools import Toolbox
from heredity.engine.trajectory import Column, Failure, Trajectory
from heredity.kinds.world.episode import Step
from heredity.kinds.world.process import LibraryWorldProcess, WorldBriefing, WorldProcess, folder_world_process
from heredity.models import Model, Reply, Request
from heredity.results.status import FailureSource, Status
from heredity.sandbox.limits import Limits


class WorldRunner:
    """Runs rollouts on levels of worlds: tasksets of the kind `"world"`.

    A candidate with `agent/player` plays itself; any other candidate is a language model that reasons and acts (see
    `heredity.engine.player`).

    Args:
        model: the model that plays and that programs may call; None if no candidate needs one.
        programs: the sandbox for candidates with programs, and for worlds of folders; its creator closes it.
        settings: `seconds` limits an episode, `max_turns` the model calls of a program per action.
        concurrent: maximum number of concurrent rollouts.
        recent: number of its last actions that a language model sees.

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
        """Run jobs, yielding (position, trajectory) as each one ends; unfinished ones are dropped on close.

        A rollout may take `Solving.seconds` or `Limits.episode_s`, the smaller of the two; a program has `Limits.act_s`
        per action. A trajectory's total reward is normalized: the sum of rewards over the level's bound. It is at most
        1, except for worlds of folders, whose bounds are only declared. These have `Limits.init_s` to start a level and
        `Limits.act_s` per step.

        Raises:
            BudgetError: if the budget does not allow a model call; rollouts in progress are dropped.
            ConfigError: if a candidate or a world needs a sandbox, or a candidate a model, and there is none.
        """

        async def attempt(position: int, job: Job) -> tuple[int, Trajectory]:
            async with self._places:
                return position, await self._attempt(job, limits)

        return as_completed(attempt(position, job) for position, job in enumerate(jobs))

    async def close(self) -> None:
        """No-op: the runner starts no processes."""

    async def _attempt(self, job: Job, limits: Limits) -> Trajectory:
        settings = replace(self.settings, seconds=min(self.settings.seconds, limits.episode_s))
        # Repeats of a rollout differ only in their position; with one seed they would be identical.
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
                        record.add(move, await self._take(process, move, record, limits), process)
        except PlayerFailedError as error:
            return record.failed(error.status, FailureSource.CANDIDATE, str(error), error.traceback)
        return record.trajectory()

    async def _take(self, process: WorldProcess, move: Move, record: _Record, limits: Limits) -> Step:
        """Take an action; if the world fails but continues without it, the failure is the candidate's."""
        try:
            return await process.take(move.given)
        except RolloutError as error:
            if error.failure_source is not FailureSource.ENVIRONMENT or not await self._plays(record, limits):
                raise
            message = (
                f"{error}; without the action {json.dumps(_action(move.given), default=str)[:200]} the world continues"
            )
            raise RolloutError(
                message, error.traceback, status=Status.INVALID_ACTION, failure_source=FailureSource.CANDIDATE
            ) from error

    async def _plays(self, record: _Record, limits: Limits) -> bool:
        """Return True if a fresh level accepts the actions so far, and then continues with another action."""
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
            raise ConfigError("the world is a folder and needs a sandbox; pass programs")
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
                raise ConfigError("the candidate needs a language model; set gateway.execution")
            yield ReactPlayer(parts, (briefing.instruction, briefing.actions), conversation, self._recent)
            return
        if self._programs is None:
            raise ConfigError("the candidate has a program and needs a sandbox; pass programs")
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
    """Placeholder for a missing model: a program that calls it gets an error."""

    name = "none"

    async def reply(self, request: Request) -> Reply:
        raise CandidateError("there is no language model to ask; the run sets none (gateway.execution)")


@dataclass
class _Record:
    """The record of a rollout in progress, and its conversion to a trajectory."""

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
        """Record a player's action, its result, and the next observation."""
        self.moves.append(move)
        self.steps.append(step)
        self.seen.append(process.sight.words)

    def trajectory(self) -> Trajectory:
        """Return the record of a finished episode."""
        return self._trajectory(None, FailureSource.NONE)

    def failed(self, status: str, failure_source: FailureSource, message: str, trace: str = "") -> Trajectory:
        """Return the record of a rollout that was cut short; collected rewards stay in it."""
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


def _open(opening: Opening) -> Runner:
    return WorldRunner(
        opening.model, programs=opening.programs, settings=opening.settings, concurrent=opening.concurrent
    )


def _schema() -> Mapping[str, Any]:
    from heredity._core.described import Described
    from heredity.kinds.world.description import Description

    return Description.model_json_schema(schema_generator=Described)


KIND = Kind(
    "world",
    _open,
    Needs(
        model="optional",
        programs=True,
        calls=(8, 60),
        reads=(*CONVERSING, "limits.init_s", "limits.act_s", "limits.steps"),
    ),
    Candidates(starter=lambda info: plain_player()),
    schema=_schema,
)
