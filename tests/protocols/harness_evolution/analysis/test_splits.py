from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import ConfigError
from heredity.protocols.harness_evolution.analysis import inspect_split, read_split, read_task_index

SPLITS = {"train": ["a", "b"], "val": ["c"], "test": ["d"]}


def task(name: str, **fields: Any) -> dict[str, Any]:
    about = {"domain": "code", "source_benchmark": "bench"}
    return {"task_id": name, "source": {"type": "harbor"}, "attributes": about, "scoring": {}, **fields}


def written(folder: Path, data: Any) -> Path:
    path = folder / "file.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


def manifest(**splits: Any) -> dict[str, Any]:
    return {"split_id": "s", "split_version": "v1", "seed": 42, "splits": {**SPLITS, **splits}}


def test_a_split_is_counted_by_domain_and_source(tmp_path: Path) -> None:
    tasks = [*map(task, "abcd"), task("e", attributes={"domain": "text"})]
    index = read_task_index(written(tmp_path, {"version": "1", "tasks": tasks}))
    summary = inspect_split(index, read_split(written(tmp_path, manifest(test=["d", "e"]))))
    assert summary.tasks == {"train": 2, "val": 1, "test": 2}
    assert summary.domains["test"] == {"code": 1, "text": 1}
    assert summary.sources["test"] == {"bench": 1, "text": 1}
    assert summary.unused == 0


@pytest.mark.parametrize(
    ("scoring", "rewards", "expected"),
    [
        ({}, {"reward": 0.5}, (0.5, False)),
        ({}, {"reward": 1.0}, (1.0, True)),
        ({}, {"other": 1.0}, None),
        ({"main_reward_key": "other", "success_threshold": 0.5}, {"other": 0.7}, (0.7, True)),
        ({"reward_key": "other", "success_threshold": 0.5}, {"other": 0.2}, (0.2, False)),
        ({"score_transform": "binary_threshold", "success_threshold": 0.5}, {"reward": 0.7}, (1.0, True)),
        ({"score_transform": "binary_threshold"}, {"reward": 0.7}, (0.0, False)),
    ],
)
def test_rewards_become_scores_as_the_index_says(
    tmp_path: Path, scoring: dict[str, Any], rewards: dict[str, float], expected: Any
) -> None:
    index = read_task_index(written(tmp_path, {"tasks": [task("a", scoring=scoring)]}))
    assert index.tasks["a"].scoring.apply(rewards) == expected


@pytest.mark.parametrize(
    ("data", "match"),
    [
        ("{", "not JSON"),
        ("[]", "give an object"),
        ({}, "tasks is missing"),
        ({"tasks": {}}, "list of tasks"),
        ({"tasks": [1]}, "task 1 is 1"),
        ({"tasks": [task("a"), task("")]}, "task 2: task_id"),
        ({"tasks": [task("a", source=None)]}, r"task 1 \(a\): source is missing"),
        ({"tasks": [task("a", attributes=[])]}, "attributes"),
        ({"tasks": [task("a", scoring={"score_transform": "log"})]}, "score_transform is 'log'.*identity"),
        ({"tasks": [task("a", scoring={"success_threshold": "1"})]}, "success_threshold is '1'"),
        ({"tasks": [task("a"), task("b"), task("a")]}, "has 'a' more than once"),
    ],
)
def test_a_malformed_index_is_refused_with_its_place(tmp_path: Path, data: Any, match: str) -> None:
    with pytest.raises(ConfigError, match=match):
        read_task_index(written(tmp_path, data))


@pytest.mark.parametrize(
    ("data", "match"),
    [
        ({}, "splits is missing"),
        ({"splits": {"train": []}}, "splits are 'train'; give train, val, test"),
        (manifest(extra=[]), "extra"),
        (manifest(val="c"), "splits.val is 'c'"),
        (manifest(train=["a", "b", "a"]), r"splits.train has 'a' more than once"),
        (manifest(val=["a", "c"]), "train and val share 'a';"),
        ({**manifest(), "seed": "42"}, "seed is '42'"),
    ],
)
def test_a_malformed_split_is_refused_with_its_tasks(tmp_path: Path, data: Any, match: str) -> None:
    with pytest.raises(ConfigError, match=match):
        read_split(written(tmp_path, data))


def test_tasks_that_the_index_does_not_know_are_named(tmp_path: Path) -> None:
    index = read_task_index(written(tmp_path, {"version": "7", "tasks": [*map(task, "abc")]}))
    with pytest.raises(ConfigError, match=r"test has 'd', which the task index \(version '7', 3 tasks\)"):
        inspect_split(index, read_split(written(tmp_path, manifest())))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.json cannot be read"):
        read_split(tmp_path / "nowhere.json")
