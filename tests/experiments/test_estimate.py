"""Estimates of calls and cost: from a suite's structure, and from runs that have ended."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.counting_server import counting

import heredity
from heredity.experiments.config import cells, load, suite_file
from heredity.experiments.estimate import ASSUMED, MEASURED, PARTLY, Span, earlier_runs, estimate, lines

SMALL = [
    "budget.rollouts=4", "budget.train_cases=2", "views.heldout=2", "run.seeds=2", "suite.baselines=false",
    "evolver.method=reflection", "evolver.options={rounds=1,batch=2}",
]  # fmt: skip
PRICED = 'gateway.providers.far={base_url="https://models.invalid/v1",prices={"*"={input=1.0,output=2.0}}}'


def test_a_suite_without_models_costs_nothing(tmp_path: Path) -> None:
    made = estimate(load(suite_file("demo")), tmp_path)
    assert (made.models, made.paid, made.runs) == ([], [], 16)
    assert lines(made) == ["16 runs, no model is called"]


def test_stand_ins_are_free_and_a_price_is_multiplied_by_tokens(tmp_path: Path) -> None:
    made = estimate(load(suite_file("questions-offline"), [*SMALL, "gateway.execution=far/m", PRICED]), tmp_path)
    far, offline = made.models
    assert (far.model, far.free, far.basis) == ("far/m", False, ASSUMED)
    assert (offline.model, offline.free) == ("offline/rule-inducer", True)
    # Two runs: two to eight attempts each, and each attempt is at least one call.
    assert 4 <= far.calls.low <= far.calls.high <= 2 * (4 + 2 * 2) * 2
    assert far.cost_usd is not None
    assert far.cost_usd.high == pytest.approx((far.input_tokens.high + 2 * far.output_tokens.high) / 1e6)
    assert made.cost_usd == far.cost_usd
    assert "far/m" in lines(made)[0]
    json.dumps(made.to_json())


@pytest.mark.parametrize(("suite", "overrides"), [("questions-offline", []), ("worlds-six", ["evolver.initial="])])
def test_without_earlier_runs_an_estimate_spans_about_one_order_of_magnitude(
    suite: str, overrides: list[str], tmp_path: Path
) -> None:
    models = ["gateway.execution=far/m", "gateway.optimisation=far/m", PRICED]
    cost = estimate(load(suite_file(suite), [*overrides, *models]), tmp_path).cost_usd
    assert cost is not None
    assert 3 < cost.high / cost.low < 25


def test_the_input_of_questions_is_measured_in_the_questions(tmp_path: Path) -> None:
    rows = [
        {"question": letter + " word" * 800, "answer": letter, "split": split}
        for split, letters in (("train", "abcd"), ("heldout", "efgh"))
        for letter in letters
    ]
    (tmp_path / "long.jsonl").write_text("\n".join(map(json.dumps, rows)))
    given = [*SMALL, f'run.tasksets=["questions/file:{tmp_path}/long.jsonl"]', "gateway.execution=far/m", PRICED]
    far = estimate(load(suite_file("questions-offline"), given), tmp_path).models[0]
    # Each question has about a thousand tokens.
    middle = (far.input_tokens.low * far.input_tokens.high / (far.calls.low * far.calls.high)) ** 0.5
    assert 900 < middle < 1300
    assert far.input_tokens.high / far.calls.high < 1500


def test_independent_factors_are_unlikely_to_lie_at_the_same_end() -> None:
    assert Span(1, 4).product(Span(5, 5)) == pytest.approx((5, 20))
    low, high = Span(1, 4).product(Span(1, 4))
    assert (low * high, high / low) == pytest.approx((16, 4 ** (2**0.5)))
    assert Span(0, 4).product(Span(1, 4)) == (0, 16)


def test_an_unknown_price_is_unknown_and_not_nothing(tmp_path: Path) -> None:
    provider = 'gateway.providers.far.base_url="https://models.invalid/v1"'
    made = estimate(load(suite_file("questions-offline"), [*SMALL, "gateway.execution=far/m", provider]), tmp_path)
    assert made.cost_usd is None
    assert "set gateway.providers.far.prices" in lines(made)[0]


def test_limits_of_the_configuration_bound_the_estimate(tmp_path: Path) -> None:
    bounded = [*SMALL, "gateway.execution=far/m", PRICED, "gateway.max_calls=5", "gateway.max_cost_usd=0.001"]
    made = estimate(load(suite_file("questions-offline"), bounded), tmp_path)
    assert made.models[0].calls.high <= 5
    assert made.cost_usd is not None
    assert made.cost_usd.high <= 0.001


def test_agents_call_their_model_and_routes_their_first(tmp_path: Path) -> None:
    agents = ["evolver.launcher=codex", "evolver.model=r", 'gateway.routes.r.models=["far/a","far/b"]', PRICED]
    made = estimate(load(suite_file("demo"), agents), tmp_path)
    (one,) = made.models
    assert one.model == "far/a"
    assert one.calls.low >= 4 * 10
    assert estimate(load(suite_file("core16-agents")), tmp_path).runs == 64


def test_estimates_rest_on_runs_that_ended_and_hold_what_a_server_counts(tmp_path: Path) -> None:
    pytest.importorskip("pydantic_ai")
    with counting() as counted:
        overrides = [*SMALL, "gateway.execution=count/m", counted.provider()]
        config = load(suite_file("questions-offline"), overrides)
        first = estimate(config, tmp_path)
        suite = heredity.run("questions-offline", overrides, out=tmp_path / "one", progress=False, canary=True)
        assert [run.id for run in suite.runs] == [first.first]
        measured = list(earlier_runs(tmp_path))
        assert sum(run.usage["count/m"].calls for run in measured) == counted.calls["m"]
        assert measured[0].usage["count/m"].cost_usd == pytest.approx(counted.calls["m"] * 1100e-6)
        # The hidden cases stay sealed until all runs have ended.
        assert not list(tmp_path.glob("one/runs/*/opened.json"))
        second = estimate(config, tmp_path)
        assert second.models[0].basis in (MEASURED, PARTLY)
        assert second.measured_runs == 1
        heredity.resume(tmp_path / "one", progress=False)
    assert len(list(tmp_path.glob("one/runs/*/opened.json"))) == len(cells(config)) == 2
    (model,) = (one for one in second.models if one.model == "count/m")
    assert model.calls.low <= counted.calls["m"] <= model.calls.high
    assert model.cost_usd is not None
    assert model.cost_usd.low <= counted.calls["m"] * 1100e-6 <= model.cost_usd.high
