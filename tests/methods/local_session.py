"""A small session for tests: gymnasium environments in this process, trusted programs, a budget that is kept."""

from __future__ import annotations

import asyncio
import hashlib
import math
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np

from heredity._core.errors import BudgetError, ClosedError, RejectedError
from heredity._core.ids import generator
from heredity.engine.trajectory import Failure
from heredity.kinds.policy.environments.spaces import describe_space
from heredity.methods.contract import Budget, EvolverContext, Feedback, Outcome, Trial
from heredity.resources import Candidate, SourceTree
from heredity.tasks import TasksetInfo

FAILURE_RETURN = -1e6


def load_policy(tree: SourceTree, env: gymnasium.Env, meta: dict[str, Any]) -> Any:
    namespace: dict[str, Any] = {"__name__": "policy"}
    exec(compile(tree.text("policy.py"), "policy.py", "exec"), namespace)
    return namespace["Policy"](env.observation_space, env.action_space, meta)


def rollout(tree: SourceTree, env: gymnasium.Env, seed: int, policy_seed: int = 0) -> tuple[float, int, Failure | None]:
    """Attempt one episode: return, length, and what went wrong."""
    total, steps = 0.0, 0
    try:
        policy = load_policy(tree, env, {"policy_seed": policy_seed})
        obs, _ = env.reset(seed=seed)
        policy.reset(0)
        done = False
        while not done:
            obs, reward, terminated, truncated, _ = env.step(policy.act(obs))
            total, steps, done = total + float(reward), steps + 1, terminated or truncated
    except Exception as error:  # noqa: BLE001  the program under test may raise anything
        return min(total, FAILURE_RETURN), steps, Failure("act_error", str(error), traceback.format_exc(), steps)
    return total, steps, None


class LocalSession:
    """A session on one gymnasium environment, or on a function that scores programs.

    Attributes:
        trials: what was submitted, in the order of admission, with the key of the request.
    """

    def __init__(
        self,
        env: str | None = None,
        *,
        score: Callable[[SourceTree, int], float] | None = None,
        episodes: int | None = 128,
        submissions: int | None = None,
        delay: Callable[[str], int] = lambda key: 0,
        close_after: int | None = None,
    ) -> None:
        self.env = gymnasium.make(env) if env else None
        self._score, self._episodes, self._submissions, self._delay = score, episodes, submissions, delay
        self._close_after = close_after
        self._answers: dict[str, list[Feedback]] = {}
        self.trials: list[tuple[str, Trial]] = []
        self.failures = 0

    async def submit(self, trials: Sequence[Trial], key: str) -> list[Feedback]:
        if key in self._answers:
            return self._answers[key]
        if not trials or any(not t.tasks or t.repeats < 1 for t in trials):
            raise RejectedError("a trial names no tasks")
        charge = sum(len(t.tasks) * t.repeats for t in trials)
        if self._close_after is not None and len(self.trials) >= self._close_after:
            raise ClosedError("the session is closed")
        if self._episodes is not None and charge > self._episodes:
            raise BudgetError(f"{charge} episodes requested, {self._episodes} left")
        if self._submissions is not None and len(trials) > self._submissions:
            raise BudgetError("no submissions left")
        self._episodes = None if self._episodes is None else self._episodes - charge
        self._submissions = None if self._submissions is None else self._submissions - len(trials)
        first = len(self.trials) + 1
        self.trials += [(key, trial) for trial in trials]
        for _ in range(self._delay(key)):
            await asyncio.sleep(0)
        self._answers[key] = [self._attempt(trial, first + i) for i, trial in enumerate(trials)]
        return self._answers[key]

    def remaining(self) -> Budget:
        return Budget(episodes=self._episodes, submissions=self._submissions)

    def _attempt(self, trial: Trial, submit_id: int) -> Feedback:
        outcomes = [self._outcome(trial.candidate, task) for task in list(trial.tasks) * trial.repeats]
        return Feedback(submit_id, trial.candidate.digest, "ok", tuple(outcomes))

    def _outcome(self, candidate: Candidate, task: int) -> Outcome:
        if self._score is not None:
            return Outcome(task, self._score(candidate.agent, task), 1)
        assert self.env is not None
        score, length, failure = rollout(candidate.agent, self.env, 1000 + task, policy_seed=task)
        self.failures += failure is not None
        return Outcome(task, score, length, failure.category if failure else "ok", failure)


def public_of(env: gymnasium.Env, name: str) -> dict[str, Any]:
    return {
        "env": name,
        "obs_space": describe_space(env.observation_space),
        "action_space": describe_space(env.action_space),
    }


def context_for(public: dict[str, Any], initial: SourceTree, *, seed: int = 0, **options: Any) -> EvolverContext:
    info = TasksetInfo(str(public["env"]), "1", "episode", {}, public, "", FAILURE_RETURN)
    return EvolverContext(info, Candidate.program(initial), seed, train_tasks=64, options=options)


def judge(session: LocalSession, entropy: int = 5, cases: int = 16, heldout: int = 32) -> tuple[float, np.ndarray]:
    """Choose the checkpoint by hidden validation and score it on held-out cases: validation mean, held-out returns."""
    assert session.env is not None
    seeds = generator(entropy, "judge").choice(2**31, cases + heldout, replace=False).tolist()
    best, best_tree = -math.inf, None
    for tree in {t.candidate.digest: t.candidate.agent for _, t in session.trials}.values():
        mean = float(np.mean([rollout(tree, session.env, s, s)[0] for s in seeds[:cases]]))
        if mean >= best:
            best, best_tree = mean, tree
    assert best_tree is not None
    return best, np.array([rollout(best_tree, session.env, s, s)[0] for s in seeds[cases:]])


def fingerprint(session: LocalSession) -> str:
    """Digest of everything that was submitted, with keys, tasks, parents and notes."""
    parts = [f"{k} {t.candidate.digest} {list(t.tasks)} {list(t.parents)} {t.note}" for k, t in session.trials]
    return hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest()
