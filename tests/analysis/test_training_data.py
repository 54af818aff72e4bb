from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heredity._core.errors import ConfigError
from heredity.analysis.training_data import model_of, preference_rows, rl_rows, rollouts_of, sft_rows
from heredity.engine.trajectory import Trajectory, encode_many
from heredity.models import Message, ToolCall
from heredity.models.contract import Image
from heredity.records import BlobStore, RunFolder

ASKED = (Message("system", "Be brief."), Message("user", "6*7?"))
RIGHT, WRONG = (*ASKED, Message("assistant", "42")), (*ASKED, Message("assistant", "41"))


def trajectory(task: str, messages: tuple[Message, ...], candidate: str = "c1") -> Trajectory:
    columns: dict[str, Any] = {"reward": np.zeros(1), "messages": [m.to_json() for m in messages]}
    return Trajectory(task, candidate, "ok", "none", 0.0, 1, True, columns)


def run_of(path: Path, *rollouts: tuple[str, float | None, tuple[Message, ...], str]) -> Path:
    with RunFolder.open(path) as folder:
        folder.save_config({"gateway": {"execution": "local/tiny"}})
        blob = BlobStore(path / "blobs").put(encode_many([trajectory(t, m, c) for t, _, m, c in rollouts]))
        outcomes = [{"score": score} for _, score, _, _ in rollouts]
        folder.journal.append("submission.completed", {"outcomes": outcomes, "blob": blob})
        folder.journal.append("submission.completed", {"outcomes": [], "blob": None})
        folder.journal.append("judging.scored", {"view": "heldout", "scores": [1.0]})
    return path


def test_what_scored_enough_is_imitated_once(tmp_path: Path) -> None:
    rows = [("train/0", 1.0, RIGHT, "c1"), ("train/0", 1.0, RIGHT, "c2"), ("train/0", 0.5, WRONG, "c1")]
    rollouts = rollouts_of(run_of(tmp_path, *rows, *rows))
    assert len(rollouts) == 3
    (row,) = sft_rows(rollouts, model_of(tmp_path))
    assert row == {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "6*7?"},
            {"role": "assistant", "content": "42"},
        ],
        "score": 1.0,
        "task": "train/0",
        "candidate": "c1",
        "model": "local/tiny",
    }
    assert len(sft_rows(rollouts, None, 0.5)) == 2


def test_missing_attempts_and_those_without_a_reply_are_left_out(tmp_path: Path) -> None:
    rollouts = rollouts_of(run_of(tmp_path, ("a", None, RIGHT, "c"), ("b", 0.0, ASKED, "c"), ("d", 0.0, WRONG, "c")))
    assert [rollout.task for rollout in rollouts] == ["d"]


def test_every_reply_is_a_step_with_the_reward_of_its_attempt(tmp_path: Path) -> None:
    call = Message("assistant", "", tool_calls=(ToolCall("x", "times", '{"a": 6}'),))
    talk = (*ASKED, call, Message("tool", "42", tool_call_id="x"), Message("assistant", "42"))
    first, second = rl_rows(rollouts_of(run_of(tmp_path, ("train/0", 0.25, talk, "c"))), "m")
    assert [m["role"] for m in first["prompt"]] == ["system", "user"]
    (said,) = first["completion"]
    assert said["tool_calls"] == [
        {"id": "x", "type": "function", "function": {"name": "times", "arguments": '{"a": 6}'}}
    ]
    assert second["prompt"][-1] == {"role": "tool", "content": "42", "tool_call_id": "x"}
    assert (second["completion"][0]["content"], second["reward"], second["model"]) == ("42", 0.25, "m")


def test_a_program_that_begins_anew_has_several_contexts_and_its_own_words_are_left_out(tmp_path: Path) -> None:
    talk = (
        *RIGHT,
        Message("system", "Check."),
        Message("user", "42?"),
        Message("assistant", "yes"),
        Message("assistant", "42!"),
    )
    (rollout,) = rollouts_of(run_of(tmp_path, ("train/0", 1.0, talk, "c")))
    assert [[m["content"] for m in context] for context in rollout.contexts] == [
        ["Be brief.", "6*7?", "42"],
        ["Check.", "42?", "yes"],
    ]
    assert [len(row["prompt"]) for row in rl_rows([rollout], None)] == [2, 2]
    assert preference_rows([rollout], None) == []


def test_worse_attempts_are_paired_with_a_better_one_that_was_asked_alike(tmp_path: Path) -> None:
    other = (Message("system", "Think."), *RIGHT[1:])
    run = run_of(
        tmp_path,
        ("train/0", 1.0, other, "c2"),
        ("train/0", 1.0, RIGHT, "c1"),
        ("train/0", 0.0, WRONG, "c1"),
        ("train/0", 0.0, (*other[:2], Message("assistant", "40")), "c3"),
        ("train/1", 0.0, WRONG, "c1"),
    )
    near, far = preference_rows(rollouts_of(run), None)
    assert (near["chosen"][-1]["content"], near["rejected"][-1]["content"]) == ("42", "41")
    assert near["candidates"] == ["c1", "c1"]
    assert far["candidates"] == ["c2", "c3"]
    assert near["same_prompt"]
    assert far["same_prompt"]
    assert (near["chosen_score"], near["rejected_score"], near["task"]) == (1.0, 0.0, "train/0")


def test_pictures_are_parts_of_the_content(tmp_path: Path) -> None:
    talk = (Message("user", "What?", (Image("image/png", b"\x89"),)), Message("assistant", "A dot."))
    ((row,),) = [sft_rows(rollouts_of(run_of(tmp_path, ("a", 1.0, talk, "c"))), None)]
    assert row["messages"][0]["content"] == [
        {"type": "text", "text": "What?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iQ=="}},
    ]


def test_a_run_without_conversations_is_one_clear_error(tmp_path: Path) -> None:
    with RunFolder.open(tmp_path) as folder:
        columns: dict[str, Any] = {"obs": np.zeros(2), "action": np.zeros(1), "reward": np.zeros(1)}
        episode = Trajectory("train/0", "c", "ok", "none", 1.0, 1, True, columns)
        blob = folder.blobs.put(encode_many([episode]))
        folder.journal.append("submission.completed", {"outcomes": [{"score": 1.0}], "blob": blob})
    with pytest.raises(ConfigError, match="no conversations to train on"):
        rollouts_of(tmp_path)
    assert model_of(tmp_path) is None
