"""Builds realistic metrics of runs, as docs/file-formats.md describes them, for tests and for looking at reports."""

from __future__ import annotations

import hashlib
from itertools import pairwise
from typing import Any

import numpy as np

from heredity._core.ids import generator
from heredity.analysis.contract import CommonMetrics, RunEvidence
from heredity.analysis.run_results import run_results
from heredity.analysis.suite_results import suite_results
from heredity.resources import Candidate
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults

# name -> (family, group, random mean, best mean, spread of an episode)
PLACES: dict[str, tuple[str, str, float, float, float]] = {
    "gymnasium/Acrobot-v1": ("classic_control", "tuning", -498.0, -82.0, 14.0),
    "gymnasium/CartPole-v1": ("classic_control", "tuning", 22.0, 500.0, 30.0),
    "gymnasium/MiniGrid-FourRooms-v0": ("minigrid", "synthesis", 0.03, 0.71, 0.18),
}
# name -> (kind, how much of the way it gets, how fast, share of synthesis edits)
EVOLVERS: dict[str, tuple[str, float, float, float]] = {
    "parametric": ("method", 0.93, 9.0, 0.05),
    "structural": ("method", 0.97, 16.0, 0.7),
    "sequential": ("method", 0.72, 12.0, 0.3),
    "best-of-n": ("method", 0.6, 8.0, 0.95),
    "hillclimb-agent": ("agent", 0.85, 25.0, 0.45),
}
NOTES = (
    "widen the velocity gain",
    "remember the last three observations",
    "swing up by energy, then hold",
    "mutate one constant of the controller",
    "cross the two best islands",
)
TOKENS = {"input_tokens": 182_400, "cache_tokens": 2_310_000, "output_tokens": 41_250, "cost_usd": 1.87}
PACKAGES = {"gymnasium": "1.4.0", "heredity": "0.1.0", "minigrid": "3.2.0", "numpy": "2.4.6"}


def run_metrics(taskset: str, evolver: str, seed: int, episodes: int = 128) -> dict[str, Any]:
    """Return the metrics of one finished run, the same for the same arguments."""
    family, group, reference_mean, best_mean, spread = PLACES[taskset]
    kind, reach, pace, _ = EVOLVERS[evolver]
    draws = generator(7, "sample", taskset, evolver, seed)
    reach = min(
        1.0, reach + 0.05 * float(draws.standard_normal()) - (0.25 if group == "synthesis" and reach < 0.95 else 0)
    )
    submissions = _submissions(draws, evolver, (reference_mean, best_mean, spread), reach, pace, episodes)
    scored = [s for s in submissions if s["validation_mean"] is not None]
    top = max(scored, key=lambda s: (s["validation_mean"], s["index"]))
    cases = generator(7, "cases", taskset).standard_normal(32)
    scores = top["validation_mean"] + spread * (0.7 * cases + 0.5 * draws.standard_normal(32))
    scores = np.clip(scores, min(reference_mean, best_mean) - 5 * spread, 500.0 if "Cart" in taskset else None)
    half = 2.04 * float(scores.std(ddof=1)) / np.sqrt(32)
    random_scores = reference_mean + 0.2 * spread * generator(7, "random", taskset).standard_normal(32)
    edits = [s["edit"] for s in submissions]
    return {
        "schema_version": 4,
        "run_id": f"demo-{taskset.split('/')[1].lower()}-{evolver}-s{seed}",
        "suite_id": "demo",
        "protocol": "policy-evolution",
        "taskset": taskset,
        "family": family,
        "group": group,
        "evolver": {"name": evolver, "kind": kind, "options": {}},
        "seed": seed,
        "status": "finished",
        "isolation": "namespaces, landlock, seccomp, rlimits",
        "packages": dict(PACKAGES),
        "taskset_version": None,
        "commitment": None,
        "config_digest": None,
        "stand_ins": [],
        "evolver_failure": None,
        "budget": {
            "episodes": episodes,
            "used": submissions[-1]["budget_used"],
            "submissions": len(submissions),
            "rejected": int(draws.integers(0, 2)),
            "wall_seconds": 2.0 + 3 * float(draws.random()),
            "resumes": 0,
        },
        "submissions": submissions,
        "selected": {k: top[k] for k in ("index", "candidate", "validation_mean")},
        "heldout": {
            "scores": [float(s) for s in scores],
            "mean": float(scores.mean()),
            "ci": [float(scores.mean()) - half, float(scores.mean()) + half],
            "n": 32,
            "failures": 0,
            "missing": 0,
        },
        "reference": {
            "name": "random",
            "heldout_mean": float(random_scores.mean()),
            "heldout_scores": [float(s) for s in random_scores],
        },
        "gain": {
            "difference": float((scores - random_scores).mean()),
            "ci": [float((scores - random_scores).mean()) - half, float((scores - random_scores).mean()) + half],
            "p": 0.001,
            "mde": half,
            "pairs": 32,
            "verdict": "better",
        },
        "decisions": [],
        "changes": None,
        "model_usage": None,
        "agent_accounts": None,
        "selection": {
            "candidates": len(scored),
            "validation_mean": top["validation_mean"],
            "corrected": top["validation_mean"] - 0.3 * spread,
            "heldout_mean": float(scores.mean()),
            "gap": top["validation_mean"] - float(scores.mean()),
            "ci": None,
        },
        "best_so_far": [[s["budget_used"], s["best_so_far"]] for s in scored],
        "best_corrected": [[s["budget_used"], s["best_so_far"] - 0.3 * spread] for s in scored],
        "phases": _phases(submissions),
        "traces": _traces(submissions),
        "diagnostics": {
            "improvements": sum(e["hit"] for e in edits),
            "first_improvement": next((s["budget_used"] for s in submissions if s["edit"]["hit"]), None),
            "score_drops": 2,
            "rollbacks": sum(e["kind"] == "rollback" for e in edits),
            "retests": sum(e["kind"] == "retest" for e in edits),
            "invalid_transition_rate": 0.0,
            "complexity_growth": submissions[-1]["features"]["lines"] / submissions[0]["features"]["lines"],
            "budget_per_submission": episodes / len(submissions),
            "failed_submissions": sum(s["status"] != "ok" for s in submissions),
            "unreadable_candidates": 0,
            "edits": {
                name: {
                    "n": sum(e["kind"] == name for e in edits),
                    "hits": sum(e["kind"] == name and e["hit"] for e in edits),
                }
                for name in ("synthesis", "parametric")
            },
            "edit_size": [
                {"lines": e["lines_added"] + e["lines_removed"], "improved": e["hit"]}
                for e in edits
                if e["kind"] != "initial"
            ],
        },
        "tokens": dict(TOKENS) if kind == "agent" else None,
    }


def _submissions(
    draws: np.random.Generator,
    evolver: str,
    scale: tuple[float, float, float],
    reach: float,
    pace: float,
    episodes: int,
) -> list[dict[str, Any]]:
    reference_mean, best_mean, spread = scale
    made: list[dict[str, Any]] = []
    used, best, lines = 0, float("-inf"), 24
    while used < episodes:
        cost = min(int(draws.integers(2, 9)), episodes - used)
        used += cost
        progress = reach * (1 - np.exp(-len(made) / pace * 2.2)) - 0.25 * float(draws.random()) ** 2
        mean = reference_mean + max(0.0, progress) * (best_mean - reference_mean)
        edit = _edit(draws, evolver, first=not made)
        failed = bool(made) and float(draws.random()) < 0.04
        lines = max(12, lines + edit["lines_added"] - edit["lines_removed"]) if made else lines
        validation = None if failed else float(mean)
        edit["hit"] = validation is not None and validation > best
        best = max(best, validation) if validation is not None else best
        made.append(
            {
                "index": len(made) + 1,
                "candidate": hashlib.sha256(f"{evolver}{len(made)}{used}{mean}".encode()).hexdigest(),
                "parents": [made[-1]["candidate"]] if made else [],
                "note": NOTES[int(draws.integers(0, len(NOTES)))] if made else "the starting program",
                "status": "init_error" if failed else "ok",
                "episodes": cost,
                "budget_used": used,
                "train_mean": None if failed else float(mean + spread * draws.standard_normal() / np.sqrt(cost)),
                "train_scores": [],
                "lengths": [],
                "failures": cost if failed else 0,
                "missing": 0,
                "failure": _failure() if failed else None,
                "invalid_steps": 0,
                "invalid_rate": 0.0,
                "seconds": 0.05 + 0.1 * float(draws.random()),
                "validation_mean": validation,
                "best_so_far": best if np.isfinite(best) else None,
                "edit": edit | {"lines_total": lines},
                "features": {
                    "functions": 2 + lines // 25,
                    "branches": lines // 9,
                    "loops": lines // 30,
                    "state": lines // 20,
                    "lines": lines,
                },
            }
        )
    return made


def _failure() -> dict[str, Any]:
    trace = 'Traceback (most recent call last):\n  File "system/policy.py", line 9, in __init__\n    self.gain = gains["hip"]\n'
    return {
        "category": "init_error",
        "message": "KeyError: 'hip'",
        "traceback": trace + "KeyError: 'hip'",
        "step_index": None,
    }


def _edit(draws: np.random.Generator, evolver: str, *, first: bool) -> dict[str, Any]:
    if first:
        return {"kind": "initial", "hit": False, "lines_added": 0, "lines_removed": 0}
    draw = float(draws.random())
    if draw < 0.05:
        return {"kind": "retest", "hit": False, "lines_added": 0, "lines_removed": 0}
    if draw < 0.12:
        return {"kind": "rollback", "hit": False, "lines_added": 4, "lines_removed": 6}
    if float(draws.random()) < EVOLVERS[evolver][3]:
        added = int(draws.geometric(0.1))
        return {
            "kind": "synthesis",
            "hit": False,
            "lines_added": added,
            "lines_removed": int(draws.integers(0, added + 1)),
        }
    changed = int(draws.integers(1, 5))
    return {"kind": "parametric", "hit": False, "lines_added": changed, "lines_removed": changed}


def _phases(submissions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    phases: list[dict[str, Any]] = []
    for s in submissions:
        kind, start = s["edit"]["kind"], s["budget_used"] - s["episodes"]
        if kind not in ("synthesis", "parametric"):
            continue
        if phases and phases[-1]["kind"] == kind:
            phases[-1] |= {"stop": s["budget_used"], "last": s["index"]}
        else:
            phases.append(
                {"kind": kind, "start": start, "stop": s["budget_used"], "first": s["index"], "last": s["index"]}
            )
    return phases


def _traces(submissions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for before, s in pairwise(submissions):
        shown = (
            f"mean {before['train_mean']:.4g}"
            if before["train_mean"] is not None
            else "KeyError: 'hip' in policy.py line 9"
        )
        edit = s["edit"]
        outcome = "failed to start" if s["train_mean"] is None else f"mean {s['train_mean']:.4g}"
        rows.append(
            {
                "submission": s["index"],
                "evidence": f"{shown}, {before['failures']} failures",
                "edit": f"{edit['kind']}, +{edit['lines_added']} -{edit['lines_removed']}: {s['note']}",
                "outcome": outcome + (", new validation best" if edit["hit"] else ", no new best"),
            }
        )
    return rows


def results(run: dict[str, Any], **changes: Any) -> RunResults:
    """Return the results that metrics hold, with changes."""
    return RunResults.model_validate(run | changes)


def nothing(protocol: str = "policy-evolution") -> RunResults:
    """Return the results of a run of which nothing is on record."""
    return run_results(RunEvidence.of([], lambda digest: Candidate({}))).model_copy(update={"protocol": protocol})


def suite_results_of(runs: list[dict[str, Any]], reference: str = "random policy") -> SuiteResults:
    """Return the results of a suite of such runs."""
    return suite_results([results(run) for run in runs], lambda _: CommonMetrics(reference=reference, returns=True))


def suite_runs(seeds: int = 3) -> list[dict[str, Any]]:
    """Return the runs of a whole suite: 3 tasksets x 5 evolvers x `seeds`; the last run failed in its middle."""
    runs = [run_metrics(t, e, s) for t in PLACES for e in EVOLVERS for s in range(seeds)]
    runs[-1] = unfinished(runs[-1])
    return runs


def unfinished(run: dict[str, Any]) -> dict[str, Any]:
    """Return the run as it looks when it stopped before its judging."""
    cut = run["submissions"][:6]
    empty = {"scores": [], "mean": None, "ci": None, "n": 0, "failures": 0, "missing": 0}
    return run | {
        "status": "failed",
        "submissions": cut,
        "selected": None,
        "selection": None,
        "heldout": empty,
        "reference": None,
        "gain": None,
        "budget": run["budget"] | {"used": cut[-1]["budget_used"], "submissions": len(cut)},
        "best_so_far": [p for p in run["best_so_far"] if p[0] <= cut[-1]["budget_used"]],
        "best_corrected": [p for p in run["best_corrected"] if p[0] <= cut[-1]["budget_used"]],
        "phases": [],
    }
