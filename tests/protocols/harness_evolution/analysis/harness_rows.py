"""Runs made up for tests, with SEAGym's fields."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]


def row(task: str | None, score: float | None, view: str, *, mode: str = "", **fields: Any) -> Row:
    """Return one record; what is not told is as the release writes it."""
    modes = {"train": "train", "update_validation": "validation", "replay": "replay", "agent_update": "update"}
    return {
        "run_id": "r",
        "experiment_id": "x",
        "evaluation_point_id": None,
        "agent_checkpoint_id": None,
        "baseline_role": None,
        "task_id": task,
        "attributes": {"domain": "code", "source_benchmark": "bench", "difficulty": "hard"},
        "view_name": view,
        "mode": mode or modes.get(view, "final"),
        "score": score,
        "success": None if score is None else score == 1.0,
        "rewards": {},
        "cost": {},
        "runtime_seconds": None,
        "error": None,
        "refs": {"job_dir": "jobs/1", "rollouts": [1, {"deep": None}]},
        "train_batch_index": None,
        "update_repeat_index": None,
        "global_update_index": None,
        **fields,
    }


def judged(
    view: str, point: str, scores: dict[str, float | None], batch: int | None = None, **fields: Any
) -> list[Row]:
    """Return the rows of one view at one evaluation point."""
    return [row(t, s, view, evaluation_point_id=point, train_batch_index=batch, **fields) for t, s in scores.items()]


def trained(batch: int, *tasks: str, **fields: Any) -> list[Row]:
    """Return the rows of one train batch."""
    return [row(t, 1.0, "train", train_batch_index=batch, global_update_index=batch, **fields) for t in tasks]
