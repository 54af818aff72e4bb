"""Preferences: stand-in instructions, the rule that stands in for a judge, models as judges, and length that does not pay."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heredity._core.errors import ConfigError, ProviderError
from heredity.engine.actor import Solving
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.kinds.checkpoint.tasks import PostTrainingTaskset, plain_solver, posttraining_task, workspace_files
from heredity.kinds.checkpoint.tasks.kinds import PreferenceRunner, RuleJudge, points
from heredity.library.tasks.posttraining.preference.instructions import (
    FORMS,
    StandIn,
    instructions,
    quality,
    rule,
    topics,
)
from heredity.models import Reply, Request
from heredity.resources import Candidate, SourceTree
from heredity.sandbox.limits import Limits
from heredity.session.rollouts import comparison_of

ENTROPY = 99


class Says:
    """A model that answers by a function of the last message."""

    name = "fake/says"

    def __init__(self, answer: Callable[[str], str]) -> None:
        self.answer = answer
        self.heard: list[Request] = []

    async def reply(self, request: Request) -> Reply:
        self.heard.append(request)
        return Reply(self.answer(request.messages[-1].content))


async def judged(name: str, model: Any, count: int, judge: Any = None, **how: Any) -> list[Trajectory]:
    task = posttraining_task(name)
    runner = PreferenceRunner(model, judge=judge, settings=task.solving)
    jobs = [
        Job(task.inner.info, how.get("solver", task.solver), t) for t in task.inner.draw("validation", count, ENTROPY)
    ]
    ended = {position: trajectory async for position, trajectory in runner.run(jobs, Limits(episode_s=600))}
    return [ended[i] for i in range(count)]


def followed(item: StandIn, answer: str) -> float:
    return quality(item.form, item.topic, item.name, item.number, answer)


def test_there_are_enough_instructions_and_all_differ() -> None:
    items = instructions(ENTROPY)
    assert len(items) == len({item.text for item in items}) == len(FORMS) * len(topics()) >= 200
    assert all(len(words) >= 3 for _, words in topics().values())


def test_a_good_answer_follows_its_instruction_and_a_bad_one_does_not() -> None:
    for item in instructions(ENTROPY):
        assert followed(item, item.good) > 0.95, item
        assert followed(item, item.bad) < followed(item, item.good) - 0.05, item


def test_an_answer_that_is_good_for_another_name_and_number_is_not_for_this_one() -> None:
    others = {(item.form, item.topic): item for item in instructions(ENTROPY + 1)}
    lost = [
        followed(item, item.good) - followed(item, others[item.form, item.topic].good) for item in instructions(ENTROPY)
    ]
    assert np.mean([points > 0.05 for points in lost]) > 0.95


def test_the_rule_sees_form_subject_and_repetition_apart() -> None:
    item = ("dashes", "baking bread", "Mira", 417)
    good = "- Mira has 417 loaves.\n- The dough rests.\n- Yeast likes warmth."
    assert quality(*item, good) == pytest.approx(1.0)
    assert quality(*item, good.replace("- ", "")) == pytest.approx(0.75)
    assert quality(*item, good.replace("Mira", "Miranda")) == pytest.approx(0.9)
    assert quality(*item, good.replace("417", "4170")) == pytest.approx(0.9)
    assert quality(*item, "- One thing.\n- Another matter.\n- And a third.") == pytest.approx(0.6)
    assert quality(*item, good.replace("The dough rests", "Dough " * 9)) < 0.97
    assert quality(*item, " \n") == 0.0


async def test_the_rule_judges_no_instruction_that_is_not_its_own() -> None:
    with pytest.raises(ConfigError, match="stand-in instructions alone"):
        await RuleJudge(rule).compare({"question": "q", "reference": "r"}, "a", 0)


@pytest.mark.parametrize("name", ["preference", "preference-judged"])
def test_the_views_and_the_rows_to_train_on_share_no_instruction(name: str) -> None:
    task = posttraining_task(name)
    rows = [json.loads(line) for line in workspace_files(task, ENTROPY)["data/train.jsonl"].splitlines()]
    taskset = PostTrainingTaskset(task)
    graded, heldout = (taskset.draw(s, n, ENTROPY) for s, n in (("train", task.graded), ("heldout", task.heldout)))
    texts = [*(row["prompt"] for row in rows), *(t.spec["question"] for t in (*graded, *heldout))]
    assert len(set(texts)) == len(texts) == len(instructions(ENTROPY))
    assert all(row["completion"] != row["rejected"] for row in rows)
    assert "stand-in" in task.labels


async def test_good_answers_win_or_tie_and_bad_ones_do_not() -> None:
    good = {item.text: item.good for item in instructions(ENTROPY)}
    bad = {item.text: item.bad for item in instructions(ENTROPY)}
    best = await judged("preference", Says(good.__getitem__), 70)
    worst = await judged("preference", Says(bad.__getitem__), 70)
    assert {t.status for t in (*best, *worst)} == {"ok"}
    assert Counter(t.columns["info/winner"][-1] for t in best)["b"] == 0
    assert np.mean([t.total_reward for t in best]) > 0.65
    assert np.mean([t.total_reward for t in worst]) < 0.25


async def test_an_answer_without_words_loses() -> None:
    (trajectory,) = await judged("preference", Says(lambda _: " "), 1)
    assert (trajectory.total_reward, trajectory.failure_source, trajectory.status) == (0.0, "none", "ok")
    won, length, reference = comparison_of(trajectory)
    assert (won, length) == (0.0, 0)
    assert reference > 10


async def test_a_model_judges_in_both_orders_and_favouring_a_place_is_a_tie() -> None:
    judge = Says(lambda _: '{"winner": "first", "reason": "it comes first"}')
    (trajectory,) = await judged("preference-judged", Says(lambda _: "An answer."), 1, judge)
    assert len(judge.heard) == 2
    assert trajectory.columns["info/winner"][-1] == "tie"
    assert trajectory.columns["info/consistent"][-1] is False
    assert trajectory.total_reward == 0.5


async def test_a_consistent_judge_decides() -> None:
    def prefer(prompt: str) -> str:
        first, second = prompt.split("The first answer:")[1].split("The second answer:")
        winner = "first" if "MARKED" in first else "second" if "MARKED" in second else "tie"
        return json.dumps({"winner": winner, "reason": "marked"})

    (won,) = await judged("preference-judged", Says(lambda _: "MARKED"), 1, Says(prefer))
    assert (won.total_reward, won.columns["info/winner"][-1]) == (1.0, "a")


async def test_a_judge_that_fails_leaves_the_comparison_missing() -> None:
    def fail(_: str) -> str:
        raise ProviderError("server", "filtered", transient=True)

    for judge in (Says(fail), Says(lambda _: "I cannot say")):
        (trajectory,) = await judged("preference-judged", Says(lambda _: "An answer."), 1, judge)
        assert (trajectory.status, trajectory.failure_source) == ("provider_error", "provider")


async def test_without_a_judge_or_with_a_program_nothing_is_judged() -> None:
    with pytest.raises(ConfigError, match=r"set gateway\.judge"):
        await judged("preference-judged", Says(str), 1)
    program = Candidate({"agent/solver": SourceTree({"agent.py": "def solve(problem, host): return ''"})})
    with pytest.raises(ConfigError, match="prompts alone"):
        await judged("preference", Says(str), 1, solver=program)


@pytest.mark.parametrize(
    ("winner", "length", "expected"),
    [("a", 100, 1.0), ("a", 150, 1.0), ("a", 300, 0.5), ("tie", 300, 0.25), ("b", 10, 0.0), ("a", 0, 1.0)],
)
def test_a_win_by_length_pays_in_proportion(winner: str, length: int, expected: float) -> None:
    assert points(winner, length, 100) == pytest.approx(expected)


def test_the_real_set_is_read_from_the_users_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEREDITY_DATA", str(tmp_path))
    with pytest.raises(ConfigError, match=r"alpaca_eval\.json is missing"):
        posttraining_task("alpaca-eval")
    file = tmp_path / "alpaca_eval" / "alpaca_eval.json"
    file.parent.mkdir()
    rows = [{"instruction": f"Do {i}.", "output": f"Done {i}.", "generator": "x", "dataset": "y"} for i in range(7)]
    file.write_text(json.dumps(rows))
    task = posttraining_task("alpaca-eval")
    assert (task.graded, task.heldout, task.labels) == (3, 3, ())
    (drawn, *_) = task.inner.draw("validation", 3, 1)
    assert drawn.spec["reference"] == drawn.spec["question"].replace("Do", "Done")
    assert workspace_files(task, 1)["data/train.jsonl"].count(b"\n") == len(instructions(ENTROPY))
    file.write_text(json.dumps([*rows[:1], "?"]))
    with pytest.raises(ConfigError, match="not what AlpacaEval publishes"):
        posttraining_task("alpaca-eval")


def test_a_setting_out_of_range_is_refused() -> None:
    with pytest.raises(ConfigError, match="concurrent"):
        PreferenceRunner(Says(str), settings=Solving(), concurrent=0)
    assert "prompt/question" in plain_solver().parts
