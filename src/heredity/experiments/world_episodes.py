"""Episodes in worlds for a table: whoever plays, on the shipped test levels, several runs; kept in a file and not played twice."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heredity.analysis.worlds import GROUPS
from heredity.errors import ConfigError, DamagedRecordError
from heredity.judging.rollouts import Rollouts
from heredity.resources import Candidate
from heredity.results.status import Status
from heredity.rollouts.contract import Job, Runner
from heredity.rollouts.trajectory import Trajectory
from heredity.sandbox.limits import Limits
from heredity.worlds.agents import agent
from heredity.worlds.taskset import WorldTaskset, world_digest
from heredity.worlds.world import world

FILE = "episodes.jsonl"
Row = dict[str, Any]
Notify = Callable[[], None]
"""Called once for every episode that has ended."""


@dataclass(frozen=True, slots=True)
class Exam:
    """Which episodes are to be played.

    Attributes:
        worlds: their names.
        runs: how often each level is played, with other seeds.
        levels: how many of a world's test levels, of all difficulties in turn.
        skin: one of `heredity.worlds.skins.SKINS`.
    """

    worlds: tuple[str, ...]
    runs: int = 3
    levels: int = 10
    skin: str = "text"

    def episodes(self) -> Iterator[tuple[str, int, int]]:
        """Yield world, place of the level, and run of every episode."""
        for name in self.worlds:
            for run in range(self.runs):
                for index in range(self.levels):
                    yield name, index, run


class Episodes:
    """Rows of episodes that were played, by one player; with a folder they outlive the process.

    Args:
        player: who plays: whatever could change a score is part of its name.
        exam: which episodes.
        folder: where `episodes.jsonl` is kept; None keeps nothing.

    Raises:
        DamagedRecordError: if a line of the file is no episode.
    """

    def __init__(self, player: str, exam: Exam, folder: Path | None = None) -> None:
        self._player, self.exam = player, exam
        self._sets = {name: WorldTaskset(name, exam.skin) for name in exam.worlds}
        self._tasks = {name: tasks.draw("heldout", exam.levels, 0) for name, tasks in self._sets.items()}
        self._rows: dict[str, Row] = {}
        self._path = folder / FILE if folder else None
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._read(self._path)

    @property
    def rows(self) -> list[Row]:
        """The episodes of the exam that are known, in its order."""
        return [self._rows[key] for key in map(self._key, self.exam.episodes()) if key in self._rows]

    @property
    def missing(self) -> list[tuple[str, int, int]]:
        """The episodes of the exam that have not been played."""
        return [episode for episode in self.exam.episodes() if self._key(episode) not in self._rows]

    def play_agent(self, name: str, notify: Notify) -> None:
        """Let a built-in agent play what is missing, in as many processes as there are cores.

        Raises:
            UnknownNameError: if there is no such agent.
        """
        agent(name)
        missing = self.missing
        if not missing:
            return
        workers = min(len(os.sched_getaffinity(0)), len(missing))
        with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
            waiting = {
                pool.submit(_play, name, w, self._level(w, index), run): (w, index, run) for w, index, run in missing
            }
            try:
                for future in as_completed(waiting):
                    self._keep(waiting[future], future.result())
                    notify()
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    async def play_candidate(self, candidate: Candidate, runner: Runner, limits: Limits, notify: Notify) -> None:
        """Let a candidate play what is missing. What a provider or this host failed, after retries, stays missing.

        Raises:
            BudgetError: if the budget does not allow a model call.
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
                self._keep(missing[position], _row(trajectory, float(jobs[position].task.spec["bound"])))

        await Rollouts(runner, limits).attempt(jobs, ended)

    def _level(self, name: str, index: int) -> str:
        return str(self._tasks[name][index].spec["id"])

    def _key(self, episode: tuple[str, int, int]) -> str:
        name, index, run = episode
        return json.dumps([self._player, name, world_digest(name), self.exam.skin, self._level(name, index), run])

    def _keep(self, episode: tuple[str, int, int], played: Row) -> None:
        name, index, run = episode
        key = self._key(episode)
        row = {"world": name, "level": self._level(name, index), "run": run, **played}
        self._rows[key] = row
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, **row}) + "\n")

    def _read(self, path: Path) -> None:
        if not path.exists():
            return
        lines = path.read_bytes().splitlines(keepends=True)
        if lines and not lines[-1].endswith(b"\n"):
            # A process that was killed while it wrote leaves half a line: that episode is played again.
            path.write_bytes(b"".join(lines[:-1]))
            lines.pop()
        for number, line in enumerate(lines, 1):
            try:
                row: Row = json.loads(line)
                self._rows[row.pop("key")] = row
            except (ValueError, LookupError, AttributeError, TypeError) as error:
                raise DamagedRecordError(f"{path}:{number} is no episode; delete the line or the file") from error


def groups_of(names: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """Return the groups of AutoEnv's table 3 that each world is in."""
    return {name: tuple(group for group in GROUPS if group in _features(name)) for name in names}


def check_exam(exam: Exam) -> None:
    """Raise if an exam cannot be held.

    Raises:
        ConfigError: if there are no worlds, or a number is out of range.
        UnknownNameError: if there is no such world or skin.
    """
    if not exam.worlds or exam.runs < 1:
        raise ConfigError(f"{len(exam.worlds)} worlds and {exam.runs} runs asked for; give 1 or more of both")
    for name in exam.worlds:
        WorldTaskset(name, exam.skin).draw("heldout", exam.levels, 0)


def _features(name: str) -> tuple[str, str, str]:
    meta = world(name).description.meta
    return meta.reward, meta.observation, meta.semantics


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
    tokens = [cost.get("input_tokens"), cost.get("output_tokens")]
    return {
        "score": score,
        "total": score * upper_bound,
        "steps": trajectory.length,
        "status": trajectory.status,
        "failure": trajectory.failure.message if trajectory.failure else None,
        "cost_usd": cost.get("cost_usd"),
        "tokens": None if None in tokens else sum(t for t in tokens if t is not None),
        "model_calls": cost.get("model_calls"),
        "seconds": round(trajectory.seconds, 3),
    }
