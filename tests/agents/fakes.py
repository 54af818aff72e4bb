"""A session without a journal or an engine: it scores a program by the number that it says."""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import Sequence

import numpy as np

from heredity._core.errors import BudgetError, ClosedError
from heredity.agents import RunTerms
from heredity.engine.trajectory import Failure, Trajectory
from heredity.methods import Budget, Feedback, Outcome, Trial
from heredity.resources import SourceTree
from heredity.session.admission import MalformedError
from heredity.tasks import TasksetInfo

STEPS = 5

PUBLIC = {
    "env": "Hill-v0",
    "env_version": "1",
    "max_episode_steps": STEPS,
    "obs_space": {"type": "Box", "shape": [2], "low": "-inf", "high": "inf", "dtype": "float32"},
    "action_space": {"type": "Discrete", "n": 2},
    "obs_storage": "inline",
}


def make_terms(**changes: object) -> RunTerms:
    public = {**PUBLIC, **(changes.pop("public", None) or {})}  # type: ignore[dict-item]
    info = TasksetInfo("gymnasium/Hill-v0", "1", "episode", {"secret": 1}, public, "Climb the *hill*.", -100.0)
    values = {"train_tasks": 16, "episode_budget": 32, "max_episodes": 8, **changes}
    return RunTerms(info, **values)  # type: ignore[arg-type]


def program(gain: float = 0.0, source: str = "") -> SourceTree:
    return SourceTree({"policy.py": source or f"GAIN = {gain}\n\nclass Policy:\n    pass\n"})


def trajectory(
    task: int, total: float, /, *, steps: int = STEPS, failure: Failure | None = None, **columns: object
) -> Trajectory:
    base = {
        "obs": np.arange(2 * (steps + 1), dtype=np.float32).reshape(steps + 1, 2),
        "action": np.ones(steps, dtype=np.int64),
        "reward": np.full(steps, total / max(steps, 1)),
        "terminated": np.arange(steps) == steps - 1,
        "truncated": np.zeros(steps, dtype=bool),
    }
    status = failure.category if failure else "ok"
    return Trajectory(
        f"train/{task}",
        "digest",
        status,
        "candidate" if failure else "none",
        total,
        steps,
        not failure,
        {**base, **columns},
        stdout="hello\n",
        failure=failure,
        seconds=0.01,
    )  # type: ignore[arg-type]


class FakeSession:
    """Answers like a session: budget, keys, refusals. A program's score is best where its GAIN is 3."""

    def __init__(self, terms: RunTerms, *, delay_s: float = 0.0) -> None:
        self.terms = terms
        self.delay_s = delay_s
        self.left = terms.episode_budget
        self.trials: list[Trial] = []
        self.answers: dict[str, tuple[Trial, asyncio.Task[list[Feedback]]]] = {}
        self.closed: str | None = None
        self.concurrent = 0
        self.most_concurrent = 0
        self._ended = asyncio.Event()

    async def submit(self, trials: Sequence[Trial], key: str) -> list[Feedback]:
        (trial,) = trials
        if key not in self.answers:
            self._admit(trial)
            self.answers[key] = (trial, asyncio.create_task(self._attempt(trial, len(self.trials))))
        earlier, task = self.answers[key]
        if earlier.candidate != trial.candidate or tuple(earlier.tasks) != tuple(trial.tasks):
            raise MalformedError("invalid_request", f"the key {key!r} belongs to another request")
        return await asyncio.shield(task)

    def remaining(self) -> Budget:
        return Budget(episodes=self.left)

    async def close(self, reason: str) -> None:
        self.closed = self.closed or reason
        self._ended.set()

    async def finished(self) -> None:
        await self._ended.wait()

    def _admit(self, trial: Trial) -> None:
        if self.closed or self.left == 0:
            raise ClosedError("the session is closed")
        outside = [t for t in trial.tasks if t >= self.terms.train_tasks]
        if outside:
            raise MalformedError("invalid_env_instance", f"there is no train task {outside[0]}")
        if not self.terms.min_episodes <= len(trial.tasks) <= self.terms.max_episodes:
            raise MalformedError("budget_invalid", f"a submission asks for {len(trial.tasks)} episodes")
        if len(trial.tasks) > self.left:
            raise BudgetError(f"{len(trial.tasks)} episodes asked for, {self.left} left")
        self.left -= len(trial.tasks)
        self.trials.append(trial)

    async def _attempt(self, trial: Trial, submit_id: int) -> list[Feedback]:
        self.concurrent += 1
        self.most_concurrent = max(self.most_concurrent, self.concurrent)
        await asyncio.sleep(self.delay_s)
        self.concurrent -= 1
        feedback = score(trial, submit_id)
        if self.left == 0:
            self._ended.set()
        return [feedback]


def score(trial: Trial, submit_id: int) -> Feedback:
    """The feedback of a trial: `-(GAIN - 3)**2` on every task, or a failure where the program says so."""
    agent = trial.candidate.agent
    digest = trial.candidate.digest
    if "policy.py" not in agent:
        failure = Failure("missing_policy", "there is no policy.py")
        return Feedback(submit_id, digest, "missing_policy", _failed(trial, failure, None), failure)
    try:
        ast.parse(agent.text("policy.py"))
    except SyntaxError as error:
        failure = Failure("import_error", str(error), f'File "policy.py", line {error.lineno}')
        return Feedback(submit_id, digest, "import_error", _failed(trial, failure, None), failure)
    gain = re.search(r"GAIN = ([-+.\de]+)", agent.text("policy.py"))
    value = -((float(gain[1]) - 3) ** 2) if gain else -50.0
    crash = Failure("act_error", "ValueError: no", 'File "policy.py", line 3', 2)
    outcomes = [
        Outcome(t, -100.0, 2, "act_error", crash, trajectory(t, 0.0, steps=2, failure=crash))
        if "crash" in agent.text("policy.py") and i == 1
        else Outcome(t, value, STEPS, trajectory=trajectory(t, value))
        for i, t in enumerate(trial.tasks)
    ]
    return Feedback(submit_id, digest, "ok", tuple(outcomes))


def _failed(trial: Trial, failure: Failure, record: Trajectory | None) -> tuple[Outcome, ...]:
    return tuple(Outcome(t, -100.0, 0, failure.category, failure, record) for t in trial.tasks)
