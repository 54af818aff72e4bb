"""Builds metrics of runs that commit candidates, as docs/file-formats.md describes them."""

from __future__ import annotations

from typing import Any

MIX = "questions/mix/reasoning-gym/gcd+reasoning-gym/lcm+reasoning-gym/products+gsm8k"
FIRST, SECOND, THIRD = "a" * 64, "b" * 64, "c" * 64


def _submission(index: int, candidate: str, mean: float | None, note: str, **fields: Any) -> dict[str, Any]:
    return {
        "index": index,
        "candidate": candidate,
        "parents": [],
        "note": note,
        "status": "ok",
        "episodes": 10,
        "budget_used": 10 * index,
        "train_mean": mean,
        "train_scores": [],
        "lengths": [],
        "invalid_steps": 0,
        "invalid_rate": 0.0,
        "seconds": None,
        "validation_mean": None,
        "best_so_far": None,
        "failures": 0,
        "missing": 0,
        "failure": None,
        "edit": {"kind": "parametric", "hit": None, "lines_added": 0, "lines_removed": 0, "lines_total": 1},
        "features": {"functions": None, "branches": None, "loops": None, "state": None, "lines": 0},
        **fields,
    }


def _decision(candidate: str, accepted: bool, difference: float | None, *evidence: int) -> dict[str, Any]:
    return {
        "candidate": candidate,
        "baseline": "" if difference is None else FIRST,
        "accepted": accepted,
        "reason": "the initial candidate" if difference is None else f"changes by {difference}",
        "submissions": list(evidence),
        "difference": difference,
        "interval": None if difference is None else [difference - 0.1, difference + 0.1],
        "pairs": 0 if difference is None else 10,
        "tolerance": 0.0,
    }


def commit_run(evolver: str = "reflection", seed: int = 0, after: float = 0.75) -> dict[str, Any]:
    """Return the metrics of a finished run with one commit and one refusal beside the initial candidate."""
    right = round(after * 16)
    used = {"input_tokens": 1234, "output_tokens": 56, "cached_tokens": 0, "cost_usd": 0.0042}
    return {
        "schema_version": 4,
        "run_id": f"mix--{evolver}--s{seed}",
        "suite_id": "offline",
        "protocol": "resource-evolution",
        "taskset": MIX,
        "family": "mixed",
        "group": "questions",
        "evolver": {"name": evolver, "kind": "method", "options": {}},
        "seed": seed,
        "status": "finished",
        "isolation": "namespaces",
        "packages": {"reasoning-gym": "0.1.25"},
        "taskset_version": None,
        "commitment": None,
        "config_digest": None,
        "stand_ins": [],
        "evolver_failure": None,
        "agent_accounts": None,
        "budget": {
            "episodes": 100,
            "used": 40,
            "submissions": 4,
            "rejected": 0,
            "wall_seconds": 9.0,
            "resumes": 0,
        },
        "submissions": [
            _submission(1, FIRST, 0.2, "the initial candidate"),
            _submission(2, SECOND, 0.1, "round 1: prompt/system: worse", failures=1),
            _submission(3, THIRD, 0.6, "round 1: prompt/system: count the <b>legs</b>"),
            _submission(4, THIRD, 0.8, "round 1: confirmation"),
        ],
        "selected": {"index": 4, "candidate": THIRD, "validation_mean": None},
        "heldout": {
            "scores": [1.0] * right + [0.0] * (16 - right),
            "mean": after,
            "ci": [after - 0.2, after + 0.2],
            "n": 16,
            "failures": 0,
            "missing": 0,
        },
        "reference": {"name": "initial", "heldout_mean": 0.125, "heldout_scores": [1.0] * 2 + [0.0] * 14},
        "gain": {
            "difference": after - 0.125,
            "ci": [0.3, 0.9],
            "p": 0.001,
            "mde": 0.2,
            "pairs": 16,
            "verdict": "better",
        },
        "decisions": [
            _decision(FIRST, True, None, 1),
            _decision(SECOND, False, -0.1, 1, 2),
            _decision(THIRD, True, 0.5, 1, 3, 4),
        ],
        "changes": [
            {
                "part": "prompt/system",
                "file": "prompt.md",
                "status": "changed",
                "added": 1,
                "removed": 1,
                "diff": "@@ -1 +1 @@\n-Answer.\n+Count the <b>legs</b>.",
            }
        ],
        "model_usage": {
            "rollouts": dict(used),
            "method": {**used, "cost_usd": None, "calls": 7},
            "judging": dict(used),
            "failed_calls": 2,
        },
        "selection": None,
        "best_so_far": [],
        "best_corrected": [],
        "phases": [],
        "traces": [],
        "diagnostics": {
            "improvements": 0,
            "first_improvement": None,
            "score_drops": 0,
            "invalid_transition_rate": 0.0,
            "complexity_growth": None,
            "budget_per_submission": 10.0,
            "failed_submissions": 0,
            "unreadable_candidates": 0,
            "rollbacks": 0,
            "retests": 1,
            "edits": {"synthesis": {"n": 0, "hits": 0}, "parametric": {"n": 2, "hits": 0}},
            "edit_size": [],
        },
        "tokens": None,
    }


def commit_suite() -> list[dict[str, Any]]:
    """Return two evolvers with two seeds."""
    return [commit_run(e, s, after) for e, after in (("reflection", 0.75), ("grpo", 0.5)) for s in range(2)]
