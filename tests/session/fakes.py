"""Fakes: a taskset of numbered cases, and a runner whose results are a pure function of candidate and task."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from heredity._core.ids import generator
from heredity.engine.runner import Job
from heredity.engine.trajectory import Failure, Trajectory
from heredity.methods import Budget, Trial
from heredity.records import BlobStore, Committer, Journal
from heredity.resources import Candidate, SourceTree
from heredity.sandbox.limits import Limits
from heredity.session import Session, SessionRules
from heredity.tasks import Task, TasksetInfo

FLOOR = -10.0
EPISODES_20 = Budget(episodes=20)


@dataclass(frozen=True)
class NumbersTaskset:
    """Cases that are secret numbers."""

    name: str = "fake/numbers"
    version: str = "1"

    @property
    def info(self) -> TasksetInfo:
        return TasksetInfo(self.name, self.version, "episode", {}, {}, "numbers", failure_return=FLOOR, family="fake")

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        numbers = generator(entropy, "cases", self.name, split).integers(0, 2**31, size=count)
        return tuple(Task(f"{split}/{i}", split, i, {"seed": int(n)}) for i, n in enumerate(numbers))


def program(text: str) -> Candidate:
    """A candidate whose policy says how the fake runner treats it, such as `value 3` or `fail oom`."""
    return Candidate.program(SourceTree({"policy.py": text}))


@dataclass
class FakeRunner:
    """Scores `value N` as N plus a little of the task; `fail CATEGORY` as a candidate's failure; `noisy` by digest.

    Attributes:
        delay_s: seconds that one rollout takes.
        host_category: the category of those failures.
        host_failures: how many rollouts of each task fail through the host before one succeeds.
        jobs: every job that was put to it.
        gate: attempts wait until it is set.
    """

    delay_s: float = 0.0
    host_failures: int = 0
    host_category: str = "host_error"
    jobs: list[Job] = field(default_factory=list)
    gate: asyncio.Event | None = None
    tried: dict[tuple[str, str], int] = field(default_factory=dict)
    most_at_once: int = 0
    active: int = 0

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncIterator[tuple[int, Trajectory]]:
        self.jobs.extend(jobs)
        self.active += 1
        self.most_at_once = max(self.most_at_once, self.active)
        try:
            if self.gate is not None:
                await self.gate.wait()
            for position in reversed(range(len(jobs))):
                await asyncio.sleep(self.delay_s)
                yield position, self._attempt(jobs[position])
        finally:
            self.active -= 1

    async def close(self) -> None:
        pass

    def _attempt(self, job: Job) -> Trajectory:
        key = (job.candidate.digest, job.task.id)
        self.tried[key] = self.tried.get(key, 0) + 1
        if self.tried[key] <= self.host_failures:
            return _failed(job, self.host_category, "host", 0.0)
        verb, _, rest = job.candidate.agent.text("policy.py").partition(" ")
        if verb == "fail":
            category, _, collected = rest.partition(" ")
            return _failed(job, category, "candidate", float(collected or 0))
        if verb == "some":
            return _failed(job, rest, "candidate", 5.0) if job.task.index % 2 else _succeeded(job, 1.0)
        if verb == "host":
            return _failed(job, "host_error", "host", 0.0)
        if verb == "return":
            return _succeeded(job, float(rest))
        return _succeeded(job, float(rest) + self._share(job))

    def _share(self, job: Job) -> float:
        text = f"{job.candidate.digest}/{job.task.spec['seed']}/{job.policy_seed}"
        return hashlib.sha256(text.encode()).digest()[0] / 1000


def _succeeded(job: Job, total: float) -> Trajectory:
    columns = {
        "obs": np.zeros((3, 2)),
        "action": np.array([0, 1]),
        "reward": np.array([total, 0.0]),
        "terminated": np.array([False, True]),
        "truncated": np.array([False, False]),
        "info/invalid_action": np.array([True, False]),
    }
    return Trajectory(job.task.id, job.candidate.digest, "ok", "none", total, 2, True, columns, stdout="hi \ud800")


def _failed(job: Job, category: str, failure_source: str, total: float) -> Trajectory:
    failure = Failure(category, "it went wrong \udcff", "policy.py line 3", step_index=1)
    return Trajectory(job.task.id, job.candidate.digest, category, failure_source, total, 1, False, {}, failure=failure)


def open_session(folder, runner, *, budget=EPISODES_20, tasks=8, **options) -> Session:
    """A session over a journal in `folder`; opened again, it continues."""
    folder.mkdir(exist_ok=True)
    publisher, clock = options.pop("publisher", None), options.pop("clock", None)
    records = Committer(Journal.open(folder / "journal.jsonl"), BlobStore(folder / "blobs"))
    rules = SessionRules(budget, seed=0, **{"max_episodes": 8, **options})
    taskset = NumbersTaskset()
    drawn = taskset.draw("train", tasks, 1)
    return Session(records, runner, taskset=taskset.info, tasks=drawn, rules=rules, publisher=publisher, clock=clock)


async def climb(session: Session, *, pause_s: float = 0.0) -> None:
    """A deterministic evolver: four submissions at a time, each built on the best so far, until the budget is spent."""
    best, best_mean, turn = program("value 0"), -1e9, 0
    while (left := session.remaining().episodes) and left > 0:
        trials = [
            Trial(
                program(f"value {turn}.{i}"), range(min(2, left // 4) or 1), parents=(best.digest,), note=f"turn {turn}"
            )
            for i in range(min(4, left))
        ]
        requests = [session.submit(trials, key=f"turn/{turn}")]
        if left > 8:
            requests.append(session.submit([Trial(best, [turn % 8])], key=f"again/{turn}"))
        answers = [answer for reply in await asyncio.gather(*requests) for answer in reply]
        for trial, feedback in zip([*trials, Trial(best, [0])], answers, strict=False):
            assert all(o.trajectory is not None for o in feedback.outcomes)
            if feedback.mean > best_mean:
                best, best_mean = trial.candidate, feedback.mean
        turn += 1
        await asyncio.sleep(pause_s)
