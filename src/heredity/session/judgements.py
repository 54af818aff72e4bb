"""Judgements: scores of candidates on hidden tasks, each computed once per suite and set of conditions.

If a model or an environment is not deterministic, two judgements of one candidate differ, and taking the better one would reward
noise. Every run of the suite therefore gets the first judgement: an unchanged candidate scores exactly as its run's reference does.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import BaseModel, TypeAdapter, ValidationError

from heredity._core.errors import RecordError
from heredity._core.ids import canonical_json, digest_bytes
from heredity._core.outside import ANY_SIZE, read_bytes
from heredity._core.workers import computed
from heredity.engine.runner import Runner
from heredity.records.events import Scored
from heredity.resources import Candidate
from heredity.session.cases import HiddenCases
from heredity.session.rollouts import Rollouts
from heredity.session.views import View, ViewScores, score_candidate
from heredity.tasks import Task, Taskset, TasksetInfo

Data = TypeVar("Data", bound=Mapping[str, Any])


class _Scores(BaseModel):
    scores: list[float | None]


class _Line(BaseModel):
    key: str
    data: _Scores


_LINE = TypeAdapter(_Line)


class JudgementStore:
    """The judgements of a suite, stored in its folder, one line each with `key` and `data`.

    Attributes:
        path: the file.
        hidden_cases: the suite's secret.
        making: lock held while building something candidates are read from, such as a base model.
    """

    def __init__(self, path: Path, hidden_cases: HiddenCases) -> None:
        """Load earlier judgements; a truncated line is ignored and its judgement made again."""
        self.path, self.hidden_cases, self.making = path, hidden_cases, asyncio.Lock()
        self._kept = _read(path)
        self._busy: dict[str, asyncio.Lock] = {}

    async def once(self, key: str, make: Callable[[], Awaitable[Data]]) -> tuple[Data, bool]:
        """Return a judgement and True if it was recalled; judgements with missing rollouts are not stored.

        Raises:
            RecordError: if the disk is full or fails.
        """
        async with self._busy.setdefault(key, asyncio.Lock()):
            if key in self._kept:
                return cast("Data", self._kept[key]), True
            data = await make()
            if None not in data["scores"]:
                self._keep(key, data)
            return data, False

    def _keep(self, key: str, data: Mapping[str, Any]) -> None:
        self._kept[key] = data
        try:
            with self.path.open("ab") as file:
                file.write(b"\n" + json.dumps({"key": key, "data": data}).encode())
        except OSError as error:
            raise RecordError(f"{self.path} cannot be written: {error.strerror}; make room and resume") from error


@dataclass(frozen=True, slots=True)
class Judgements:
    """The judgements under the conditions of one run.

    Attributes:
        store: the judgements of its suite.
        rollouts: runs tasks under these conditions.
        conditions: everything a candidate's score on a task depends on, as JSON values.
    """

    store: JudgementStore
    rollouts: Rollouts
    conditions: Mapping[str, Any]

    def under(self, runner: Runner, **more: Any) -> Judgements:
        """Return the judgements of another runner, with the conditions it adds."""
        return replace(self, rollouts=replace(self.rollouts, runner=runner), conditions={**self.conditions, **more})

    async def of(self, taskset: Taskset, candidate: Candidate, count: int, split: str = "heldout") -> ViewScores:
        """Return the scores of a candidate on the first hidden tasks of a split.

        Raises:
            ConfigError: if the taskset has too few.
            HostError: if the runner fails.
        """
        # Off the event loop: drawing many tasks takes a while, and signals must still be handled.
        tasks = await computed(lambda: self.store.hidden_cases.tasks(taskset, split, count))
        return await self.on(taskset.info, View(split, tasks), candidate, self.rollouts)

    async def on(self, taskset: TasksetInfo, view: View, candidate: Candidate, rollouts: Rollouts) -> ViewScores:
        """Return the scores of a candidate on a view.

        Args:
            taskset: the taskset of the view's tasks.
            view: the tasks.
            candidate: the candidate to judge.
            rollouts: runs the tasks, under the same conditions as `self.rollouts`.

        Raises:
            HostError: if the runner fails.
        """

        async def make() -> Scored:
            return (await score_candidate(rollouts, taskset, view, candidate)).to_json()

        data, recalled = await self.once(taskset, view.tasks, candidate.digest, make)
        scores = ViewScores.from_json(data)
        return replace(scores, seconds=0.0, usage=None, recalled=True) if recalled else scores

    async def once(
        self,
        taskset: TasksetInfo,
        tasks: Sequence[Task],
        candidate: str,
        make: Callable[[], Awaitable[Data]],
        **changed: Any,
    ) -> tuple[Data, bool]:
        """Return the judgement of a candidate, and True if it was recalled.

        Args:
            taskset: the taskset of the tasks.
            tasks: the tasks to judge it on.
            candidate: its digest.
            make: judges it; returns data with a list `scores`, None where a rollout is missing.
            changed: overrides of the conditions, such as another execution model.
        """
        given = [[task.split, task.index, task.id, dict(task.spec)] for task in tasks]
        about = [taskset.name, taskset.version, given, candidate, {**self.conditions, **changed}]
        # Tasks are hidden: without the salt, they could be guessed from their digest.
        key = digest_bytes(self.store.hidden_cases.salt + canonical_json(about))
        return await self.store.once(key, make)

    def named(self, folder: Path) -> str:
        """Return the name of a suite's folder in judgements: a relative path, so the suite can be moved."""
        return os.path.relpath(folder, self.store.path.parent)

    def folder(self, name: str) -> Path:
        """Return the folder with that name."""
        return self.store.path.parent / name


def _read(path: Path) -> dict[str, Mapping[str, Any]]:
    kept: dict[str, Mapping[str, Any]] = {}
    try:
        lines = read_bytes(path, ANY_SIZE).splitlines()
    except FileNotFoundError:
        return kept
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}; delete it (it is derived) and resume") from error
    for line in lines:
        try:
            _LINE.validate_json(line)
        except ValidationError:
            continue
        judgement = json.loads(line)
        kept[judgement["key"]] = judgement["data"]
    return kept
