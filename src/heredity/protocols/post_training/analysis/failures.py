"""Failure classes of runs: five classes and no submission, each with its rule and evidence (Agent² RL-Bench, table 13).

The paper assigns classes by reading workspaces. Here each is a fixed rule on the record, so that results are reproducible. A run
may have several; one that ends above the base model beyond noise has at most a collapse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heredity.protocols.post_training.analysis.compare import against_base, base_scores, best_step, clearly_worse
from heredity.protocols.post_training.analysis.record import PostTraining, Step
from heredity.protocols.post_training.analysis.routes import Code
from heredity.protocols.post_training.results import Failure, FailureKind
from heredity.results.run import Verdict
from heredity.results.text import plural

RULES: Mapping[FailureKind, str] = {
    FailureKind.ROLLOUT: (
        "an interactive task and code that trains, but steps through no environment; or all scores are zero"
    ),
    FailureKind.REWARD: "trained checkpoints were graded above zero, but none is better than the base model beyond noise",
    FailureKind.COLLAPSE: (
        "after a score, checkpoints were refused, failed, or scored worse beyond noise, and no later one recovered"
    ),
    FailureKind.EARLY: "only copies of the base model were graded, or no revision has code that trains",
    FailureKind.UNGRADED: "no checkpoint was submitted before the run ended, so the training result is unknown",
    FailureKind.SHORTCUT: "an agent improves a static task beyond noise by code that trains, but no interactive one that it tried",
}
"""The rule of each class; a shortcut needs several runs."""

LIMITS: Mapping[str, str] = {
    "memory_limit": "the agent was ended because it exceeded its memory limit",
    "disk_limit": "the agent was ended because its files exceeded the disk limit",
}
"""Reasons of `agent.ended` caused by the agent, in words."""


def run_failures(record: PostTraining, codes: Mapping[int, Code]) -> list[Failure]:
    """Return the failures of one run, with evidence in sentences and iterations from 1; empty for an unfinished run."""
    if not record.closed:
        return []
    if not record.steps:
        evidence = [f"no request to grade a checkpoint in {record.clock_s:.0f} s", *filter(None, [exit_words(record)])]
        return [_failure(FailureKind.UNGRADED, evidence)]
    failures = [_early(record, codes), _rollout(record, codes), _reward(record), _collapse(record)]
    return [failure for failure in failures if failure]


def _failure(kind: FailureKind, evidence: list[str], iterations: Sequence[int] = ()) -> Failure:
    return Failure(kind=kind, rule=RULES[kind], evidence=evidence, iterations=list(iterations))


def _trained(record: PostTraining) -> list[Step]:
    return [s for s in record.steps if s.score is not None and not record.is_copy(s)]


def _trains(codes: Mapping[int, Code]) -> bool:
    return any(code.trains for code in codes.values())


def _early(record: PostTraining, codes: Mapping[int, Code]) -> Failure | None:
    graded = _trained(record)
    evidence: list[str] = []
    if not graded:
        copies = sum(map(record.is_copy, record.steps))
        refused = len(record.steps) - copies
        evidence.append(
            f"no trained checkpoint was graded: the unchanged base model was submitted {plural(copies, 'time')}, and "
            f"{plural(refused, 'request')} refused or failed"
        )
    idle = len(codes) == len(record.revisions) and not _trains(codes)
    if codes and idle:
        evidence.append(f"none of {len(codes)} code revisions trains")
    if not record.revisions:
        evidence.append("no code was written")
    evidence += [words] if (words := exit_words(record)) else []
    return _failure(FailureKind.EARLY, evidence) if not graded or (codes and idle) else None


def exit_words(record: PostTraining) -> str:
    """Return how the agent ended abnormally; `""` otherwise."""
    ended = record.ended or {}
    limit = LIMITS.get(str(ended.get("reason")), "")
    code = ended.get("code")
    return limit or (f"the agent ended with exit code {code}" if code else "")


def _rollout(record: PostTraining, codes: Mapping[int, Code]) -> Failure | None:
    if not record.interactive or not _trains(codes):
        return None
    graded = _trained(record)
    if graded and all(step.score == 0.0 for step in graded):
        evidence = [f"all {len(graded)} trained checkpoints score zero"]
        return _failure(FailureKind.ROLLOUT, evidence, _numbers(record, graded))
    gain = against_base(record, best_step(record))
    improved = gain is not None and gain.verdict == Verdict.BETTER
    whole = len(codes) == len(record.revisions)
    if not improved and whole and not any(code.environment for code in codes.values()):
        return _failure(FailureKind.ROLLOUT, ["no revision steps through an environment"])
    return None


def _reward(record: PostTraining) -> Failure | None:
    graded = _trained(record)
    above = [step for step in graded if step.score]
    gain = against_base(record, max(above, key=lambda s: s.score or 0.0, default=None))
    if gain is None or gain.verdict == Verdict.BETTER:
        return None
    evidence = f"the best of {len(graded)} trained checkpoints is at {gain.difference:+.3f}, {gain.verdict}"
    return _failure(FailureKind.REWARD, [evidence])


def _collapse(record: PostTraining) -> Failure | None:
    """Detect a drop after the best score of a trained checkpoint without a later recovery."""
    settled = [step for step in record.steps if step.status != "running" and not record.is_copy(step)]
    graded = _trained(record)
    best = max(graded, key=lambda s: s.score or 0.0, default=None)
    if best is None:
        return None
    later = settled[settled.index(best) + 1 :]
    fallen = [step for step in later if _fell(step, best)]
    if not fallen or not _fell(later[-1], best):
        return None
    evidence = [
        f"iteration {record.steps.index(step) + 1}: {step.problem or step.status}"
        if step.score is None
        else f"iteration {record.steps.index(step) + 1} scores {step.score:.3f} after {best.score:.3f}"
        for step in fallen[-3:]
    ]
    return _failure(FailureKind.COLLAPSE, evidence, _numbers(record, fallen))


def _fell(step: Step, best: Step) -> bool:
    if step.score is None:
        return True
    return clearly_worse(step.scores, best.scores)


def _numbers(record: PostTraining, steps: Sequence[Step]) -> list[int]:
    return [record.steps.index(step) + 1 for step in steps]


def failure_of(record: PostTraining, step: Step, best: Step | None) -> str | None:
    """Return a short description of an iteration's failure; None if it is fine.

    Args:
        record: the run.
        step: the iteration.
        best: the best earlier iteration.
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
