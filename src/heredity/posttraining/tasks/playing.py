"""`EpisodeRunner`: language models in games of text, step by step."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from heredity.actors.contract import Solving
from heredity.actors.conversation import Conversation, NoAnswerError
from heredity.actors.parts import Parts, fill, read_parts
from heredity.errors import ConfigError, HostError
from heredity.gateway import Message, Model
from heredity.posttraining.tasks.asking import ASKING
from heredity.posttraining.tasks.episodes import LocalGameProcess, opening_of
from heredity.results.status import FailureSource, Status
from heredity.rollouts.contract import Job
from heredity.rollouts.conversation_record import ConversationRecord, check_solving, seeds_of
from heredity.rollouts.rollout import RolloutError, attributed
from heredity.rollouts.streams import as_completed
from heredity.rollouts.trajectory import Trajectory
from heredity.sandbox.limits import Limits


class EpisodeRunner:
    """Rollouts games of text: tasksets of the kinds `"text-episode"` and `"glimpse-game"`.

    The solver's `prompt/question` is what the game is; `{{question}}` in it is replaced by what the kind shows of it, all that has
    happened or the game as it is now. The model sees one message at each step, and no reward.

    Args:
        model: what plays.
        judge: the model that decides answers, where a game says so.
        settings: how the model is asked; `seconds` bounds an episode.
        concurrent: most episodes at the same time; a taskset may want fewer (`concurrent` in its spec).

    Raises:
        ConfigError: if a setting is out of range.
    """

    def __init__(
        self, model: Model, *, judge: Model | None = None, settings: Solving | None = None, concurrent: int = 16
    ) -> None:
        self.settings = settings or Solving()
        check_solving(self.settings, concurrent)
        self._model, self._judge = model, judge
        self._concurrent, self._places = concurrent, asyncio.Semaphore(concurrent)

    def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncGenerator[tuple[int, Trajectory]]:
        """Attempt jobs, yielding (position, trajectory) as each one ends; what has not ended is dropped when it is closed.

        An episode may take `Solving.seconds` or `Limits.episode_s`, whichever is less.

        Raises:
            BudgetError: if the budget does not allow a model call; the rollouts under way are dropped.
            ConfigError: if the game needs a judge and there is none, or a candidate is no solver of prompts alone.
        """
        settings = replace(self.settings, seconds=min(self.settings.seconds, limits.episode_s))
        seeds = seeds_of(jobs, settings)
        parts = {job.candidate: _asking(read_parts(job.candidate)) for job in jobs}
        fewest = min((int(job.taskset.spec.get("concurrent", self._concurrent)) for job in jobs), default=1)
        few = asyncio.Semaphore(fewest)

        async def attempt(position: int, job: Job) -> tuple[int, Trajectory]:
            async with few, self._places:
                record = _Record(job, Conversation(self._model, settings, seeds[position]))
                played = self._played(record, parts[job.candidate], limits.steps)
                return position, await attributed(record, played, settings.seconds)

        return as_completed(attempt(position, job) for position, job in enumerate(jobs))

    async def close(self) -> None:
        """Do nothing: the runner starts no process of its own."""

    async def _played(self, record: _Record, parts: Parts, steps: int | None) -> Trajectory:
        job = record.job
        judged = bool(job.taskset.spec.get("judge"))
        if judged and self._judge is None:
            raise ConfigError(f"{job.taskset.name} is decided by a model, and there is none; set gateway.judge")
        async with opening_of(job.taskset)(job.task.spec, self._judge if judged else None) as game_process:
            observation, done = await game_process.reset(), False
            asking, most = ASKING[job.taskset.kind](observation), min(game_process.steps, steps or game_process.steps)
            while not done and len(record.rewards) < most:
                action = asking.action(await _reply_text(record, asking.shown, parts))
                try:
                    observation, reward, done = await game_process.step(action)
                except RolloutError as error:
                    # What a judge or a search on the web fails at says nothing of the action.
                    local = isinstance(game_process, LocalGameProcess) or not judged
                    if local and await _plays(job):
                        raise _broken_by(action, error) from error
                    raise
                asking.follow(observation)
                record.actions.append(action)
                record.rewards.append(reward)
        return record.played(done, observation)


async def _plays(job: Job) -> bool:
    """Whether a fresh game of a task takes a harmless action, where none has a judge to ask."""
    try:
        async with opening_of(job.taskset)(job.task.spec, None) as fresh:
            await fresh.reset()
            await fresh.step(getattr(fresh, "harmless", ""))
    except (RolloutError, HostError):
        return False
    return True


def _broken_by(action: str, error: RolloutError) -> RolloutError:
    """Return the error of an action that broke a game which plays: nobody gets rid of a bad episode in this way."""
    message = f"{error}; without the action {action[:80]!r} it plays"
    return RolloutError(message, error.traceback, status=Status.INVALID_ACTION, failure_source=FailureSource.CANDIDATE)


async def _reply_text(record: _Record, shown: str, parts: Parts) -> str:
    """Ask for the next action. A model without words for it does nothing at this step."""
    messages = [Message("user", fill(parts.prompts["question"], {"question": shown}))]
    if parts.system:
        messages.insert(0, Message("system", parts.system))
    try:
        return (await record.conversation.ask(messages, messages)).text
    except NoAnswerError:
        return ""


def _asking(parts: Parts) -> Parts:
    if parts.program is not None or parts.tools or "question" not in parts.prompts:
        raise ConfigError(
            "a game is played by a solver of prompts alone, with prompt/question; leave out its tools and its program"
        )
    return parts


@dataclass
class _Record(ConversationRecord):
    """What is known of one episode."""

    actions: list[str] = field(default_factory=list[str])
    rewards: list[float] = field(default_factory=list[float])

    def played(self, done: bool, last: str) -> Trajectory:
        """Return the record of an episode that ended, or ran out of steps; it has a row for each step."""
        length = len(self.rewards)
        rewards, at_end = np.array(self.rewards, np.float64), np.arange(length) == length - 1
        made = self.trajectory({}, last, score=float(rewards.sum()), failure_source=FailureSource.NONE)
        columns: dict[str, Any] = {
            **made.columns,
            "obs": [*self._seen(length), last],
            "action": list(self.actions),
            "reward": rewards,
            "terminated": at_end & done,
            "truncated": at_end & (not done),
        }
        return replace(made, columns=columns, length=length, terminated=done)

    def _seen(self, length: int) -> list[str]:
        return [turn.messages_shown[-1].content for turn in self.conversation.turns][:length]
