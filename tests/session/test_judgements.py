"""One candidate, one judgement: the same conditions recall it, any other asks anew."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from heredity.experiments.config import resolve
from heredity.models.settings import GatewaySettings
from heredity.sandbox.limits import Limits
from heredity.session.bench import Judgements, JudgementStore
from heredity.session.cases import HiddenCases
from heredity.session.rollouts import Rollouts

from .fakes import FakeRunner, NumbersTaskset, program

CASES = HiddenCases(7, b"salt" * 8)


def judgements(folder: Path, runner: FakeRunner, **conditions: Any) -> Judgements:
    store = JudgementStore(folder / "judgements.jsonl", CASES)
    return Judgements(store, Rollouts(runner, Limits()), conditions)


async def test_a_candidate_is_attempted_once_whoever_asks(tmp_path: Path) -> None:
    runner = FakeRunner()
    first = await judgements(tmp_path, runner, model="a").of(NumbersTaskset(), program("value 3"), 4)
    again = await judgements(tmp_path, runner, model="a").of(NumbersTaskset(), program("value 3"), 4)
    assert len(runner.jobs) == 4
    assert again.scores == first.scores
    assert (first.recalled, again.recalled, again.seconds) == (False, True, 0.0)


@pytest.mark.parametrize("other", [{"model": "b"}, {"model": "a", "base": "x"}, {}])
async def test_other_conditions_are_judged_anew(tmp_path: Path, other: dict[str, str]) -> None:
    runner = FakeRunner()
    await judgements(tmp_path, runner, model="a").of(NumbersTaskset(), program("value 3"), 4)
    await judgements(tmp_path, runner, **other).of(NumbersTaskset(), program("value 3"), 4)
    assert len(runner.jobs) == 8


async def test_two_models_two_bases_and_two_servers_have_a_judgement_each(tmp_path: Path) -> None:
    """What nobody changed is judged once by the reference, and recalled for the run, under each of eight conditions."""
    runner = FakeRunner()
    store = JudgementStore(tmp_path / "judgements.jsonl", CASES)
    for model in ("small", "large"):
        for base in ("one", "other"):
            for server in ("transformers", "vllm"):
                run = Judgements(store, Rollouts(runner, Limits()), {"model": model, "base": base})
                run = run.under(runner, grading={"engine": server})
                before = await run.of(NumbersTaskset(), program("value 3"), 4)
                after = await run.of(NumbersTaskset(), program("value 3"), 4)
                assert not before.recalled
                assert after.recalled
                assert [a - b for a, b in zip(after.scores, before.scores, strict=True)] == [0.0] * 4
    assert len(runner.jobs) == 8 * 4


async def test_a_judgement_with_missing_rollouts_is_made_again(tmp_path: Path) -> None:
    failing = FakeRunner(host_failures=3)
    missing = await judgements(tmp_path, failing).of(NumbersTaskset(), program("value 3"), 2)
    assert set(missing.statuses) == {"missing"}
    assert set((await judgements(tmp_path, FakeRunner()).of(NumbersTaskset(), program("value 3"), 2)).statuses) == {
        "ok"
    }


async def test_a_line_that_was_cut_off_is_made_again_and_the_others_stay(tmp_path: Path) -> None:
    runner, path = FakeRunner(), tmp_path / "judgements.jsonl"
    for text in ("value 3", "value 4"):
        await judgements(tmp_path, runner).of(NumbersTaskset(), program(text), 4)
    path.write_bytes(path.read_bytes()[:-9])
    for text in ("value 3", "value 4"):
        await judgements(tmp_path, runner).of(NumbersTaskset(), program(text), 4)
    assert len(runner.jobs) == 12
    again = await judgements(tmp_path, runner).of(NumbersTaskset(), program("value 4"), 4)
    assert again.recalled


async def test_hidden_tasks_cannot_be_searched_for_in_the_keys(tmp_path: Path) -> None:
    """The same tasks under another salt, which only the judge knows, have another key."""
    keys: set[str] = set()
    for cases in (CASES, replace(CASES, salt=b"other" * 6)):
        path = tmp_path / f"{cases.salt[0]}.jsonl"
        made = Judgements(JudgementStore(path, cases), Rollouts(FakeRunner(), Limits()), {})
        await made.of(NumbersTaskset(), program("value 3"), 2)
        keys |= {json.loads(line)["key"] for line in path.read_text().split("\n") if line}
    assert len(keys) == 2


@pytest.mark.parametrize(
    ("change", "decides"),
    [
        ("gateway.execution=offline/rule-follower", True),
        ("gateway.judge=offline/rule-follower", True),
        ('gateway.providers.mine={base_url="http://127.0.0.1:1"}', True),
        ("solver.temperature=0.5", True),
        ("solver.max_tokens=9", True),
        ("solver.concurrent=3", False),
        ("limits.steps=9", True),
        ("engine.lockstep=2", True),
        ("engine.unsafe=true", True),
        ("engine.containers=docker", True),
        ("engine.workers=2", False),
        ("evolver.method=random", False),
        ("budget.episodes=64", False),
        ("run.seeds=3", False),
        ("suite.baselines=false", False),
        ("gateway.optimisation=offline/rule-inducer", False),
    ],
)
def test_conditions_are_what_can_change_a_score_and_nothing_else(change: str, decides: bool) -> None:
    data = {"run": {"tasksets": ["gymnasium/CartPole-v1"]}}
    assert (resolve(data, [change]).conditions() != resolve(data).conditions()) is decides


@pytest.mark.parametrize(
    ("change", "decides"),
    [
        ("training.base_model=another/model", True),
        ("training.engine=vllm", True),
        ("training.device=gpu", True),
        ("training.mode=sft-only", False),
        ("training.repeats=3", False),
    ],
)
def test_conditions_of_post_training_are_the_base_model_and_what_grades(change: str, decides: bool) -> None:
    data = {
        "run": {"protocol": "post-training", "tasksets": ["posttraining/arithmetic"]},
        "evolver": {"launcher": "copy"},
        "budget": {"seconds": 60.0},
    }
    assert (resolve(data, [change]).conditions() != resolve(data).conditions()) is decides


def test_a_server_is_told_from_another_by_where_it_is() -> None:
    one, other = (GatewaySettings.of({"providers": {"s": {"base_url": f"http://{host}"}}}) for host in ("a", "b"))
    assert one.conditions() != other.conditions()
