from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heredity._core.errors import UnknownNameError
from heredity.cli.catalogue import tasks_app

run = CliRunner()


@pytest.fixture
def name(tmp_path: Path) -> str:
    file = tmp_path / "capitals.csv"
    rows = [f'Capital of {i}?,B,"[""Rome {i}"", ""Oslo {i}""]"' for i in range(10)]
    file.write_text("\n".join(["question,answer,choices", *rows]))
    return f"questions/file:{file}"


def test_the_list_holds_tasksets_of_every_source():
    names = json.loads(run.invoke(tasks_app, ["list", "--json"]).output)
    assert {"gymnasium/CartPole-v1", "questions/gsm8k", "questions/aime24"} <= set(names)
    assert run.invoke(tasks_app, ["list"]).output.split() == names


def test_answers_are_shown_only_on_demand(name: str):
    plain = run.invoke(tasks_app, ["show", name, "--count", "2"])
    assert plain.exit_code == 0, plain.output
    assert plain.output.count("A) Rome") == 2
    assert "secret" not in plain.output
    with_answers = run.invoke(tasks_app, ["show", name, "--count", "2", "--answers"])
    assert with_answers.output.count('"answer": "B"') == 2


def test_json_holds_the_public_parts_and_the_tasks_of_the_split(name: str):
    shown = json.loads(run.invoke(tasks_app, ["show", name, "--split", "heldout", "--count", "1", "--json"]).output)
    assert shown["kind"] == "question"
    assert shown["public"]["train_tasks"] == 5
    (task,) = shown["tasks"]
    assert task["id"] == "heldout/0"
    assert len(task["choices"]) == 2
    assert "secret" not in task


def test_episodes_are_shown_by_their_ids():
    shown = run.invoke(tasks_app, ["show", "gymnasium/CartPole-v1", "--count", "2"])
    assert "--- train/1" in shown.output
    assert "seed" not in shown.output
    assert '"seed"' in run.invoke(tasks_app, ["show", "gymnasium/CartPole-v1", "--count", "1", "--answers"]).output


def test_an_unknown_taskset_suggests_the_nearest():
    error = run.invoke(tasks_app, ["show", "questions/gsm8"]).exception
    assert isinstance(error, UnknownNameError)
    assert "questions/gsm8k" in error.suggestions
