"""Runs of post-training that cannot begin: one clear line, exit code 2, nothing left behind."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

import pytest

from heredity.agents.launchers import available
from heredity.cli import main as module
from heredity.experiments.config import cells, resolve
from heredity.protocols.post_training.protocol import check_trainer, mode_of, task_of
from heredity.sandbox import inference as sandbox

ROOT = Path(__file__).parents[2]
needs_torch = pytest.mark.skipif(
    any(not list(importlib.metadata.distributions(name=name)) for name in sandbox.ROOTS), reason="torch is missing"
)
TASK = "posttraining/arithmetic"


def run(out: Path, *overrides: str, file: Path | str = "posttrain-cpu") -> int:
    one = (
        f'run.tasksets=["{TASK}"]',
        "run.seeds=1",
        "matrix={}",
        "evolver.launcher=heredity.library:agents/posttraining",
    )
    sys.argv = ["heredity", "run", str(file), *one, *overrides, "--out", str(out)]
    with pytest.raises(SystemExit) as ended:
        module.main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (
            "budget.train_cases=151",
            "budget.train_cases = 151: 151 tasks of split 'validation' of dealt/arithmetic asked for; it has 150",
        ),
        (
            "views.heldout=201",
            "views.heldout = 201: 201 tasks of split 'heldout' of dealt/arithmetic asked for; it has 200",
        ),
        ("training.base_model=characters/multi:rewriting+text-game", "unknown base model 'characters/multi"),
        ("training.base_model=characters/arithmetik", "unknown base model 'characters/arithmetik'; did you mean"),
        (
            "training.base_model=/no/such/folder",
            "training.base_model is '/no/such/folder', which does not exist",
        ),
        ("training.base_model=./nowhere", "/nowhere', which does not exist"),
        ("evolver.launcher=/no/such/agent", "/no/such/agent has no start.sh"),
        ('run.tasksets=["posttraining/arithmetics"]', "did you mean arithmetic"),
        ('run.tasksets=["posttraining/smith:/no/folder"]', "/no/folder/config.yaml cannot be read"),
        ('run.tasksets=["gymnasium/CartPole-v1"]', "not gymnasium/CartPole-v1"),
        ("training.mode=multi-task", "posttraining/arithmetic is one task; use several, such as"),
        ('run.tasksets=["posttraining/multi:arithmetic"]', "expected two or more different ones"),
        ('run.tasksets=["posttraining/multi:arithmetic+rewritin"]', "did you mean rewriting"),
        ("budget.seconds=0", "budget.seconds = 0"),
        ("training.mode=sft", "training.mode = 'sft'"),
        ("training.gpus=1", "training.gpus is 1, but engine.gpus lists 0; list enough"),
        ("training.device=gpu", 'training.device is "gpu" but training.gpus is 0'),
        ('engine.gpus=["93"]', "GPUs: "),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], override: str, message: str
) -> None:
    assert run(tmp_path / "out", override) == 2
    said = capsys.readouterr()
    assert said.err.count(message) == 1
    assert "Traceback" not in said.err
    assert said.out == ""
    assert list(tmp_path.iterdir()) == []


def test_a_method_cannot_train(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "method.toml"
    file.write_text(f'[run]\nprotocol = "post-training"\ntasksets = ["{TASK}"]\n')
    sys.argv = ["heredity", "run", str(file), "budget.seconds=5", "--out", str(tmp_path / "out")]
    with pytest.raises(SystemExit) as ended:
        module.main()
    assert ended.value.code == 2
    assert "post-training needs an agent; set evolver.launcher" in capsys.readouterr().err


def test_a_run_without_an_end_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "endless.toml"
    file.write_text(f'[run]\nprotocol = "post-training"\ntasksets = ["{TASK}"]\n[evolver]\nlauncher = "x"\n')
    assert run(tmp_path / "out", file=file) == 2
    assert "endless.toml: budget.seconds is missing; set the agent's wall time" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_judge_that_is_missing_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = ('run.tasksets=["posttraining/search-judged"]', "budget.train_cases=4", "views.heldout=4")
    assert run(tmp_path / "out", *wanted) == 2
    assert "posttraining/search-judged needs a model as judge; set gateway.judge" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_missing_package_is_named_with_the_extra(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "ROOTS", (*sandbox.ROOTS, "heredity-is-not-a-distribution"))
    sandbox.packages.cache_clear()
    try:
        assert run(tmp_path / "out") == 2
    finally:
        sandbox.packages.cache_clear()
    assert "pip install 'heredity[posttrain]'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(available() is not None, reason="agents cannot be confined here")
@needs_torch
def test_a_folder_that_held_a_mistake_takes_the_corrected_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path / "out", "training.base_model=nope") == 2
    config = resolve(
        {
            "run": {"protocol": "post-training", "tasksets": [TASK]},
            "evolver": {"agent": "true"},
            "budget": {"seconds": 5, "train_cases": 4},
            "views": {"heldout": 4},
        }
    )
    (cell,) = cells(config)
    check_trainer(cell, task_of(cell), ())
    assert not (tmp_path / "out").exists()
    capsys.readouterr()


@pytest.mark.skipif(available() is not None, reason="agents cannot be confined here")
@needs_torch
def test_a_base_that_was_made_for_several_tasks_is_taken_for_each_of_them() -> None:
    joint = "characters/multi:arithmetic+text-game"
    for taskset in (TASK, "posttraining/text-game", "posttraining/multi:text-game+arithmetic"):
        config = resolve(
            {
                "run": {"protocol": "post-training", "tasksets": [taskset]},
                "evolver": {"agent": "true"},
                "training": {"base_model": joint},
                "budget": {"seconds": 5, "train_cases": 4},
                "views": {"heldout": 4},
            }
        )
        (cell,) = cells(config)
        check_trainer(cell, task_of(cell), ())
        assert mode_of(cell) == ("free" if "multi" not in taskset else "multi-task")
