"""The agent's view of its own answer: a whitelist, so that ground truth only passes where it is declared.

Rollouts are checked when they are made, and the check is recorded. The optimizer's input is rebuilt from the agent's own replies;
no field of the check is copied, except for verdict feedback.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from heredity._core.errors import ConfigError
from heredity.engine.trajectory import Trajectory
from heredity.methods import Outcome
from heredity.methods.operators.evidence import last_info, shortened
from heredity.methods.operators.measure import Rollout
from heredity.models.contract import Usage
from heredity.protocols.within_task.sections import Told
from heredity.results.status import Status

_SHOWN = 4000


@dataclass(frozen=True, slots=True)
class Seen:
    """The agent's feedback on an answer.

    Attributes:
        score: from 0 to 1; None without feedback.
        told: in words; "" for none.
    """

    score: float | None = None
    told: str = ""

    @property
    def solved(self) -> bool:
        """True if the visible feedback leaves nothing to improve."""
        return self.score is not None and self.score >= 1.0


@dataclass(frozen=True, slots=True)
class Given:
    """An answer as the agent knows it.

    Attributes:
        text: its last words.
        question: the question; "" if unrecorded.
        extracted: the answer extracted from the text.
        status: `"ok"`, a failure category, or `"missing"` through no fault of the agent.
        problem: its own failure; "" without one.
        usage: usage of the rollout; `calls`: number of model calls.
    """

    text: str
    question: str
    extracted: str
    status: str
    problem: str
    usage: Usage
    calls: int

    @property
    def missing(self) -> bool:
        """True if the answer is missing through no fault of the agent."""
        return self.status == Status.MISSING

    def rollout(self, task: int, seen: Seen, chars: int) -> Rollout:
        """Return the answer in the optimizers' format."""
        evidence = {
            "task": task,
            "question": shortened(self.question, chars),
            "expected": None,
            "answer": shortened(self.extracted or self.text, chars),
            "transcript": shortened(self.text, chars),
            "score": seen.score,
            "error": "\n".join(filter(None, (self.problem, seen.told))) or None,
        }
        return Rollout(math.nan if seen.score is None else seen.score, self.status, {}, evidence)


def given(outcome: Outcome) -> Given:
    """Return the agent's own replies in a rollout, without the results of checking them."""
    trajectory = outcome.trajectory
    failure = outcome.failure
    costs = dict(trajectory.cost) if trajectory else {}
    counts = {name: costs.get(name) for name in ("input_tokens", "output_tokens", "cached_tokens")}
    whole: dict[str, Any] = {name: None if value is None else int(value) for name, value in counts.items()}
    return Given(
        text=last_answer(trajectory),
        question=str(last_info(trajectory, "question") or ""),
        extracted=str(last_info(trajectory, "extracted") or ""),
        status=outcome.status,
        problem=f"{failure.category}: {failure.message}" if failure else "",
        usage=Usage(**whole, cost_usd=costs.get("cost_usd")),
        calls=int(costs.get("model_calls", 0)),
    )


def seen_of(outcome: Outcome, feedback: Told) -> Seen:
    """Return the checker's feedback on an answer; empty for `none` and `self`.

    Raises:
        ConfigError: if the feedback is public tests and the tasks have none.
    """
    if feedback == "public":
        return _public(outcome.trajectory)
    return _verdict(outcome) if feedback == "verdict" else Seen()


def _public(trajectory: Trajectory | None) -> Seen:
    """Return the feedback of public tests: the check's words, "" if all pass, and the share passed."""
    public, judged = last_info(trajectory, "public"), last_info(trajectory, "judgement")
    if trajectory is not None and trajectory.status == Status.OK and not isinstance(public, str):
        raise ConfigError("these tasks have no public tests; set within.feedback to none, self or verdict")
    if not isinstance(public, str):
        return Seen(0.0)
    if not public:
        return Seen(1.0, "All public tests are passed.")
    counts = cast("Mapping[str, Any]", judged) if isinstance(judged, Mapping) else {}
    total = int(counts.get("examples") or 0)
    # A failed public test is preceded only by public ones: this count excludes hidden tests.
    passed = min(int(counts.get("passed") or 0), total)
    return Seen(passed / total if total else 0.0, public[:_SHOWN])


def _verdict(outcome: Outcome) -> Seen:
    if not math.isfinite(outcome.score):
        return Seen()
    if isinstance(last_info(outcome.trajectory, "judgement"), Mapping):
        # A judge of programs words its reasons so that they are safe to reveal.
        return Seen(outcome.score, str(last_info(outcome.trajectory, "reason") or "")[:_SHOWN])
    read = str(last_info(outcome.trajectory, "extracted") or "")
    words = "The answer is right." if outcome.score >= 1.0 else "The answer is wrong."
    return Seen(outcome.score, f"{words} It was read as: {read}" if read else f"{words} No answer could be read.")


def last_answer(trajectory: Trajectory | None) -> str:
    """Return the last words of a solver in a rollout; `""` if it said nothing."""
    actions = list(trajectory.step_values("action")) if trajectory else []
    return actions[-1] if actions and isinstance(actions[-1], str) else ""
