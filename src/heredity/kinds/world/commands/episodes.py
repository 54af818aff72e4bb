"""Episodes for a table: players run on the shipped test levels several times; results are stored in a file and not repeated."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, FiniteFloat

from heredity._core.errors import ConfigError, DamagedRecordError
from heredity._core.outside import ANY_SIZE, read_bytes
from heredity._core.refusals import json_rows, reading
from heredity._core.workers import process_pool
from heredity.analysis.worlds import GROUPS, RELEASED
from heredity.engine.programs import SandboxedPrograms
from heredity.engine.runner import Job, Runner
from heredity.engine.trajectory import Trajectory
from heredity.kinds.world.agents import agent
from heredity.kinds.world.folders.folder import TEST, is_folder
from heredity.kinds.world.folders.plays import UnjudgedError, play_folder
from heredity.kinds.world.folders.tasks import FolderTaskset
from heredity.kinds.world.taskset import WorldTaskset, world_digest
from heredity.kinds.world.world import sound_worlds, world
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
        levels: number of test levels per world, difficulties alternating; all levels of a folder that has fewer.
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
        ConfigError: if there are no worlds, or a number is out of range.
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
