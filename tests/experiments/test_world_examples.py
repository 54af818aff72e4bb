from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.engine.react import parse_action
from heredity.engine.trajectory import Trajectory, encode_many
from heredity.kinds.world.commands.training_examples import (
    ALPHABET,
    LONGEST,
    Glimpses,
    dealt,
    reference_examples,
    run_examples,
)
from heredity.kinds.world.commands.worlds import app
from heredity.kinds.world.taskset import WorldTaskset
from heredity.kinds.world.world import world
from heredity.models import Message
from heredity.records import BlobStore, RunFolder

NAME = "grid_treasure"


def run_of(path: Path, *rollouts: tuple[str, float, tuple[Message, ...], str]) -> Path:
    said = [
        Trajectory(
            task,
            candidate,
            "ok",
            "none",
            0.0,
            1,
            True,
            {"reward": np.zeros(1), "messages": [m.to_json() for m in messages]},
        )
        for task, _, messages, candidate in rollouts
    ]
    with RunFolder.open(path) as folder:
        blob = BlobStore(path / "blobs").put(encode_many(said))
        outcomes = [{"score": score} for _, score, _, _ in rollouts]
        folder.journal.append("submission.completed", {"outcomes": outcomes, "blob": blob})
    return path


async def test_examples_are_what_a_player_is_asked_and_what_the_solution_does() -> None:
    tasks, made = WorldTaskset(NAME), world(NAME)
    rows = await reference_examples(tasks, 40, 3)
    assert len(rows) == 40
    by_task: dict[str, list[str]] = {}
    for row in rows:
        system, turn, reply = row["messages"]
        assert [message["role"] for message in row["messages"]] == ["system", "user", "assistant"]
        assert made.description.instruction.strip() in system["content"]
        assert turn["content"].startswith(f"Turn {len(by_task.setdefault(row['task'], [])) + 1} of")
        by_task[row["task"]].append(reply["content"])
        assert (row["score"], row["model"]) == (1.0, "reference")
    whole = list(by_task)[:-1]
    for task in tasks.draw("train", len(whole), 3):
        solution = [action.to_json() for action in made.levels.solve(task.spec["level"])]
        read = [parse_action(text) for text in by_task[task.id]]
        assert [{"action": a.name, "params": dict(a.params)} for a in read if not isinstance(a, str)] == solution
    assert await reference_examples(tasks, 40, 3) == rows
    assert await reference_examples(tasks, 40, 4) != rows


def test_examples_are_dealt_four_to_one_and_every_one_once() -> None:
    rows = [{"n": n} for n in range(50)]
    train, validation = dealt(rows, 1)
    assert (len(train), len(validation)) == (40, 10)
    assert sorted(row["n"] for row in [*train, *validation]) == list(range(50))
    assert dealt(rows, 1) == (train, validation) != dealt(rows, 2)


def test_a_run_gives_its_best_attempt_at_each_task(tmp_path: Path) -> None:
    def attempt(*replies: str) -> tuple[Message, ...]:
        turns = [
            m for n, reply in enumerate(replies) for m in (Message("user", f"turn {n}"), Message("assistant", reply))
        ]
        return (Message("system", "rules"), *turns)

    run = run_of(
        tmp_path,
        ("train/0", 0.2, attempt("bad", "bad"), "c1"),
        ("train/0", 0.9, attempt("good", "better"), "c2"),
        ("train/1", 1.0, attempt("best"), "c1"),
        ("train/2", 0.4, attempt("poor"), "c1"),
    )
    rows = run_examples(run, 100, 0.5)
    said = [[message["content"] for message in row["messages"]] for row in rows]
    assert said == [["rules", "turn 0", "best"], ["rules", "turn 0", "good"], ["rules", "turn 1", "better"]]
    assert [(row["task"], row["score"], row["candidate"]) for row in rows[1:]] == [("train/0", 0.9, "c2")] * 2
    assert len(run_examples(run, 2, 0.5)) == 2
    with pytest.raises(ConfigError, match="--min-score"):
        run_examples(run, 100, 1.5)


def test_the_command_writes_both_forms(tmp_path: Path) -> None:
    for form in ("chat", "glimpse"):
        out = tmp_path / form
        result = CliRunner().invoke(app, ["examples", NAME, str(out), "--count", "20", "--form", form, "--json"])
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["train"] == 16
        rows = [
            [json.loads(line) for line in (out / f"{n}.jsonl").read_text().splitlines()]
            for n in ("train", "validation")
        ]
        assert [len(part) for part in rows] == [16, 4]
        assert set(rows[0][0]) >= ({"messages", "score"} if form == "chat" else {"prompt", "completion"})
    for arguments, kind in ((["--form", "char"], UnknownNameError), (["--form", "glimpse", "--run", "r"], ConfigError)):
        assert isinstance(CliRunner().invoke(app, ["examples", NAME, str(tmp_path / "x"), *arguments]).exception, kind)


def test_a_glimpse_has_the_exposed_values_and_every_action_one_character() -> None:
    made = world(NAME)
    glimpses, level = Glimpses(made), made.level("test-01")
    assert len(glimpses.actions) == 5
    episode = made.start(level.data)
    line = glimpses.line(episode)
    assert set(line) <= set(ALPHABET)
    assert "/".join(episode.observe()["grid"]) in line
    assert made.description.skin.text.split()[0] not in line
    for shown, character in glimpses.demonstrated(level.data):
        assert shown == glimpses.line(episode)
        episode.step(glimpses.read(character))
    assert episode.total == 1.0
    assert len(line) <= LONGEST
    assert "does not encode an action" in str(glimpses.read("~"))
    with pytest.raises(ConfigError, match="--form chat"):
        Glimpses(world("gear_train"))
