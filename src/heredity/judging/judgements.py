"""Judgements: how candidates do on hidden tasks, each made once in a suite for the same conditions.

Two attempts with one candidate differ where a model or an environment is not deterministic, and the better of two would be a winner
made of noise. So whoever asks again, in whatever run, is given the first judgement: a candidate that nobody changed scores exactly
what the reference of its run does.
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

from heredity.errors import RecordError
from heredity.ids import canonical_json, digest_bytes
from heredity.judging.cases import HiddenCases
from heredity.judging.rollouts import Rollouts
from heredity.judging.views import View, ViewScores, score_candidate
from heredity.outside import ANY_SIZE, read_bytes
from heredity.records.events import Scored
from heredity.resources import Candidate
from heredity.rollouts.contract import Runner
from heredity.tasks import Task, Taskset, TasksetInfo
from heredity.workers import computed

Data = TypeVar("Data", bound=Mapping[str, Any])


class _Scores(BaseModel):
    scores: list[float | None]


class _Line(BaseModel):
    key: str
    data: _Scores


_LINE = TypeAdapter(_Line)


class JudgementStore:
    """The judgements of a suite, in a file of its folder: a line each, `key` and `data`.

    Attributes:
        path: the file.
        hidden_cases: the suite's secret.
        making: is held while something is made that candidates are read from, such as a base model.
    """

    def __init__(self, path: Path, hidden_cases: HiddenCases) -> None:
        """Recall what was judged before; a line that was cut off is no judgement, and is made again."""
        self.path, self.hidden_cases, self.making = path, hidden_cases, asyncio.Lock()
        self._kept = _read(path)
        self._busy: dict[str, asyncio.Lock] = {}

    async def once(self, key: str, make: Callable[[], Awaitable[Data]]) -> tuple[Data, bool]:
        """Return a judgement, and whether it was made before; one in which rollouts are missing is made again for the next.

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
        store: those of its suite.
        rollouts: attempts tasks under these conditions.
        conditions: what the score of a candidate on a task hangs on, as JSON values.
    """

    store: JudgementStore
    rollouts: Rollouts
    conditions: Mapping[str, Any]

    def under(self, runner: Runner, **more: Any) -> Judgements:
        """Return the judgements of another runner, with what else scores hang on then."""
        return replace(self, rollouts=replace(self.rollouts, runner=runner), conditions={**self.conditions, **more})

    async def of(self, taskset: Taskset, candidate: Candidate, count: int, split: str = "heldout") -> ViewScores:
        """Return the scores of a candidate on the first hidden tasks of a split.

        Raises:
            ConfigError: if the taskset has not so many.
            HostError: if the runner fails.
        """
        # Apart from the event loop: many take a while, in which signals are to be heard.
        tasks = await computed(lambda: self.store.hidden_cases.tasks(taskset, split, count))
        return await self.on(taskset.info, View(split, tasks), candidate, self.rollouts)

    async def on(self, taskset: TasksetInfo, view: View, candidate: Candidate, rollouts: Rollouts) -> ViewScores:
        """Return the scores of a candidate on a view.

        Args:
            taskset: what the view's tasks belong to.
            view: the tasks.
            candidate: what is judged.
            rollouts: attempts them, under the same conditions as these judgements' own.

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
        """Return the judgement of a candidate, and whether it was made before.

        Args:
            taskset: what the tasks belong to.
            tasks: what it is judged on.
            candidate: its digest.
            make: judges it; `scores` of what it returns are listed, None where a rollout is missing.
            changed: what differs from the conditions, such as another execution model.
        """
        given = [[task.split, task.index, task.id, dict(task.spec)] for task in tasks]
        about = [taskset.name, taskset.version, given, candidate, {**self.conditions, **changed}]
        # Tasks are hidden: without the salt, a digest of them could be searched for.
        key = digest_bytes(self.store.hidden_cases.salt + canonical_json(about))
        return await self.store.once(key, make)

    def named(self, folder: Path) -> str:
        """Return how a folder of the suite is named in judgements, so that the suite may be moved."""
        return os.path.relpath(folder, self.store.path.parent)

    def folder(self, name: str) -> Path:
        """Return the folder of that name."""
        return self.store.path.parent / name


def _read(path: Path) -> dict[str, Mapping[str, Any]]:
    kept: dict[str, Mapping[str, Any]] = {}
    try:
        lines = read_bytes(path, ANY_SIZE).splitlines()
    except FileNotFoundError:
        return kept
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}; it is derived: remove it and resume") from error
    for line in lines:
        try:
            _LINE.validate_json(line)
        except ValidationError:
            continue
        judgement = json.loads(line)
        kept[judgement["key"]] = judgement["data"]
    return kept
