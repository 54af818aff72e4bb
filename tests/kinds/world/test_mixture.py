"""A taskset of many worlds: what is learned on some is judged on others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heredity._core.errors import ConfigError
from heredity.cli.main import app
from heredity.kinds.world.taskset import seeds_of
from heredity.tasks.registry import taskset

NAME = "worlds/composed?seeds=9,12&heldout=1..3&difficulty=1"


def test_levels_come_world_by_world_and_held_out_ones_from_worlds_never_learned_on() -> None:
    tasks = taskset(NAME)
    train, heldout = tasks.draw("train", 4, 5), tasks.draw("heldout", 6, 5)
    assert [task.spec["world"] for task in train] == ["composed-9", "composed-12"] * 2
    assert [task.spec["world"] for task in heldout] == ["composed-1", "composed-2", "composed-3"] * 2
    assert tasks.draw("train", 2, 5) == train[:2]
    assert tasks.draw("train", 2, 6) != train[:2]
    assert len({json.dumps(task.spec["level"], sort_keys=True) for task in (*train, *heldout)}) == 10
    assert heldout[0].attributes == {"world": "composed-1"}
    assert "composed-1" not in json.dumps(dict(tasks.info.public))


def test_what_its_scores_depend_on_is_in_its_version() -> None:
    versions = {taskset(NAME + more).info.version for more in ("", "&reward=binary")}
    versions.add(taskset(NAME.replace("1..3", "1..2")).info.version)
    assert len(versions) == 3


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("seeds=1..3", "needs `seeds` to learn on"),
        ("seeds=1..3&heldout=4&seed=5", "needs `seeds` to learn on"),
        ("seeds=1..3&heldout=3..5", "composed-3 is in both"),
        ("seeds=3..1&heldout=4", "expected ranges such as"),
        ("seeds=1,1&heldout=4", "no seed twice"),
        ("seeds=0..200000&heldout=300000", "at most 100,000"),
        ("seeds=1&heldout=4&skin=inverse-pictures", "skin"),
        ("seeds=1&heldout=4&difficulty=4", "expected 1, 2 or 3"),
    ],
)
def test_a_wrong_mixture_is_refused_with_what_is_meant(wrong: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        taskset(f"worlds/composed?{wrong}")
    with pytest.raises(ConfigError, match="validation to 0"):
        taskset(NAME).draw("validation", 1, 0)


def test_seeds_are_read_as_ranges() -> None:
    assert seeds_of("0..2,7,9..10") == [0, 1, 2, 7, 9, 10]


def test_a_method_learns_on_some_worlds_and_is_judged_on_others(tmp_path: Path) -> None:
    file = tmp_path / "across.toml"
    file.write_text(
        f"""
[run]
protocol = "agent-learning"
tasksets = ["{NAME}"]
[evolver]
method = "select-optimise-evaluate"
initial = "heredity.library:harnesses/explorer"
options = {{rounds = 1, batch = 2, repeats = 1}}
[budget]
rollouts = 8
train_cases = 2
[views]
heldout = 3
[gateway]
optimisation = "offline/world-learner"
[suite]
baselines = false
"""
    )
    result = CliRunner().invoke(app, ["run", str(file), "--out", str(tmp_path / "suite"), "--unsafe", "--json"])
    assert result.exit_code == 0, result.output
    (journal,) = (tmp_path / "suite").glob("runs/*/journal.jsonl")
    events = [json.loads(line) for line in journal.read_text().splitlines()]
    views = [event["data"] for event in events if event["kind"] == "judging.scored"]
    assert [(view["view"], len(view["scores"]), set(view["statuses"])) for view in views] == [("heldout", 3, {"ok"})]
    assert sum(event["kind"] == "model.called" for event in events) == 2
