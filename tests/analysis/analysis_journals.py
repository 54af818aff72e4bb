"""Builds journals as a run writes them, for the tests of the analysis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from heredity.resources import Candidate, SourceTree


def program(source: str, **others: str | bytes) -> Candidate:
    return Candidate.program(SourceTree({"policy.py": source, **{k.replace("__", "/"): v for k, v in others.items()}}))


CONTROLLER = '''"""A controller."""
import numpy as np

GAINS = [{gains}]
BIAS = {bias}


class Policy:
    def __init__(self, obs_space, action_space, env_meta):
        self.space = action_space
        self.integral = 0.0
        self.history = []

    def reset(self, episode_index):
        self.integral = 0.0
        self.history.clear()

    def act(self, obs):
        total = BIAS
        for gain, value in zip(GAINS, np.ravel(obs)):
            total += gain * value
        self.integral = 0.9 * self.integral + total
        self.history.append(total)
        if self.integral > {limit}:
            return 1
        if abs(total) < 0.01:
            return 0
        return int(total > 0)
'''


def controller(*gains: float, bias: float = 0.0, limit: float = 5.0) -> Candidate:
    return program(CONTROLLER.format(gains=", ".join(map(repr, gains)), bias=bias, limit=limit))


class JournalBuilder:
    """Writes the events of one run; scores are whatever the test gives."""

    def __init__(
        self,
        *,
        evolver: str = "parametric",
        taskset: str = "gymnasium/Acrobot-v1",
        seed: int = 0,
        options: Any = None,
        **fields: Any,
    ):
        self.events: list[dict[str, Any]] = []
        self.store: dict[str, Candidate] = {}
        self.submissions: list[str] = []
        self.used = 0
        self.add(
            "run.started",
            {
                "run_id": f"{taskset}-{evolver}-{seed}",
                "suite_id": "suite",
                "taskset": taskset,
                "taskset_version": "1",
                "family": "classic_control",
                "group": "tuning",
                "evolver": {"name": evolver, "kind": "method", "options": options or {}},
                "seed": seed,
                "budget": {"episodes": 128},
                "views": {"validation": 16, "heldout": 32},
                "failure_return": -500.0,
                "isolation": "sandbox",
                "packages": {},
                "commitment": "c",
                "config_digest": "d",
                **fields,
            },
        )

    def add(self, kind: str, data: dict[str, Any], seconds: float = 1.0) -> None:
        at = self.events[-1]["at"] + seconds if self.events else 1_790_000_000.0
        self.events.append({"seq": len(self.events), "at": at, "kind": kind, "data": data})

    def admit(
        self, candidate: Candidate, tasks: Sequence[int] = (0, 1), *, note: str = "", parents: Sequence[str] = ()
    ):
        digest = candidate.digest
        self.store[digest] = candidate
        self.add("candidate", {"digest": digest, "blob": digest, "parents": list(parents), "note": note})
        self.submissions.append(digest)
        self.used += len(tasks)
        number = len(self.submissions)
        admitted = {"submit_id": number, "key": f"k{number}", "request": "r", "candidate": digest, "tasks": list(tasks)}
        self.add(
            "submission.admitted", {**admitted, "charge": len(tasks), "remaining": 128 - self.used, "at_s": number}
        )
        return number

    def complete(
        self, number: int, scores: Sequence[float | None], *, status: str = "ok", failure: dict[str, Any] | None = None
    ) -> None:
        outcomes = [
            {
                "task": task,
                "score": score,
                "length": 100,
                "status": "missing" if score is None else status,
                "failure": None if status == "ok" else failure,
            }
            for task, score in enumerate(scores)
        ]
        data = {"submit_id": number, "key": f"k{number}", "candidate": self.submissions[number - 1], "status": status}
        done = {
            "failure": failure,
            "outcomes": outcomes,
            "blob": "b",
            "seconds": 0.5,
            "invalid_steps": [1] * len(scores),
        }
        self.add("submission.completed", {**data, **done})

    def submit(self, candidate: Candidate, scores: Sequence[float | None] = (-200.0, -100.0), **options: Any) -> int:
        number = self.admit(candidate, range(len(scores)), **options)
        self.complete(number, scores)
        return number

    def score(
        self, view: str, number: int | None, scores: Sequence[float | None], candidate: str | None = None
    ) -> None:
        digest = candidate or (self.submissions[number - 1] if number else None)
        result = {"scores": list(scores), "lengths": [100] * len(scores), "seconds": 0.1}
        statuses = ["missing" if s is None else "ok" for s in scores]
        self.add(
            "judging.scored", {"view": view, "candidate": digest, "submit_id": number, "statuses": statuses, **result}
        )

    def select(self, number: int | None) -> None:
        digest = self.submissions[number - 1] if number else None
        self.add("judging.selected", {"submit_id": number, "candidate": digest, "reason": "best validation mean"})

    def judge(
        self, validation: dict[int, float], heldout: Sequence[float | None], random: Sequence[float | None]
    ) -> None:
        """Close the session, score each submission on 16 equal cases, select the best, and finish."""
        self.add("session.closed", {"reason": "budget"})
        for number, value in validation.items():
            self.score("validation", number, [value] * 16)
        best = max(validation, key=lambda n: (validation[n], n), default=None)
        self.select(best)
        if best is not None:
            self.score("heldout", best, heldout)
        self.add("reference.scored", {"name": "random", "view": "heldout", "scores": list(random)})
        self.add("run.finished", {"status": "finished"})
