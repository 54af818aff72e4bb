"""`GameRunner`: language models in small games, shown at each step what there is to see and nothing else.

Tasksets of the kind `"glimpse-game"`: for models too small to read a history, games whose observation says all that matters. The
info's spec names the game, `"module:Class"`, which is made of the `level` in a task's spec.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from pkgutil import resolve_name
from typing import Any, Protocol, cast

from heredity.actors.contract import Problem, Solving
from heredity.actors.conversation import Conversation, NoAnswerError
from heredity.actors.parts import Parts, read_parts
from heredity.errors import HostError, ProviderError
from heredity.gateway import Message, Model
from heredity.rollouts.as_they_end import as_they_end
from heredity.rollouts.contract import Job, Limits
from heredity.rollouts.conversation_record import ConversationRecord, check_solving, seeds_of
from heredity.rollouts.trajectory import Trajectory
from heredity.spans import span

GAME = "glimpse-game"
"""The kind of these tasksets."""


class Game(Protocol):
    """One game; `score`, from 0 to 1, counts when it is `done`, which it is after a bounded number of steps."""

    done: bool
    score: float

    @property
    def observation(self) -> str:
        """What a player sees now."""
        ...

    def step(self, action: str) -> None:
        """Take an action, which may be any text."""
        ...


class GameRunner:
    """Attempts games.

    Args:
        model: what plays.
        settings: how it is asked at each step; `seconds` bounds a game.
        concurrent: most games at the same time.

    Raises:
        ConfigError: if a setting is out of range.
    """

    def __init__(self, model: Model, *, settings: Solving | None = None, concurrent: int = 64) -> None:
        self.settings = settings or Solving()
        check_solving(self.settings, concurrent)
        self._model, self._places = model, asyncio.Semaphore(concurrent)

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncGenerator[tuple[int, Trajectory]]:
        """Attempt jobs, yielding (position, trajectory) as each one ends; what has not ended is dropped when it is closed.

        Raises:
            BudgetError: if the budget does not allow a model call.
            ConfigError: if a candidate is no solver.
        """
        settings = replace(self.settings, seconds=min(self.settings.seconds, limits.episode_s))
        seeds = seeds_of(jobs, settings)
        parts = {job.candidate: read_parts(job.candidate) for job in jobs}

        async def attempt(position: int, job: Job) -> tuple[int, Trajectory]:
            async with self._places:
                record = _Record(job, Conversation(self._model, settings, seeds[position]))
                return position, await _attempt(record, parts[job.candidate])

        async with aclosing(as_they_end(attempt(position, job) for position, job in enumerate(jobs))) as ended:
            async for each in ended:
                yield each

    async def close(self) -> None:
        """Do nothing: the runner starts no process of its own."""


class _Record(ConversationRecord):
    """What is known of one game."""

    keys = ("reason",)


async def _attempt(record: _Record, parts: Parts) -> Trajectory:
    job = record.job
    game = cast(Callable[[Any], Game], resolve_name(job.taskset.spec["game"]))(job.task.spec["level"])
    clock = asyncio.timeout(record.talk.settings.seconds)
    with span("attempt", kind="attempt", task=job.task.id, candidate=job.candidate.digest) as step:
        try:
            async with clock:
                while not game.done:
                    game.step(await _said(record.talk, parts, game.observation))
            told = f"{game.observation}\nscore {game.score:g}"
            trajectory = record.trajectory({"reason": told}, told, score=game.score)
        except ProviderError as error:
            trajectory = record.failed("provider_error", "provider", f"{error.kind}: {error}")
        except HostError as error:
            trajectory = record.failed("host_error", "host", str(error))
        except TimeoutError:
            if not clock.expired():
                raise
            message = f"no end within {record.talk.settings.seconds:g} seconds"
            trajectory = record.failed("rollout_timeout", "candidate", message)
        step.set(status=trajectory.status, blame=trajectory.blame, score=trajectory.total_reward)
        return trajectory


async def _said(talk: Conversation, parts: Parts, observation: str) -> str:
    """Ask for an action; a model without words for it passes the turn."""
    messages = [Message("user", parts.question(Problem(observation)))]
    if parts.system:
        messages.insert(0, Message("system", parts.system))
    try:
        return (await talk.ask(messages, messages)).text
    except NoAnswerError:
        return ""
