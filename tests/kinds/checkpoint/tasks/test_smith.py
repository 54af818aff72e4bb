"""Tasks of the user's own: folders with config.yaml, eval.py and data/train.jsonl."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.kinds.checkpoint.tasks.grading import graded

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.kinds.checkpoint.tasks import PostTrainingTaskset, posttraining_task, workspace_files

EVAL = """
from tables import upper

def evaluate(question, model_answer, reference_answer, bonus=0.0):
    return 1.0 if upper(model_answer) == reference_answer else bonus
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "config.yaml").write_text("name: capitals\ndescription: Letters.\nexpose_files: [eval.py, notes.txt]\n")
    (tmp_path / "eval.py").write_text(EVAL)
    (tmp_path / "tables.py").write_text("def upper(text):\n    return text.upper()\n")
    (tmp_path / "notes.txt").write_text("Say it loud.")
    rows = [{"question": {"word": f"word {i}"}, "answer": f"WORD {i}", "bonus": i / 100} for i in range(40)]
    (tmp_path / "data" / "train.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


async def test_a_folder_is_judged_on_rows_that_nobody_trains_on(folder: Path) -> None:
    task = posttraining_task(f"posttraining/smith:{folder}")
    files = workspace_files(task, 3)
    rows = [json.loads(line) for line in files["data/train.jsonl"].splitlines()]
    views = PostTrainingTaskset(task)
    tasks = (*views.draw("train", task.graded, 3), *views.draw("heldout", task.heldout, 3))
    hidden = {t.spec["question"] for t in tasks}
    assert (len(hidden), len(rows)) == (20, 20)
    assert not hidden & {row["prompt"] for row in rows}
    assert set(files) == {"eval.py", "notes.txt", "data/train.jsonl"}
    trajectories = await graded(task, tasks[:3], lambda prompt: json.loads(prompt)["word"])
    assert [t.total_reward for t in trajectories] == [1.0] * 3
    wrong = await graded(task, tasks[:3], lambda _: "?")
    assert [t.total_reward for t in wrong] == [t.spec["metadata"]["extra"]["bonus"] for t in tasks[:3]]


@pytest.mark.parametrize("name", ["data/train.jsonl", "../secret.txt", "missing.txt", "link.jsonl"])
def test_what_would_show_graded_rows_is_not_exposed(folder: Path, name: str) -> None:
    (folder / "link.jsonl").symlink_to(folder / "data" / "train.jsonl")
    (folder.parent / "secret.txt").write_text("42")
    (folder / "config.yaml").write_text(f"name: capitals\nexpose_files: [{name}]\n")
    with pytest.raises(ConfigError, match="expected files of the folder outside of data"):
        posttraining_task(f"smith:{folder}")


def test_a_folder_that_is_no_task_says_what_is_missing(folder: Path, tmp_path: Path) -> None:
    (folder / "config.yaml").write_text("eval_mode: per_sample\n")
    with pytest.raises(ConfigError, match="has no name"):
        posttraining_task(f"smith:{folder}")
    (folder / "config.yaml").write_text("name: capitals\neval_mode: opencompass\n")
    with pytest.raises(UnknownNameError, match="opencompass"):
        posttraining_task(f"smith:{folder}")
    (folder / "config.yaml").write_text("name: capitals\n")
    (folder / "data" / "train.jsonl").write_text('{"question": "a"}\n')
    with pytest.raises(ConfigError, match="; expected the fields question and answer"):
        posttraining_task(f"smith:{folder}")
    (folder / "eval.py").unlink()
    with pytest.raises(ConfigError, match="has no eval"):
        posttraining_task(f"smith:{folder}")
