"""GSM8K with its real data, and generated questions of reasoning-gym."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from tests.kinds.checkpoint.tasks.grading import graded

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.kinds.checkpoint.tasks import PostTrainingTask, PostTrainingTaskset, posttraining_task, workspace_files


@pytest.fixture(scope="module")
def gsm8k() -> PostTrainingTask:
    try:
        return posttraining_task("gsm8k")
    except ConfigError:
        pytest.skip("the files of GSM8K are not here")


def test_all_of_gsm8ks_test_split_is_hidden_and_its_train_split_is_there(gsm8k: PostTrainingTask) -> None:
    rows = [json.loads(line) for line in workspace_files(gsm8k, 0)["data/train.jsonl"].splitlines()]
    assert (gsm8k.graded, gsm8k.heldout, len(rows)) == (660, 659, 7473)
    assert not [row for row in rows if "<<" in row["completion"]]


async def test_the_completions_of_gsm8k_would_be_graded_as_right(gsm8k: PostTrainingTask) -> None:
    views = PostTrainingTaskset(gsm8k)
    rows = [json.loads(line) for line in gsm8k.materials(0)["data/train.jsonl"].splitlines()[:40]]
    tasks = views.draw("train", 40, 0)
    # Each task is asked with the prompt of a row in the form of the rows, so a right completion ends as theirs do.
    answers = {t.spec["question"]: f"Step by step.\nAnswer: {t.spec['answer']}" for t in tasks}
    assert all(row["completion"].splitlines()[-1].startswith("Answer: ") for row in rows)
    assert all(row["prompt"].startswith(row["question"]) and row["prompt"] != row["question"] for row in rows)
    trajectories = await graded(
        gsm8k, tasks, lambda prompt: next(a for q, a in answers.items() if prompt.startswith(q))
    )
    assert [t.total_reward for t in trajectories] == [1.0] * 40


@pytest.mark.parametrize(
    "answer",
    [
        "Answer: {}", "It is {} in all.", "3 and 4 make {}", "Answer: 3\nNo.\nAnswer: ${}.", "Answer: {}.00",
        "Answer: {} apples, not 9", "I do not know", "Answer: -{}", "Answer: {}1", "",
    ],
)  # fmt: skip
async def test_the_rule_that_is_shown_of_gsm8k_agrees_with_what_grades(gsm8k: PostTrainingTask, answer: str) -> None:
    names: dict[str, Any] = {}
    exec(gsm8k.materials(0)["eval.py"], names)
    tasks = PostTrainingTaskset(gsm8k).draw("train", 30, 0)
    wanted = {t.spec["question"]: t.spec["answer"] for t in tasks}

    def say(prompt: str) -> str:
        return answer.format(next(a for q, a in wanted.items() if prompt.startswith(q)))

    trajectories = await graded(gsm8k, tasks, say)
    shown = [names["evaluate"](q, answer.format(a), a) for q, a in wanted.items()]
    assert [t.total_reward for t in trajectories] == shown


@pytest.fixture
def chain_sum() -> PostTrainingTask:
    pytest.importorskip("reasoning_gym")
    return posttraining_task("posttraining/reasoning/chain_sum?max_terms=3&max_digits=2")


async def test_generated_questions_are_graded_by_their_own_scorer(chain_sum: PostTrainingTask) -> None:
    tasks = PostTrainingTaskset(chain_sum).draw("heldout", 6, 4)
    answers = {t.spec["question"]: t.spec["answer"] for t in tasks}

    def say(prompt: str) -> str:
        return f"<answer>{next(a for q, a in answers.items() if prompt.startswith(q))}</answer>"

    assert [t.total_reward for t in await graded(chain_sum, tasks, say)] == [1.0] * 6
    assert max(t.total_reward for t in await graded(chain_sum, tasks, lambda _: "<answer>none</answer>")) < 1


def test_the_rule_of_the_workspace_scores_generated_rows(chain_sum: PostTrainingTask, tmp_path: Path) -> None:
    files = workspace_files(chain_sum, 4)
    (tmp_path / "eval.py").write_bytes(files["eval.py"])
    spec = importlib.util.spec_from_file_location("workspace_rule", tmp_path / "eval.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for row in [json.loads(line) for line in files["data/train.jsonl"].splitlines()[:5]]:
        given = (row["question"], row["completion"], row["answer"], row["verifier"])
        assert module.evaluate(*given) == 1.0
        assert module.evaluate(given[0], "", *given[2:]) == 0.0


def test_an_unknown_data_set_is_told_with_the_nearest_names() -> None:
    pytest.importorskip("reasoning_gym")
    with pytest.raises(UnknownNameError, match="did you mean chain_sum"):
        posttraining_task("reasoning/chain_sums")
