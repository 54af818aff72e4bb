"""Why runs fail: five classes, each with its rule and what it rests on (Agent² RL-Bench, table 13).

The paper assigns classes by reading workspaces. Here each is a rule on the record, so that two readers find the same. A run
may have several; one that ends above the base model beyond noise has at most a collapse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heredity.protocols.post_training.analysis.compare import against_base, base_scores, best_step, clearly_worse
from heredity.protocols.post_training.analysis.record import PostTraining, Step
from heredity.protocols.post_training.analysis.routes import Code

ROLLOUT, REWARD, COLLAPSE, EARLY, SHORTCUT = (
    "rollout construction failure",
    "reward/data design failure",
    "training collapse / instability",
    "early coding failure",
    "static shortcut without transfer",
)
RULES: Mapping[str, str] = {
    ROLLOUT: "an interactive task, code that trains, and no environment that it steps through; or only zeros were scored",
    REWARD: "trained checkpoints were graded above zero, and none is better than the base model beyond noise",
    COLLAPSE: "after a score, checkpoints were refused, failed, or scored worse beyond noise, and no later one recovered",
    EARLY: "nothing but copies of the base model was graded, or no revision has code that trains",
    SHORTCUT: "an agent improves a static task beyond noise by code that trains, and no interactive one that it tried",
}
"""What is looked at for each class; the last needs several runs."""

LIMITS: Mapping[str, str] = {
    "memory_limit": "the agent was ended because it held more memory than it may",
    "disk_limit": "the agent was ended because its files took more disk than they may",
}
"""Reasons of `agent.ended` that are the agent's own doing, in words."""


def run_failures(record: PostTraining, codes: Mapping[int, Code]) -> list[dict[str, Any]]:
    """Return the classes of failure of one run: `class`, `rule`, `evidence` in sentences, and `iterations` (from 1).

    An unfinished run has none yet.
    """
    if not record.closed:
        return []
    found = [_early(record, codes), _rollout(record, codes), _reward(record), _collapse(record)]
    return [{"class": f[0], "rule": RULES[f[0]], "evidence": f[1], "iterations": f[2]} for f in found if f]


_Found = tuple[str, list[str], list[int]] | None


def _trained(record: PostTraining) -> list[Step]:
    return [s for s in record.steps if s.score is not None and not record.is_copy(s)]


def _trains(codes: Mapping[int, Code]) -> bool:
    return any(code.trains for code in codes.values())


def _early(record: PostTraining, codes: Mapping[int, Code]) -> _Found:
    graded = _trained(record)
    said: list[str] = []
    if not graded:
        copies = sum(map(record.is_copy, record.steps))
        refused = len(record.steps) - copies
        said.append(f"no trained checkpoint was graded: {copies} copies of the base model, {refused} refused or failed")
    idle = len(codes) == len(record.revisions) and not _trains(codes)
    if codes and idle:
        said.append(f"none of {len(codes)} code revisions trains")
    if not record.revisions:
        said.append("no code was written")
    said += [words] if (words := exit_words(record)) else []
    return (EARLY, said, []) if not graded or (codes and idle) else None


def exit_words(record: PostTraining) -> str:
    """Say how the agent ended, where that was not as it should; `""` otherwise."""
    ended = record.ended or {}
    limit = LIMITS.get(str(ended.get("reason")), "")
    code = ended.get("code")
    return limit or (f"the agent ended with exit code {code}" if code else "")


def _rollout(record: PostTraining, codes: Mapping[int, Code]) -> _Found:
    if not record.interactive or not _trains(codes):
        return None
    graded = _trained(record)
    if graded and all(step.score == 0.0 for step in graded):
        return ROLLOUT, [f"all {len(graded)} trained checkpoints score zero"], _numbers(record, graded)
    improved = (against_base(record, best_step(record)) or {}).get("verdict") == "better"
    whole = len(codes) == len(record.revisions)
    if not improved and whole and not any(code.environment for code in codes.values()):
        return ROLLOUT, ["no revision steps through an environment"], []
    return None


def _reward(record: PostTraining) -> _Found:
    graded = _trained(record)
    above = [step for step in graded if step.score]
    found = against_base(record, max(above, key=lambda s: s.score or 0.0, default=None))
    if found is None or found["verdict"] == "better":
        return None
    gap = found["difference"]
    return REWARD, [f"the best of {len(graded)} trained checkpoints is at {gap:+.3f}, {found['verdict']}"], []


def _collapse(record: PostTraining) -> _Found:
    """Look for a fall after the best score of a trained checkpoint that no later one made good."""
    settled = [step for step in record.steps if step.status != "running" and not record.is_copy(step)]
    graded = _trained(record)
    best = max(graded, key=lambda s: s.score or 0.0, default=None)
    if best is None:
        return None
    later = settled[settled.index(best) + 1 :]
    fallen = [step for step in later if _fell(step, best)]
    if not fallen or not _fell(later[-1], best):
        return None
    told = [
        f"iteration {record.steps.index(step) + 1}: {step.problem or step.status}"
        if step.score is None
        else f"iteration {record.steps.index(step) + 1} scores {step.score:.3f} after {best.score:.3f}"
        for step in fallen[-3:]
    ]
    return COLLAPSE, told, _numbers(record, fallen)


def _fell(step: Step, best: Step) -> bool:
    if step.score is None:
        return True
    return clearly_worse(step.scores, best.scores)


def _numbers(record: PostTraining, steps: Sequence[Step]) -> list[int]:
    return [record.steps.index(step) + 1 for step in steps]


def failure_of(record: PostTraining, step: Step, best: Step | None) -> str | None:
    """Say in short what is wrong with one iteration; None if nothing is.

    Args:
        record: the run.
        step: the iteration.
        best: the best one before it.
    """
    if step.status == "running":
        return None
    if record.is_copy(step):
        return "copy of the base model"
    if step.submission is None:
        return f"refused: {step.status}"
    if step.score is None:
        return f"failed: {step.status}"
    if step.score == 0.0:
        return "zero score"
    if clearly_worse(step.scores, base_scores(record, step)):
        return "below the base model"
    return "regression" if best is not None and _fell(step, best) else None
