"""Evaluation rules: what a candidate's rollouts are worth, by reward, by a judge, or compared in pairs (AutoEnv, section 4.1)."""

from __future__ import annotations

import math
from typing import Any, Literal

from heredity.errors import ProviderError
from heredity.evolution.operators.measure import Measured
from heredity.gateway import Model
from heredity.tasks.questions import grade, pairwise

Rule = Literal["reward", "judge", "pairwise"]
_NO_REFERENCE = "(none is given: judge by the goal that the attempt itself was told)"
_RUBRIC = "1 if the goal was reached in a sensible way, 0 if nothing was achieved, between them by how far it came."
_PREFERENCE = "the attempt that came closer to its goal is better; among equals the one that took less."


async def worth(
    rule: Rule, model: Model | None, measured: Measured, against: tuple[Measured, float] | None, seed: int
) -> float:
    """Return a candidate's value; higher is better.

    Args:
        rule: `"reward"` is the mean score. `"judge"`: the mean of what a model makes of the rollouts, from 0 to 1.
            `"pairwise"` (SPO): the value of the candidate it is compared with, plus the share of tasks on which it is
            preferred, minus the share on which the other is.
        model: who judges; None only for `"reward"`.
        measured: the candidate's attempts.
        against: the best candidate so far and its value; None for the first.
        seed: seeds the judge's fences.
    """
    if rule == "reward" or model is None:
        return measured.mean
    try:
        if rule == "judge":
            marks = [
                (await grade(model, _goal(i), _shown(i), reference=_NO_REFERENCE, rubric=_RUBRIC, seed=seed)).score
                for i in measured.evidence
            ]
            return math.fsum(marks) / len(marks) if marks else -math.inf
        if against is None:
            return 0.0
        return against[1] + await _preferred(model, measured, against[0], seed)
    except ProviderError:
        # Without a verdict nothing is known of it, so it is not preferred to anything.
        return -math.inf


async def _preferred(model: Model, measured: Measured, other: Measured, seed: int) -> float:
    mine, theirs = _first(measured), _first(other)
    tasks = sorted(mine.keys() & theirs.keys())
    points = 0
    for task in tasks:
        a, b = mine[task], theirs[task]
        verdict = await pairwise(model, _goal(a), _shown(a), _shown(b), rubric=_PREFERENCE, seed=seed)
        points += {"a": 1, "b": -1, "tie": 0}[verdict.winner]
    return points / len(tasks) if tasks else -1.0


def _first(measured: Measured) -> dict[int, dict[str, Any]]:
    return {task: rollouts[0].evidence for task, rollouts in measured.rollouts.items() if rollouts}


def _goal(item: dict[str, Any]) -> str:
    return str(item["question"] or "See the attempt, which begins with what it was told.")


def _shown(item: dict[str, Any]) -> str:
    return str(item["transcript"] or item["answer"] or item["error"] or "(nothing was said)")
