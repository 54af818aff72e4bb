"""Kinds of tasks that only grade models: answers scored by an `eval.py` or compared by a judge, and text games.

The spec of a text game's taskset names a function, `game_process`, which opens the game of a task. Its kind
determines how the model is queried. Training rows are the steps of a reference solution, each with the exact prompt
of a graded model.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pkgutil import resolve_name
from typing import Any, Protocol, TypeVar, cast

import numpy as np

from heredity._core.errors import ConfigError, HostError
from heredity._core.ids import seed_sequence
from heredity.engine.actor import Problem, Solving
from heredity.engine.conversation import Conversation, NoAnswerError
from heredity.engine.conversation_record import ConversationRecord, check_solving, seeds_of
from heredity.engine.kind import KINDS, Kind, Needs, Opening
from heredity.engine.parts import Parts, fill, read_parts
from heredity.engine.questions.judge import Comparison, pairwise
from heredity.engine.rollout import RolloutError, attributed
from heredity.engine.runner import Job, Runner
from heredity.engine.solver import Solver, build
from heredity.engine.streams import as_completed
from heredity.engine.trajectory import Trajectory
from heredity.kinds.checkpoint.tasks.env.rollout import Episode, Transcript, Turn, following, play, read_reply
from heredity.kinds.checkpoint.tasks.scoring import SCORED, ScoringRunner
from heredity.kinds.checkpoint.tasks.taskset import Spec, dealt_info
from heredity.models import Message, Model, Sampling
from heredity.models.contract import NOTHING_USED, Usage
from heredity.results.status import AnswerStatus, FailureSource, Status
from heredity.sandbox.limits import Limits
from heredity.tasks import TasksetInfo

Rule = Callable[[Mapping[str, Any], str], float]
"""Maps a task's spec and an answer to its quality, 0 to 1; raises ConfigError for an unknown spec."""

MARGIN = 0.02
"""Answers whose quality differs by less are a tie."""

FREE = 1.5
"""Maximum length of a winning answer as a multiple of the reference's; a longer one scores proportionally less."""


class PreferenceJudge(Protocol):
    """Compares a candidate's answer, `a`, with a reference answer, `b`."""

    async def compare(self, spec: Mapping[str, Any], answer: str, seed: int) -> Comparison:
        """Compare an answer with the reference of a task's spec, in both orders; `seed` is the rollout's.

        Raises:
            ProviderError: if the judge gives no verdict; the comparison is then missing, not lost.
        """
        ...


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """A language model as the judge, called in both orders; contradictory verdicts are a tie."""

    model: Model

    async def compare(self, spec: Mapping[str, Any], answer: str, seed: int) -> Comparison:
        """Compare (see `PreferenceJudge.compare`)."""
        greedy = Sampling(temperature=0.0)
        return await pairwise(self.model, spec["question"], answer, spec["reference"], seed=seed, sampling=greedy)


@dataclass(frozen=True, slots=True)
class RuleJudge:
    """A stand-in that applies a rule of the taskset: it runs anywhere, without any understanding."""

    rule: Rule

    async def compare(self, spec: Mapping[str, Any], answer: str, seed: int) -> Comparison:
        """Compare (see `PreferenceJudge.compare`). Each answer is scored separately, so that the order cannot matter.

        Raises:
            ConfigError: if the rule does not know such instructions.
        """
        own, other = (self.rule(spec, text) for text in (answer, spec["reference"]))
        winner = "tie" if abs(own - other) < MARGIN else "a" if own > other else "b"
        why = f"quality {own:.2f} against {other:.2f}"
        return Comparison(winner, True, (why, why), NOTHING_USED)


def points(winner: str, length: int, reference: int) -> float:
    """Return the score of a comparison: 1 for a win, 0.5 for a tie, 0 for a loss; less if the answer is much longer.

    Args:
        winner: `"a"`, `"b"` or `"tie"`; the answer is `a`.
        length: of the answer, in characters.
        reference: that of the reference answer.
    """
    won = {"a": 1.0, "tie": 0.5, "b": 0.0}[winner]
    return won * min(1.0, FREE * max(1, reference) / max(1, length))


PREFERENCE = "preference"
"""The kind of tasksets that are judged by comparison: by the `Rule` that `rule` in their spec names, `"module:function"`,
or else by a model.
"""


class PreferenceRunner:
    """Runs instructions: tasksets of the kind `"preference"`.

    A rollout scores 1 for an answer that the judge prefers to the reference, 0.5 for a tie, 0 for a loss, less if it
    is much longer than the reference (`points`). An empty answer loses. A judge that gives no verdict leaves the
    rollout missing.

    Args:
        model: answers the instructions.
        judge: the model that compares, for tasksets that need one.
        settings: settings of the queries.
        concurrent: maximum concurrent rollouts.

    Raises:
        ConfigError: if a setting is out of range.
    """

    def __init__(
        self, model: Model, *, judge: Model | None = None, settings: Solving | None = None, concurrent: int = 16
    ) -> None:
        self.settings = settings or Solving()
        check_solving(self.settings, concurrent)
        self._model, self._judge = model, judge
        self._places = asyncio.Semaphore(concurrent)

    def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncGenerator[tuple[int, Trajectory]]:
        """Attempt jobs, yielding (position, trajectory) as each one ends; closing the generator drops the rest.

        Raises:
            BudgetError: if the budget does not allow a model call (rollouts in progress are dropped).
            ConfigError: if a judge model is needed and missing, or a candidate is not a solver with only prompts.
        """
        settings = replace(self.settings, seconds=min(self.settings.seconds, limits.episode_s))
        seeds = seeds_of(jobs, settings)
        solvers = {job.candidate: build(job.candidate) for job in jobs}
        if any(solver.needs_programs for solver in solvers.values()):
            raise ConfigError("instructions are answered by a solver of prompts alone; leave out tools and programs")

        async def attempt(position: int, job: Job) -> tuple[int, Trajectory]:
            async with self._places:
                record = _PreferenceRecord(
                    job, Conversation(self._model, settings, seeds[position]), job.task.spec["question"]
                )
                judge = self._judge_of(job.taskset)
                return position, await attributed(record, self._compared(record, solvers[job.candidate], judge))

        return as_completed(attempt(position, job) for position, job in enumerate(jobs))

    async def close(self) -> None:
        """No-op; the runner has no processes of its own."""

    def _judge_of(self, info: TasksetInfo) -> PreferenceJudge:
        rule = info.spec.get("rule")
        if isinstance(rule, str):
            return RuleJudge(cast(Rule, resolve_name(rule)))
        if self._judge is None:
            raise ConfigError(f"{info.name} needs a model as the judge; set gateway.judge")
        return ModelJudge(self._judge)

    async def _compared(self, record: _PreferenceRecord, solver: Solver, judge: PreferenceJudge) -> Trajectory:
        answer = await solver.attempt(Problem(record.job.task.spec["question"]), record.conversation, None)
        spec = record.job.task.spec
        length, reference = len(answer.text), len(spec["reference"])
        lengths = {"length": length, "reference_length": reference}
        if answer.status != AnswerStatus.OK or not answer.text.strip():
            why = {"winner": "b", "reason": answer.detail or "no words"}
            return record.trajectory({**why, **lengths}, "lost: no answer", failure_source=FailureSource.NONE)
        comparison = await judge.compare(spec, answer.text, record.job.policy_seed)
        record.judged = comparison.usage
        info: dict[str, Any] = {
            "winner": comparison.winner,
            "consistent": comparison.consistent,
            "reason": " / ".join(dict.fromkeys(comparison.reasons)),
            **lengths,
        }
        outcome = {"a": "preferred to the reference", "b": "the reference was preferred", "tie": "a tie"}[
            comparison.winner
        ]
        return record.trajectory(
            info, outcome, score=points(comparison.winner, length, reference), failure_source=FailureSource.NONE
        )


@dataclass
class _PreferenceRecord(ConversationRecord):
    """The state of one rollout."""

    keys = ("question", "winner", "consistent", "reason", "length", "reference_length", "notes")

    judged: Usage = NOTHING_USED

    def cost(self) -> dict[str, float]:
        """Return the usage of the conversation and the judge."""
        costs = {"judge_tokens": self.judged.tokens, "judge_cost_usd": self.judged.cost_usd}
        if self.judged == NOTHING_USED:
            return super().cost()
        return {**super().cost(), **{name: float(amount) for name, amount in costs.items() if amount is not None}}


DIALOGUE, GLIMPSE = "text-episode", "glimpse-game"
"""The kinds of tasksets that `heredity.kinds.checkpoint.tasks.kinds.EpisodeRunner` attempts, by how a model is asked: with
all that has happened, or, for models too small to read that, with nothing but the game as it is now.
"""


SEEDS = 1 << 63
"""How many seeds `seed_of` gives: at least so many items has a generator that makes each suite's anew from one."""


class GameProcess(Protocol):
    """An open game. `steps` is the maximum number of actions.

    It may define `harmless`, an action that every working game accepts, if an empty one is not suitable.
    """

    steps: int

    async def reset(self) -> str:
        """Start, and return the first observation. Raises as `step`."""
        ...

    async def step(self, action: str) -> tuple[str, float, bool]:
        """Take an action, any text; return the observation, the reward and True if the game has ended.

        Raises:
            RolloutError: if the game itself fails.
            ProviderError: if a judge that decides the reward gives no verdict.
        """
        ...


_Told = TypeVar("_Told")
GameOpening = Callable[[Spec, Model | None], AbstractAsyncContextManager[GameProcess]]
"""Opens the game of a task's spec; the model is the judge, if any."""


class LocalGameProcess:
    """A fast and trusted game, stepped in this process.

    Args:
        episode: the game.
    """

    def __init__(self, episode: Episode) -> None:
        self.steps, self._episode = episode.steps, episode

    async def reset(self) -> str:
        """Start (see `GameProcess.reset`)."""
        return self._answer(self._episode.reset)

    async def step(self, action: str) -> tuple[str, float, bool]:
        """Take an action (see `GameProcess.step`)."""
        return self._answer(lambda: self._episode.step(action))

    def _answer(self, ask: Callable[[], _Told]) -> _Told:
        try:
            return ask()
        except Exception as error:
            raise RolloutError(f"{type(self._episode).__name__} failed: {type(error).__name__}: {error}") from error


def episode_info(
    name: str, game_process: str, *, version: str, description: str, family: str, kind: str = DIALOGUE, **more: Any
) -> TasksetInfo:
    """Return the info of a game's taskset.

    Args:
        name: the task's.
        game_process: the function that opens a game, `"module:function"`; see `Opening`.
        version: changes whenever the same game may be scored differently.
        description: for people.
        family: label to aggregate by.
        kind: `DIALOGUE` or `GLIMPSE`.
        **more: further JSON values of the spec, such as `judge=True`.
    """
    info = dealt_info(name, version=version, description=description, family=family, kind=kind)
    return replace(info, spec={**info.spec, "game_process": game_process, **more})


def opening_of(info: TasksetInfo) -> GameOpening:
    """Return the function that opens the games of a taskset.

    Raises:
        ConfigError: if it is not a taskset of games.
    """
    game_process = info.spec.get("game_process")
    if info.kind not in (DIALOGUE, GLIMPSE) or not isinstance(game_process, str):
        kinds = f"{DIALOGUE!r} or {GLIMPSE!r}"
        raise ConfigError(f"{info.name} is of the kind {info.kind!r}; expected {kinds} with a game_process in its spec")
    return cast(GameOpening, resolve_name(game_process))


def episode_solving(max_tokens: int = 64, seconds: float = 4 * 3600.0) -> Solving:
    """Return the settings for querying a game's model: greedily, for replies of one thought and one action.

    Steps, tokens and the worker's own limits end an episode. The timeout is a last resort: a game's duration depends
    on the machine and on concurrent games, and a score must not.
    """
    return Solving(max_turns=1, max_tokens=max_tokens, temperature=0.0, seconds=seconds)


def seed_of(entropy: int, *path: str) -> int:
    """Return a seed of 63 bits, which fits all our formats, derived from a suite's entropy without revealing it."""
    return int(seed_sequence(entropy, "posttraining", *path).generate_state(1, np.uint64)[0]) >> 1


def environment_files(*names: str) -> dict[str, bytes]:
    """Return modules of the package `env` as files of a workspace, with their common dependencies."""
    folder = files("heredity.kinds.checkpoint.tasks.env")
    return {f"env/{name}.py": (folder / f"{name}.py").read_bytes() for name in ("__init__", "rollout", *names)}


def demonstrated(
    episode: Episode, instruction: str, steps: Iterable[tuple[str, str]], least: float = 1.0
) -> list[dict[str, str]]:
    """Play a reference solution and return its steps as training rows: `prompt` and `completion`.

    Raises:
        ConfigError: if it collects less than `least`: then the game or its solution is wrong.
    """
    solution = list(steps)
    played = play(episode, instruction, following(solution))
    if not played.done or played.total < least:
        raise ConfigError(
            f"a reference solution collects {played.total:g}; expected {least:g}: the game or the solution is wrong"
        )
    return [{"prompt": q, "completion": a} for q, a in zip(played.asked, played.replies, strict=True)]


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

        An episode may take `Solving.seconds` or `Limits.episode_s`, the smaller of the two.

        Raises:
            BudgetError: if the budget does not allow a model call (rollouts in progress are dropped).
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
            "obs": [*self._screens(length), last],
            "action": list(self.actions),
            "reward": rewards,
            "terminated": at_end & done,
            "truncated": at_end & (not done),
        }
        return replace(made, columns=columns, length=length, terminated=done)

    def _screens(self, length: int) -> list[str]:
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
