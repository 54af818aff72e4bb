"""The commit gate: decides from evidence if a candidate may replace the committed one (Autogenesis, E.3.4)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from heredity.methods.contract import Decision
from heredity.methods.operators.measure import Measured
from heredity.resources import Candidate
from heredity.resources.assembly import variables
from heredity.results.base import covered
from heredity.results.status import PROGRAM_FAILURES

_RESAMPLES = 2000
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class GateRules:
    """Requirements of a gate.

    Attributes:
        min_gain: the mean difference must exceed this.
        tolerance: largest allowed drop for a candidate that is shorter or cheaper, and neither longer nor costlier.
        protect: share of the tasks solved by the baseline in every repeat that must stay solved, in [0, 1].
        canaries: train tasks that must stay solved if the baseline solves them.
        solved: lowest score that counts as solved.
    """

    min_gain: float = 0.0
    tolerance: float = 0.0
    protect: float = 0.0
    canaries: tuple[int, ...] = ()
    solved: float = 1.0


@dataclass(frozen=True, slots=True)
class Finding:
    """The gate's verdict on a candidate, with the fields of `Decision`."""

    accepted: bool
    reason: str
    difference: float | None = None
    interval: tuple[float, float] | None = None
    pairs: int = 0


def weigh(rules: GateRules, baseline: Measured, candidate: Measured, rng: np.random.Generator) -> Finding:
    """Compare a candidate with the committed one on the same tasks.

    It passes if it breaks no invariant and either the mean of the paired differences exceeds `min_gain`, or the mean is
    not below minus `tolerance` and the candidate is better in length or cost and worse in neither.

    Args:
        rules: the gate's requirements.
        baseline: the committed candidate.
        candidate: its proposed replacement.
        rng: draws the resamples of the interval.
    """
    mine, theirs = candidate.scores, baseline.scores
    tasks = sorted(mine.keys() & theirs.keys())
    asked = len(baseline.rollouts)
    if not covered(len(tasks), asked):
        detail = f" ({candidate.failure})" if candidate.failure else ""
        return Finding(False, f"only {len(tasks)} of {asked} tasks have scores of both{detail}", pairs=len(tasks))
    differences = np.array([mine[task] - theirs[task] for task in tasks])
    difference = float(differences.mean())
    broken = _broken(rules, baseline, candidate)
    accepted, reason = (False, broken) if broken else _verdict(rules, baseline, candidate, difference)
    return Finding(accepted, reason, difference, paired_interval(differences, rng), len(tasks))


def decision(rules: GateRules, baseline: Measured, candidate: Measured, finding: Finding) -> Decision:
    """Return the decision on a candidate, with the gate's evidence."""
    return Decision(
        candidate=candidate.candidate.digest,
        baseline=baseline.candidate.digest,
        accepted=finding.accepted,
        reason=finding.reason,
        submissions=tuple(sorted({*baseline.submissions, *candidate.submissions})),
        difference=finding.difference,
        interval=finding.interval,
        pairs=finding.pairs,
        tolerance=rules.tolerance,
    )


def paired_interval(differences: np.ndarray, rng: np.random.Generator) -> tuple[float, float] | None:
    """Return the 95% percentile bootstrap interval of the mean of paired differences, shape (n,).

    Deviations are widened by √(n / (n − 1)), since the bootstrap of few pairs is too narrow. None for fewer than two
    pairs and for equal differences, which show no spread.
    """
    n = differences.size
    if n < 2 or np.ptp(differences) < _ROUNDING:
        return None
    mean = float(differences.mean())
    deviations = (differences - mean) * math.sqrt(n / (n - 1))
    means = mean + deviations[rng.integers(n, size=(_RESAMPLES, n))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def length_of(candidate: Candidate) -> int:
    """Return the total length of a candidate's variables, in characters."""
    return sum(map(len, variables(candidate).values()))


def _broken(rules: GateRules, baseline: Measured, candidate: Measured) -> str:
    """Return the invariant that a candidate breaks; `""` if none."""
    if candidate.failure and not baseline.failure:
        return f"it fails as a whole: {candidate.failure}"
    crashed, crashed_before = _crashes(candidate), _crashes(baseline)
    if len(crashed) > len(crashed_before):
        task, status = crashed[0]
        return f"its own code fails {len(crashed)} times, before {len(crashed_before)}; on task {task}: {status}"
    solved_before = baseline.solved(rules.solved)
    attempted = candidate.scores.keys()
    lost = sorted((solved_before & attempted) - candidate.solved(rules.solved))
    canaries = [task for task in lost if task in rules.canaries]
    if canaries:
        return f"it loses task {canaries[0]}, which must stay solved"
    kept = len(solved_before & attempted) - len(lost)
    if lost and kept < rules.protect * (kept + len(lost)) - _ROUNDING:
        return (
            f"it loses {len(lost)} of {kept + len(lost)} tasks that were solved every time; {rules.protect:g} must stay"
        )
    return ""


def _crashes(measured: Measured) -> list[tuple[int, str]]:
    return [
        (task, rollout.status)
        for task, rollouts in measured.rollouts.items()
        for rollout in rollouts
        if rollout.status in PROGRAM_FAILURES
    ]


def _verdict(rules: GateRules, baseline: Measured, candidate: Measured, difference: float) -> tuple[bool, str]:
    if difference > rules.min_gain + _ROUNDING:
        return True, f"gains {difference:+.4g} on the same tasks"
    if difference < -rules.tolerance - _ROUNDING:
        return False, f"falls by {-difference:.4g}; {rules.tolerance:g} is tolerated"
    shorter = length_of(baseline.candidate) - length_of(candidate.candidate)
    cheaper = _savings(baseline, candidate)
    if min(shorter, cheaper) < 0:
        return False, f"{_change(difference)}, and is {'longer' if shorter < 0 else 'costlier'}"
    if max(shorter, cheaper) > 0:
        return True, f"{_change(difference)}, and is {'shorter' if shorter > 0 else 'cheaper'}"
    return False, f"{_change(difference)}, and is neither shorter nor cheaper"


def _change(difference: float) -> str:
    return f"changes the mean by {difference:+.4g}" if abs(difference) > _ROUNDING else "scores the same"


def _savings(baseline: Measured, candidate: Measured) -> float:
    """Return a candidate's saving in US dollars, else in tokens; 0 if either cost is unknown."""
    for names in (("cost_usd",), ("input_tokens", "output_tokens")):
        before, after = baseline.cost(*names), candidate.cost(*names)
        if before is not None and after is not None and (before, after) != (0.0, 0.0):
            return before - after
    return 0.0
