"""Kinds of tasks that only grade models: answers scored by an `eval.py` or compared by a judge, and text games."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from heredity._core.errors import ConfigError, HostError
from heredity.engine.actor import Solving
from heredity.engine.conversation import Conversation, NoAnswerError
from heredity.engine.conversation_record import ConversationRecord, check_solving, seeds_of
from heredity.engine.kind import KINDS, Kind, Needs, Opening
from heredity.engine.parts import Parts, fill, read_parts
from heredity.engine.rollout import RolloutError, attributed
from heredity.engine.runner import Job, Runner
from heredity.engine.streams import as_completed
from heredity.engine.trajectory import Trajectory
from heredity.kinds.checkpoint.tasks.env.rollout import Transcript, Turn, read_reply
from heredity.kinds.checkpoint.tasks.episodes import DIALOGUE, GLIMPSE, LocalGameProcess, opening_of
from heredity.kinds.checkpoint.tasks.preference.runner import KIND as PREFERENCE
from heredity.kinds.checkpoint.tasks.preference.runner import PreferenceRunner
from heredity.kinds.checkpoint.tasks.scoring import SCORED, ScoringRunner
from heredity.models import Message, Model
from heredity.results.status import FailureSource, Status
from heredity.sandbox.limits import Limits


class Asking(Protocol):
    """One episode from the player's perspective."""

    @property
    def shown(self) -> str:
        """The player's current prompt."""
        ...

    def action(self, reply: str) -> str:
        """Return the action in a reply, which may be any text."""
        ...

    def follow(self, observation: str) -> None:
        """Add the result of that action."""
        ...


class Dialogue:
    """Shows the whole history, as `env.rollout.play` does; a reply is a thought and an action.

    Args:
        opening: the first observation.
    """

    def __init__(self, opening: str) -> None:
        self._transcript, self._reply = Transcript(opening), ("", "")

    @property
    def shown(self) -> str:
        """The history, without the oldest steps if there are too many."""
        return f"{self._transcript.text()}\n"

    def action(self, reply: str) -> str:
        """Read an action (see `Asking.action`)."""
        self._reply = read_reply(reply)
        return self._reply[1]

    def follow(self, observation: str) -> None:
        """Add an observation (see `Asking.follow`)."""
        self._transcript.turns.append(Turn(*self._reply, observation))


class Glimpse:
    """Shows only the last observation, which has all relevant information; a reply is the action.

    Args:
        opening: the first observation.
    """

    def __init__(self, opening: str) -> None:
        self.shown = opening

    def action(self, reply: str) -> str:
        """Read an action (see `Asking.action`)."""
        return reply

    def follow(self, observation: str) -> None:
        """Add an observation (see `Asking.follow`)."""
        self.shown = observation


ASKING: Mapping[str, Callable[[str], Asking]] = {DIALOGUE: Dialogue, GLIMPSE: Glimpse}
"""Maps the kind of a taskset of games to its `Asking`, constructed from the first observation."""


class EpisodeRunner:
    """Runs text games: tasksets of the kinds `"text-episode"` and `"glimpse-game"`.

    The solver's `prompt/question` describes the game; `{{question}}` in it is replaced by the kind's view of it, the
    whole history or the current state. The model sees one message at each step, and no reward.

    Args:
        model: the player.
        judge: the model that decides answers, for games that need one.
        settings: settings of the queries; `seconds` limits an episode.
        concurrent: maximum concurrent episodes; a taskset may lower it (`concurrent` in its spec).

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
        """Attempt jobs, yielding (position, trajectory) as each one ends; closing the generator drops the rest.

        An episode may take `Solving.seconds` or `Limits.episode_s`, whichever is less.

        Raises:
            BudgetError: if the budget does not allow a model call; rollouts in progress are dropped.
            ConfigError: if the game needs a judge that is missing, or a candidate is not a solver with only prompts.
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
        """No-op; the runner has no processes of its own."""

    async def _played(self, record: _Record, parts: Parts, steps: int | None) -> Trajectory:
        job = record.job
        judged = bool(job.taskset.spec.get("judge"))
        if judged and self._judge is None:
            raise ConfigError(f"{job.taskset.name} needs a model as the judge; set gateway.judge")
        async with opening_of(job.taskset)(job.task.spec, self._judge if judged else None) as game_process:
            observation, done = await game_process.reset(), False
            asking, most = ASKING[job.taskset.kind](observation), min(game_process.steps, steps or game_process.steps)
            while not done and len(record.rewards) < most:
                action = asking.action(await _reply_text(record, asking.shown, parts))
                try:
                    observation, reward, done = await game_process.step(action)
                except RolloutError as error:
                    # A failure of a judge or a web search is not caused by the action.
                    local = isinstance(game_process, LocalGameProcess) or not judged
                    if local and await _plays(job):
                        raise _broken_by(action, error) from error
                    raise
                asking.follow(observation)
                record.actions.append(action)
                record.rewards.append(reward)
        return record.played(done, observation)


async def _plays(job: Job) -> bool:
    """Return True if a fresh game of a task, without a judge, accepts a harmless action."""
    try:
        async with opening_of(job.taskset)(job.task.spec, None) as fresh:
            await fresh.reset()
            await fresh.step(getattr(fresh, "harmless", ""))
    except (RolloutError, HostError):
        return False
    return True


def _broken_by(action: str, error: RolloutError) -> RolloutError:
    """Return the error of an action that broke a working game, so that players cannot discard bad episodes this way."""
    message = f"{error}; without the action {action[:80]!r} it plays"
    return RolloutError(message, error.traceback, status=Status.INVALID_ACTION, failure_source=FailureSource.CANDIDATE)


async def _reply_text(record: _Record, shown: str, parts: Parts) -> str:
    """Request the next action. A model without an answer does nothing at this step."""
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
    """The state of one episode."""

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


def _open_scored(opening: Opening) -> Runner:
    assert opening.programs is not None, "needed"
    return ScoringRunner(KINDS.load("question").open(opening), opening.programs)


def _open_game(opening: Opening) -> Runner:
    assert opening.model is not None, "required"
    return EpisodeRunner(opening.model, judge=opening.judge, settings=opening.settings, concurrent=opening.concurrent)


def _open_preference(opening: Opening) -> Runner:
    assert opening.model is not None, "required"
    return PreferenceRunner(
        opening.model, judge=opening.judge, settings=opening.settings, concurrent=opening.concurrent
    )


_PLAYED = Needs(model="required", purpose="games of text are played", judge=True)

SCORED_ANSWERS = Kind(
    SCORED,
    _open_scored,
    Needs(
        model="required",
        purpose="questions are answered",
        offline="local/smollm2-135m",
        judge=True,
        programs=True,
        tools=True,
    ),
)
DIALOGUES = Kind(DIALOGUE, _open_game, _PLAYED)
GLIMPSES = Kind(GLIMPSE, _open_game, _PLAYED)
PREFERENCES = Kind(
    PREFERENCE, _open_preference, Needs(model="required", purpose="instructions are answered", judge=True)
)
