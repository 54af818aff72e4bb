"""Answers that a task's own eval.py scores: what it gives, what it cannot take, and whose fault that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.kinds.checkpoint.tasks.grading import graded

from heredity._core.errors import ConfigError
from heredity.engine.trajectory import Trajectory
from heredity.kinds.checkpoint.tasks import PostTrainingTask, PostTrainingTaskset, posttraining_task
from heredity.kinds.checkpoint.tasks.scoring import SCORED, scored_question
from heredity.kinds.checkpoint.tasks.taskset import DealtTaskset, dealt_info


async def scores(source: str, say: str, answer: Any = "7", **extra: Any) -> Trajectory:
    """Score one answer with an eval.py."""
    task = with_scorer({"eval.py": source}, answer, extra)
    return (await graded(task, PostTrainingTaskset(task).draw("train", 1, 0), lambda _: say))[0]


def with_scorer(scorer: Mapping[str, str], answer: Any, extra: Mapping[str, Any]) -> PostTrainingTask:
    question = scored_question("How many days has a week?", answer, extra=extra)
    info = dealt_info("week", version="1", description="", family="test", kind=SCORED)
    inner = DealtTaskset(info, lambda _: {"validation": [question], "heldout": [], "train": []}, scorer=scorer)
    return replace(posttraining_task("arithmetic"), inner=inner)


SHARE = """
def evaluate(question, model_answer, reference_answer, weight=1.0):
    return weight if model_answer == reference_answer else weight / 4
"""


@pytest.mark.parametrize(("say", "extra", "points"), [("7", {}, 1.0), ("8", {}, 0.25), ("7", {"weight": 0.5}, 0.5)])
async def test_what_evaluate_returns_is_the_reward(say: str, extra: dict[str, Any], points: float) -> None:
    trajectory = await scores(SHARE, say, **extra)
    assert (trajectory.total_reward, trajectory.status, trajectory.columns["reward"][-1]) == (points, "ok", points)
    assert trajectory.columns["info/correct"][-1] == (points >= 1)


async def test_an_answer_that_evaluate_cannot_take_is_wrong() -> None:
    trajectory = await scores("def evaluate(q, a, r):\n    return float(int(a) == int(r))\n", "seven")
    assert (trajectory.total_reward, trajectory.failure_source) == (0.0, "none")
    assert "invalid literal" in trajectory.columns["info/reason"][-1]


@pytest.mark.parametrize("body", ["return 1 / 0", "return 2.0", "return None", "return float('nan')"])
async def test_an_evaluate_that_takes_no_answer_is_the_tasks_fault(body: str) -> None:
    trajectory = await scores(f"def evaluate(q, a, r):\n    {body}\n", "7")
    assert (trajectory.status, trajectory.failure_source) == ("environment_error", "environment")


async def test_an_evaluate_that_cannot_be_imported_is_the_tasks_fault() -> None:
    trajectory = await scores("import missing_module\n", "7")
    assert trajectory.failure_source == "environment"


async def test_evaluate_reaches_neither_files_nor_network() -> None:
    source = """
import socket

def evaluate(q, a, r):
    for attempt in (lambda: open("/etc/passwd"), socket.socket):
        try:
            attempt()
        except OSError:
            continue
        return 1.0
    return 0.5
"""
    assert (await scores(source, "7")).total_reward == 0.5


async def test_functions_of_an_answer_are_called_elsewhere() -> None:
    source = """
from heredity_guest import ask

secret = "not for the answer"

def evaluate(q, a, r):
    told = ask("call", {"code": a, "function": "solve", "arguments": "((1, 2), {'k': 'v'})"})
    return 1.0 if told.get("value") == "(2, {'k': 'v'})" else 0.0 if "secret" in told.get("error", "") else 0.5
"""
    assert (await scores(source, "def solve(a, b):\n    return a[1], b\n")).total_reward == 1.0
    spying = "import eval\n\ndef solve(a, b):\n    return eval.secret\n"
    assert (await scores(source, spying)).total_reward == 0.5


async def test_a_taskset_without_an_eval_is_refused() -> None:
    task = with_scorer({"other.py": ""}, "7", {})
    with pytest.raises(ConfigError, match=r"no eval\.py"):
        await graded(task, PostTrainingTaskset(task).draw("train", 1, 0), lambda _: "7")
