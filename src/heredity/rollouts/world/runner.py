"""`WorldRunner`: players in worlds. A player sees what a world shows and nothing else.

Heredity's own worlds are stepped in this process, those of folders in the sandbox (see `heredity.rollouts.world.process`).
"""

from __future__ import annotations

import asyncio
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
from heredity.errors import CandidateError, ConfigError
from heredity.gateway import Model, Reply, Request
from heredity.ids import seed_sequence
from heredity.results.status import FailureSource, Status
from heredity.rollouts.contract import Job
from heredity.rollouts.rollout import attributed
from heredity.rollouts.streams import as_completed
from heredity.rollouts.trajectory import Column, Failure, Trajectory
from heredity.rollouts.world.folder_process import folder_stage
from heredity.rollouts.world.process import LibraryStage, Stage, Told
from heredity.sandbox.limits import Limits
from heredity.worlds.contract import RefusedError
from heredity.worlds.episode import Step


class WorldRunner:
    """Attempts levels of worlds: tasksets of the kind `"world"`.

    A candidate with `agent/player` plays itself; any other one is a language model that reasons and acts (see
    `heredity.actors.player`).

    Args:
        model: what plays, and what programs may ask; None if no candidate needs one.
        programs: the sandbox for candidates that have programs, and for worlds of folders; whoever made it closes it.
        settings: `seconds` bounds an episode, `max_turns` the model calls of a program for one action.
        concurrent: most attempts at the same time.
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

        An attempt may take `Solving.seconds` or `Limits.episode_s`, whichever is less, a program `Limits.act_s` for an action.
        The total reward of a trajectory is normalised: the sum of rewards over the level's bound. It is at most 1, but for
        worlds of folders, whose bounds are only declared. These have `Limits.init_s` to begin a level and `Limits.act_s` for
        each step.

        Raises:
            BudgetError: if the budget does not allow a model call; the attempts under way are dropped.
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
        # Repeats of an attempt differ in their place alone; with one seed they would all be alike.
        seed = int(seed_sequence(job.policy_seed, "play", job.episode_index).generate_state(1)[0])
        record = _Record(job, Conversation(self._model or _NoModel(), settings, seed))
        return await attributed(record, self._played(record, limits), settings.seconds)

    async def _played(self, record: _Record, limits: Limits) -> Trajectory:
        try:
            async with self._stage(record, limits) as stage:
                record.seen.append(stage.sight.words)
                try:
                    parts = read_player(record.job.candidate)
                except ConfigError as error:
                    return record.failed(Status.IMPORT_ERROR, FailureSource.CANDIDATE, str(error))
                async with self._player(parts, stage.told, record, limits) as player:
                    while not stage.done and (limits.steps is None or len(record.steps) < limits.steps):
                        move = await player.act(stage.sight)
                        record.add(move, await stage.take(move.given), stage)
        except PlayerFailedError as error:
            return record.failed(error.status, FailureSource.CANDIDATE, str(error), error.traceback)
        return record.trajectory()

    @asynccontextmanager
    async def _stage(self, record: _Record, limits: Limits) -> AsyncGenerator[Stage]:
        spec = record.job.task.spec
        if "folder" not in spec:
            yield LibraryStage(spec)
        elif self._programs is None:
            raise ConfigError("the world is a folder, and there is no sandbox to run it in; give programs")
        else:
            async with folder_stage(spec, self._programs, limits) as stage:
                yield stage

    @asynccontextmanager
    async def _player(self, parts: Parts, told: Told, record: _Record, limits: Limits) -> AsyncGenerator[Player]:
        talk = record.talk
        if parts.program is None:
            if self._model is None:
                raise ConfigError(
                    "the candidate is played by a language model, and there is none; set gateway.execution"
                )
            yield ReactPlayer(parts, (told.instruction, told.actions), talk, self._recent)
            return
        if self._programs is None:
            raise ConfigError("the candidate has a program, and there is no sandbox to run it in; give programs")
        services = Services(talk, Toolbox(parts.tools, self._programs, talk))
        given = {
            "instruction": told.instruction,
            "actions": told.listed,
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
    """What is known of one attempt while it lasts, and how it becomes a trajectory."""

    job: Job
    talk: Conversation
    program: ProgramPlayer | None = None
    moves: list[Move] = field(default_factory=list[Move])
    steps: list[Step] = field(default_factory=list[Step])
    seen: list[str] = field(default_factory=list[str])
    started: float = field(default_factory=time.monotonic)

    @property
    def _bound(self) -> float:
        return float(self.job.task.spec["bound"])

    def add(self, move: Move, step: Step, stage: Stage) -> None:
        """Keep what a player did, what came of it, and what it sees now."""
        self.moves.append(move)
        self.steps.append(step)
        self.seen.append(stage.sight.words)

    def trajectory(self) -> Trajectory:
        """Return the record of an episode that has ended."""
        return self._trajectory(None, FailureSource.NONE)

    def failed(self, status: str, blame: FailureSource, message: str, trace: str = "") -> Trajectory:
        """Return the record of an attempt that something ended before its time; what was collected stays on record."""
        return self._trajectory(Failure(status, message, trace, len(self.steps)), blame)

    def _trajectory(self, failure: Failure | None, blame: FailureSource) -> Trajectory:
        terminated = bool(self.steps) and self.steps[-1].terminated
        return Trajectory(
            task_id=self.job.task.id,
            candidate=self.job.candidate.digest,
            status=failure.category if failure else Status.OK,
            blame=blame,
            total_reward=float(sum(step.reward for step in self.steps)) / self._bound,
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
            "reward": rewards / self._bound,
            "terminated": np.array([step.terminated for step in steps], np.bool_),
            "truncated": last & truncated,
            "messages": [message.to_json() for message in self.talk.messages],
            "info/message": [step.message for step in steps],
            "info/refused": [step.refused for step in steps],
            "info/thought": [move.thought or None for move in self.moves],
            "info/total": np.cumsum(rewards),
            "info/bound": np.full(length, self._bound),
        }

    def _cost(self) -> Mapping[str, float]:
        amounts: dict[str, Any] = {
            **self.talk.usage.to_json(),
            "model_calls": self.talk.calls,
            "tool_calls": self.talk.tool_calls,
            "act_s": self.program.act_s if self.program else None,
        }
        return {name: float(amount) for name, amount in amounts.items() if amount is not None}


def _action(given: object) -> Any:
    return {"action": None, "params": {}} if isinstance(given, RefusedError) else given
