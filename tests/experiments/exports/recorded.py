"""A finished run, written down without running anything: questions with conversations, tools and a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from heredity.engine.trajectory import Trajectory, encode_many
from heredity.models import Message, ToolCall
from heredity.models.contract import Image
from heredity.records import BlobStore, RunFolder

ASKED = (
    Message("system", "Be brief."),
    Message("user", "What is 6*7, and what is this?", images=(Image("image/png", b"\x89PNG"),)),
)
ANSWERED = (
    *ASKED,
    Message(
        "assistant", "", tool_calls=(ToolCall("c1", "multiply", '{"a": 6, "b": 7}'), ToolCall("c2", "look", "not JSON"))
    ),
    Message("tool", "42", tool_call_id="c1"),
    Message("tool", "a dot", tool_call_id="c2"),
    Message("assistant", "42 and a dot"),
)
USED = {
    "input_tokens": 30.0,
    "output_tokens": 5.0,
    "cached_tokens": 10.0,
    "cost_usd": 0.01,
    "model_calls": 2.0,
    "tool_calls": 2.0,
}
CANDIDATE, INITIAL = "c" * 64, "a" * 64


def trajectory(task: str, messages: tuple[Message, ...], expected: str = "42 and a dot") -> Trajectory:
    columns: dict[str, Any] = {
        "reward": np.zeros(1),
        "messages": [m.to_json() for m in messages],
        "info/question": ["What is 6*7?"],
        "info/expected": [expected],
        "info/extracted": ["42"],
    }
    return Trajectory(task, CANDIDATE, "ok", "none", 0.0, 1, True, columns, seconds=1.5, cost=USED)


def started(run_id: str, **changes: Any) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "suite_id": "small",
        "protocol": "resource-evolution",
        "taskset": "questions/sums",
        "taskset_version": "1",
        "family": "sums",
        "group": "easy",
        "evolver": {"name": "reflection", "kind": "method", "options": {"batch": 4}},
        "execution": "acme/tiny",
        "seed": 0,
        "budget": {"episodes": 8},
        "views": {"heldout": 8},
        "failure_return": 0.0,
        "isolation": "bubblewrap",
        "packages": {"python": "3.11.7"},
        "commitment": "d" * 64,
        "conditions": {"gateway.execution": "acme/tiny"},
        "config_digest": "e" * 64,
        **changes,
    }


def record(path: Path, *, finished: bool = True, opened: bool = True, episodes: bool = False, **changes: Any) -> Path:
    """Write a run; `episodes` leaves the conversations out."""
    messages = () if episodes else ANSWERED
    tasks = ["train/0", "train/0", "train/1", "heldout/0"]
    with RunFolder.open(path) as folder:
        blob = BlobStore(path / "blobs").put(encode_many([trajectory(task, messages) for task in tasks]))
        failure = {"category": "provider_error", "message": "overloaded", "traceback": "", "step_index": None}
        outcomes = [
            {"task": i, "score": s, "length": 1, "status": "ok" if s is not None else "missing", "failure": f}
            for i, s, f in ((0, 1.0, None), (0, 0.25, None), (1, None, failure), (2, 0.0, None))
        ]
        made = {"submit_id": 1, "key": "k", "candidate": CANDIDATE}
        lines: list[tuple[str, dict[str, Any]]] = [
            ("run.started", started(path.name, **changes)),
            ("candidate", {"digest": CANDIDATE, "blob": "0" * 64, "parents": [INITIAL], "note": "shorter"}),
            (
                "submission.admitted",
                {**made, "request": "r", "position": [0, 1], "tasks": [0, 0, 1, 2], "charge": 4, "remaining": 4, "at_s": 0.0},
            ),
            (
                "submission.completed",
                {
                    **made, "status": "ok", "failure": None, "outcomes": outcomes, "blob": blob, "seconds": 2.0,
                    "invalid_steps": [0] * 4,
                },
            ),
            (
                "model.called",
                {
                    "request": "q", "place": 0, "purpose": "optimisation", "model": "acme/big", "blob": "0" * 64, "error": None,
                    "usage": {"input_tokens": 9, "output_tokens": 4, "cached_tokens": 0, "cost_usd": 0.5},
                },
            ),
            ("session.closed", {"reason": "budget"}),
        ]  # fmt: skip
        scores = [1.0, 1.0, 0.0, 0.5, 1.0, 1.0, None, 1.0]
        judged = [
            ("judging.selected", {"submit_id": 1, "candidate": CANDIDATE, "reason": "the best"}),
            (
                "judging.scored",
                {
                    "view": "heldout", "candidate": CANDIDATE, "submit_id": 1, "scores": scores, "lengths": [1] * 8,
                    "statuses": ["ok" if s is not None else "missing" for s in scores], "seconds": 4.0,
                    "usage": {"input_tokens": 80, "output_tokens": 16, "cached_tokens": 0, "cost_usd": 0.1},
                },
            ),
            ("reference.scored", {"name": "initial", "view": "heldout", "candidate": INITIAL, "scores": [0.0] * 8}),
            ("run.finished", {"status": "finished"}),
        ]  # fmt: skip
        folder.journal.append_many([*lines, *(judged if finished else [])])
    if opened:
        (path / "opened.json").write_text("{}")
    return path
