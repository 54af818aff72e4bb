"""Episodes for a table: players run on the shipped test levels several times; results are stored and not repeated.

Three agents have no language model. None of them is a candidate: they play in this process. `random` is the floor of
every table. `reference` sees the full state and shows the achievable reward. `search` is the model-free baseline: it
learns from rewards alone. It may practise on the judged level, so its score shows how far reward alone leads; do not
compare it with agents that see a level once.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, FiniteFloat

from heredity._core.errors import ConfigError, DamagedRecordError, UnknownNameError
from heredity._core.ids import digest_bytes, generator
from heredity._core.outside import ANY_SIZE, read_bytes
from heredity._core.refusals import json_rows, reading
from heredity._core.workers import process_pool
from heredity.analysis.worlds import GROUPS, RELEASED
from heredity.engine.programs import SandboxedPrograms
from heredity.engine.runner import Job, Runner
from heredity.engine.trajectory import Trajectory
from heredity.kinds.world.episode import Episode, sample_action
from heredity.kinds.world.folders.findings import UnjudgedError, play_folder
from heredity.kinds.world.folders.folder import TEST, is_folder
from heredity.kinds.world.skins import render
from heredity.kinds.world.taskset import FolderTaskset, WorldTaskset, world_digest
from heredity.kinds.world.world import Level, World, sound_worlds, world
from heredity.resources import Candidate
from heredity.results.status import Status
from heredity.sandbox.limits import Limits
from heredity.session.rollouts import Rollouts

FILE = "episodes.jsonl"
TRANSCRIPTS = "transcripts.jsonl"
Row = dict[str, Any]
_REMEDY = "delete the line or the file"
Notify = Callable[[], None]
"""Called after each episode."""


@dataclass(frozen=True, slots=True)
class Exam:
    """The episodes to play.

    Attributes:
        worlds: their names, or paths of world folders.
        runs: number of runs per level, each with another seed.
        levels: number of test levels per world, difficulties alternating (all levels of a folder that has fewer).
        skin: one of `heredity.kinds.world.skins.SKINS`; folders support only `"text"`.
    """

    worlds: tuple[str, ...]
    runs: int = 3
    levels: int = 10
    skin: str = "text"


class _Kept(BaseModel):
    """Required fields of a line of the file; others are allowed."""

    key: str
    world: str
    level: str
    run: int
    score: FiniteFloat
    total: FiniteFloat
    steps: int
    cost_usd: FiniteFloat | None = None


class Episodes:
    """Rows of one player's episodes; with a folder they outlive the process.

    Args:
        player: the player's name, which identifies everything that could change a score.
        exam: the episodes to play.
        folder: folder for `episodes.jsonl` and the conversations in `transcripts.jsonl`; None keeps nothing.

    Attributes:
        exam: which episodes.
        why_missing: reason why the last unplayed episode failed; `""` if none.

    Raises:
        DamagedRecordError: if a line of the file is not an episode.
    """

    def __init__(self, player: str, exam: Exam, folder: Path | None = None) -> None:
        self._player, self.exam = player, exam
        self._sets = {name: _taskset(name, exam.skin) for name in exam.worlds}
        self._tasks = {name: tasks.draw("heldout", _levels(tasks, exam), 0) for name, tasks in self._sets.items()}
        self._rows: dict[str, Row] = {}
        self.why_missing = ""
        self._path = folder / FILE if folder else None
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._read(self._path)

    @property
    def _episodes(self) -> Iterator[tuple[str, int, int]]:
        """World, index of the level, and run of every episode."""
        for name in self.exam.worlds:
            for run in range(self.exam.runs):
                for index in range(len(self._tasks[name])):
                    yield name, index, run

    @property
    def rows(self) -> list[Row]:
        """Recorded episodes of the exam, in its order."""
        return [self._rows[key] for key in map(self._key, self._episodes) if key in self._rows]

    @property
    def missing(self) -> list[tuple[str, int, int]]:
        """Episodes of the exam that have not been played."""
        return [episode for episode in self._episodes if self._key(episode) not in self._rows]

    def play_agent(self, name: str, notify: Notify) -> None:
        """Play missing episodes in worlds of the library with a built-in agent, one process per core.

        Raises:
            UnknownNameError: if the agent is unknown.
        """
        agent(name)
        missing = [episode for episode in self.missing if not is_folder(episode[0])]
        if not missing:
            return
        workers = min(len(os.sched_getaffinity(0)), len(missing))
        with process_pool(workers) as pool:
            waiting = {
                pool.submit(_play, name, w, self._level(w, index), run): (w, index, run) for w, index, run in missing
            }
            try:
                for future in as_completed(waiting):
                    self._keep(waiting[future], future.result())
                    notify()
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    async def play_agent_in_folders(self, name: str, programs: SandboxedPrograms, notify: Notify) -> None:
        """Play missing episodes in folders with a built-in agent, one per core at a time.

        Episodes that only wait cannot be judged and stay missing.

        Raises:
            ConfigError: if the agent cannot play folders.
        """
        places = asyncio.Semaphore(len(os.sched_getaffinity(0)))

        async def play(episode: tuple[str, int, int]) -> None:
            world_name, index, run = episode
            async with places:
                with contextlib.suppress(UnjudgedError):
                    task = self._tasks[world_name][index]
                    self._keep(episode, await play_folder(name, task.spec, run, programs))
                notify()

        await asyncio.gather(*(play(episode) for episode in self.missing if is_folder(episode[0])))

    async def play_candidate(self, candidate: Candidate, runner: Runner, limits: Limits, notify: Notify) -> None:
        """Play missing episodes with a candidate. Episodes that a provider or this host failed, after retries, stay missing.

        Raises:
            BudgetError: if the budget does not allow a model call.
            OutageError: if the model is unavailable; played episodes are kept.
            ConfigError: if the candidate needs a sandbox or a model, and there is none.
        """
        missing = self.missing
        jobs = [
            Job(self._sets[name].info, candidate, self._tasks[name][index], episode_index=index, policy_seed=run)
            for name, index, run in missing
        ]

        def ended(position: int, trajectory: Trajectory) -> None:
            notify()
            if not trajectory.failure_source.excused:
                self._tell(missing[position], trajectory)
                self._keep(missing[position], _row(trajectory, float(jobs[position].task.spec["bound"])))
            elif trajectory.failure is not None:
                self.why_missing = trajectory.failure.message

        await Rollouts(runner, limits).attempt(jobs, ended)

    def _level(self, name: str, index: int) -> str:
        spec = self._tasks[name][index].spec
        return str(spec["level"] if is_folder(name) else spec["id"])

    def _key(self, episode: tuple[str, int, int]) -> str:
        name, index, run = episode
        tasks = self._sets[name]
        digest = tasks.folder.digest if isinstance(tasks, FolderTaskset) else world_digest(name)
        return json.dumps([self._player, name, digest, self.exam.skin, self._level(name, index), run])

    def _keep(self, episode: tuple[str, int, int], played: Row) -> None:
        name, index, run = episode
        key = self._key(episode)
        row = {"world": name, "level": self._level(name, index), "run": run, **played}
        self._rows[key] = row
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, **row}, default=str) + "\n")

    def _tell(self, episode: tuple[str, int, int], trajectory: Trajectory) -> None:
        """Record the conversation of an episode."""
        if self._path is not None:
            row = {"key": self._key(episode), "messages": trajectory.columns.get("messages", [])}
            with (self._path.parent / TRANSCRIPTS).open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")

    def _read(self, path: Path) -> None:
        if not path.exists():
            return
        with reading(path, "text", _REMEDY, DamagedRecordError):
            lines = read_bytes(path, ANY_SIZE).splitlines(keepends=True)
        if lines and not lines[-1].endswith(b"\n"):
            # A process killed while writing leaves half a line; that episode is played again.
            path.write_bytes(b"".join(lines[:-1]))
        for where, row in json_rows(path, "an episode", _REMEDY, DamagedRecordError):
            with reading(where, "an episode", _REMEDY, DamagedRecordError, _Kept):
                key = _Kept.model_validate(row).key
            self._rows[key] = {name: value for name, value in row.items() if name != "key"}


def groups_of(names: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """Return each world's groups in AutoEnv's table 3."""
    return {name: tuple(group for group in GROUPS if group in _features(name)) for name in names}


def is_release(names: Sequence[str]) -> bool:
    """Return True if worlds are the 36 folders of AutoEnv's release, each once, by their leading numbers."""
    numbers = [re.match(r"\d+(?=_)", Path(name).resolve().name) for name in names if is_folder(name)]
    return len(names) == RELEASED and {int(n[0]) for n in numbers if n} == {*range(1, RELEASED + 1)}


def check_exam(exam: Exam) -> None:
    """Raise if an exam is invalid.

    Raises:
        ConfigError: without worlds, or if a number is out of range.
        UnknownNameError: if a world or the skin is unknown.
    """
    if not exam.worlds or exam.runs < 1:
        raise ConfigError(f"{len(exam.worlds)} worlds and {exam.runs} runs requested; give at least 1 of both")
    for name in exam.worlds:
        tasks = _taskset(name, exam.skin)
        tasks.draw("heldout", _levels(tasks, exam), 0)


def _taskset(name: str, skin: str) -> WorldTaskset | FolderTaskset:
    if not is_folder(name):
        return WorldTaskset(name, skin)
    if skin != "text":
        raise ConfigError(f"{name} is a world folder and has no skins; omit --skin or the folder")
    return FolderTaskset(name)


def _levels(tasks: WorldTaskset | FolderTaskset, exam: Exam) -> int:
    return min(exam.levels, len(tasks.folder.levels(TEST))) if isinstance(tasks, FolderTaskset) else exam.levels


def _features(name: str) -> tuple[str, ...]:
    """Return the columns of table 3 for a world; a folder has those of the row of table A6 whose number begins its name."""
    if not is_folder(name):
        meta = world(name).description.meta
        return meta.reward, meta.observation, meta.semantics
    number = re.match(r"\d+(?=_)", Path(name).resolve().name)
    metas = [made.description.meta for made in sound_worlds()[0].values()]
    row = next((meta for meta in metas if number and meta.paper and meta.paper[0] == int(number[0])), None)
    return (row.reward, row.observation, row.semantics) if row else ()


def _play(name: str, world_name: str, level: str, run: int) -> Row:
    made = world(world_name)
    chosen = made.level(level)
    played = agent(name)(made, chosen, run)
    score = played.total / chosen.upper_bound.value
    return {"score": score, "total": played.total, "steps": played.steps, "practice": played.practice, "cost_usd": 0.0}


def _row(trajectory: Trajectory, upper_bound: float) -> Row:
    score, cost = trajectory.total_reward, trajectory.cost
    if trajectory.status != Status.OK:
        score = min(score, 0.0)
    actions = list(trajectory.columns.get("action", ()))
    tokens = [cost.get("input_tokens"), cost.get("output_tokens")]
    return {
        "score": score,
        "total": score * upper_bound,
        "steps": trajectory.length,
        "actions": actions,
        "unread": sum(isinstance(action, dict) and action.get("action", "") is None for action in actions),
        "status": trajectory.status,
        "failure": trajectory.failure.message if trajectory.failure else None,
        "cost_usd": cost.get("cost_usd"),
        "tokens": None if None in tokens else sum(t for t in tokens if t is not None),
        "model_calls": cost.get("model_calls"),
        "seconds": round(trajectory.seconds, 3),
    }


PRACTICE = 10_000
"""Default number of steps that `search` may practise on a level."""

_TRIES = 4
_EXPLORE = 0.7


@dataclass(frozen=True, slots=True)
class Played:
    """A finished episode.

    Attributes:
        total: sum of its rewards, in the world's own unit.
        steps: its length.
        practice: steps taken on the level before, not counted in the score.
    """

    total: float
    steps: int
    practice: int = 0


Agent = Callable[[World, Level, int], Played]
"""Signature of an agent: plays a level; the last argument is a seed."""


def play_random(world: World, level: Level, seed: int) -> Played:
    """Play actions that are drawn uniformly, well typed but blind."""
    rng = generator(seed, "agent", "random", world.name, level.id)
    return _finish(world.start(level.data), iter(lambda: sample_action(rng, world.description.actions).to_json(), None))


def play_reference(world: World, level: Level, seed: int = 0) -> Played:
    """Play the reference solution; `seed` is ignored."""
    return _finish(world.start(level.data), iter([action.to_json() for action in world.levels.solve(level.data)]))


def play_search(world: World, level: Level, seed: int, practice: int = PRACTICE) -> Played:
    """Practise on the level, then play the best episode found once more.

    It uses the information available to any agent: the text that a reset or a step returns, the reward, and the action
    space. Each text is a place. An episode returns to a place by the actions that led there, which works because a
    world is deterministic, and then tries untried actions. The place is chosen by an upper confidence bound on the
    reward collected there and the number of episodes started from it (after Go-Explore, Ecoffet et al. 2021, "First
    return, then explore").

    Args:
        world: the world.
        level: the level to practise on and to play.
        seed: seeds its choices.
        practice: steps it may take before the scored episode.
    """
    search = _Search(world, level, generator(seed, "agent", "search", world.name, level.id))
    while search.steps < practice:
        search.episode()
    played = _finish(world.start(level.data), iter(search.best))
    return Played(played.total, played.steps, search.steps)


AGENTS: dict[str, Agent] = {"random": play_random, "reference": play_reference, "search": play_search}
"""The agents by name."""


def agent(name: str) -> Agent:
    """Return an agent by its name.

    Raises:
        UnknownNameError: if the name is unknown.
    """
    if name not in AGENTS:
        raise UnknownNameError("agent", name, AGENTS)
    return AGENTS[name]


def _finish(episode: Episode, actions: Iterator[Any]) -> Played:
    while not episode.done:
        episode.step(next(actions, None))
    return Played(episode.total, episode.t)


@dataclass(slots=True)
class _Place:
    """A visited text: the actions that led there, their reward, and the actions tried from it."""

    actions: tuple[Any, ...]
    total: float
    started: int = 0
    tried: set[str] = field(default_factory=set[str])


class _Search:
    def __init__(self, world: World, level: Level, rng: np.random.Generator) -> None:
        self._world, self._level, self._rng = world, level, rng
        self.best: Sequence[Any] = ()
        self._most = -math.inf
        self.steps = 0
        self._places: dict[str, _Place] = {}
        self._reach(self._key(world.start(level.data)), (), 0.0)

    def episode(self) -> None:
        """Return to a promising place and continue to the end."""
        node = self._promising()
        node.started += 1
        episode = self._world.start(self._level.data)
        for action in node.actions:
            episode.step(action)
        actions = list(node.actions)
        while not episode.done:
            action = self._untried(node)
            episode.step(action)
            actions.append(action)
            if not episode.done:
                node = self._reach(self._key(episode), tuple(actions), episode.total)
        self.steps += len(actions)
        if episode.total > self._most:
            self._most, self.best = episode.total, tuple(actions)

    def _promising(self) -> _Place:
        places = list(self._places.values())
        totals = np.array([node.total for node in places])
        spread = float(np.ptp(totals)) or 1.0
        started = np.array([node.started for node in places])
        bonus = np.sqrt(math.log(2 + started.sum()) / (1 + started))
        scores = totals / spread + _EXPLORE * bonus + 1e-6 * self._rng.random(len(places))
        return places[int(scores.argmax())]

    def _untried(self, node: _Place) -> Any:
        action: Any = None
        for _ in range(_TRIES):
            action = sample_action(self._rng, self._world.description.actions).to_json()
            written = json.dumps(action)
            if written not in node.tried:
                node.tried.add(written)
                break
        return action

    def _reach(self, key: str, actions: tuple[Any, ...], total: float) -> _Place:
        visited = self._places.get(key)
        if visited is None:
            visited = self._places[key] = _Place(actions, total)
        elif (total, -len(actions)) > (visited.total, -len(visited.actions)):
            visited.actions, visited.total = actions, total
        return visited

    def _key(self, episode: Episode) -> str:
        return digest_bytes(render(self._world.description.skin, episode.observe()).encode())
