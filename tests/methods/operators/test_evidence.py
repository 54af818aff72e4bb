from __future__ import annotations

import json
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.sums import agent, attempt_at

from heredity.engine.trajectory import Failure, Trajectory
from heredity.methods.contract import Outcome
from heredity.methods.operators.evidence import evidence_item, latest_once, shortened, worst_first


def episode(steps: int) -> Trajectory:
    columns = {
        "obs": np.zeros((steps + 1, 3)),
        "action": np.arange(steps),
        "reward": np.ones(steps),
        "terminated": np.zeros(steps, bool),
        "truncated": np.zeros(steps, bool),
        "info/x": [None] * steps,
    }
    return Trajectory("train/0", "c", "ok", "none", float(steps), steps, True, columns=columns)


def test_an_attempt_at_a_question_shows_everything() -> None:
    item = evidence_item(attempt_at(agent(), 3, "7"), 1000)
    assert item["question"] == "What is 3 + 3?"
    assert (item["expected"], item["answer"], item["score"], item["error"]) == ("6", "7", 0.0, "7 is not 6")
    assert evidence_item(attempt_at(agent(), 3, "6"), 1000)["error"] is None


def test_the_transcript_repeats_neither_question_nor_answer_nor_error() -> None:
    question, answer = "How many legs have six snakes and two horses?", "eight, since snakes have no legs"
    error = "the scorer of leg_counting gives 0"
    columns = {
        "obs": [f"[system]\nAnswer.\n\n[user]\n{question}\n\n", f"wrong, score 0: {error}"],
        "action": [f"So: {answer}"],
        "reward": np.zeros(1),
        "terminated": np.ones(1, bool),
        "truncated": np.zeros(1, bool),
        "info/question": [question],
        "info/extracted": [answer],
        "info/reason": [error],
        "info/correct": [False],
    }
    made = Trajectory("train/0", "c", "ok", "none", 0.0, 1, True, columns=columns)
    item = evidence_item(Outcome(0, 0.0, 1, trajectory=made), 500)
    told = "[told] [system]\nAnswer.\n\n[user]\n[the question]\n\n\n[said] So: [the answer]\n[told] wrong, score 0: [the error]"
    assert item["transcript"] == told
    assert all(json.dumps(item).count(text) == 1 for text in (question, answer, error))


def test_an_episode_of_a_policy_has_no_question() -> None:
    item = evidence_item(Outcome(0, 300.0, 300, trajectory=episode(300)), 2000)
    assert (item["question"], item["expected"], item["answer"]) == (None, None, "299")
    assert "[… 261 entries left out …]" in item["transcript"]
    assert len(item["transcript"]) < 2100


def test_an_attempt_without_a_trajectory_shows_its_failure() -> None:
    failure = Failure("act_error", "boom", "agent.py, line 3")
    item = evidence_item(Outcome(4, float("nan"), 0, "act_error", failure), 500)
    assert item["error"] == "act_error: boom\nagent.py, line 3"
    assert (item["score"], item["transcript"]) == (None, None)
    assert evidence_item(Outcome(4, 0.0, 0, "missing"), 500)["error"] == "missing"


def test_what_cannot_be_put_into_json_is_put_into_words() -> None:
    strange = episode(2)
    columns = {**strange.columns, "info/expected": [None, {1: b"\xff"}], "action": [object(), {"a": np.float32(1)}]}
    made = Trajectory("train/0", "c", "ok", "none", 0.0, 2, True, columns=columns)
    json.dumps(evidence_item(Outcome(0, 0.0, 2, trajectory=made), 500), allow_nan=False)


@given(st.text(max_size=300), st.integers(10, 100))
def test_a_long_text_keeps_its_beginning_and_its_end(text: str, chars: int) -> None:
    short = shortened(text, chars)
    if len(text) <= chars:
        assert short == text
    else:
        assert short.startswith(text[: chars // 2])
        assert short.endswith(text[len(text) - chars // 2 :])
        assert len(short) <= chars + 50


def test_the_worst_attempt_of_each_task_comes_first_and_missing_ones_last() -> None:
    given = [(3, 1.0), (1, None), (2, 0.5), (2, 0.0), (0, 0.5)]
    items = [{"task": task, "score": score} for task, score in given]
    assert [(i["task"], i["score"]) for i in worst_first(items, 3)] == [(2, 0.0), (0, 0.5), (3, 1.0)]
    assert worst_first(items, 9)[-1]["task"] == 1


def test_rejected_proposals_are_shown_once() -> None:
    def item(number: int, text: str, reason: str = "falls") -> dict[str, Any]:
        return {"round": number, "edits": {"prompt/a:p": text}, "reason": reason, "difference": None}

    rejected = [item(1, "a"), item(2, "b"), item(3, "a"), item(4, "a", "longer")]
    assert [one["round"] for one in latest_once(rejected, 6)] == [2, 3, 4]
    assert [one["round"] for one in latest_once(rejected, 2)] == [3, 4]
    assert latest_once(rejected, 0) == []
