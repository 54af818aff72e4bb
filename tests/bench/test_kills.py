from __future__ import annotations

from pathlib import Path

import pytest
from tests.experiments.sample import SOURCE, config, heredity, isolated, run

from heredity._core.errors import HostError, UnknownNameError
from heredity.bench import stores

needs_sandbox = pytest.mark.skipif(not isolated(), reason="policies cannot be confined on this machine")


@pytest.fixture(autouse=True)
def _in_children(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(SOURCE))


@pytest.mark.slow
@needs_sandbox
def test_a_run_that_was_killed_ends_as_the_one_left_alone() -> None:
    lines: list[str] = []
    shorter = stores.SUITE.replace("episodes = 48", "episodes = 12")
    figures = stores.measure_kills(3, "best-of-n", notify=lines.append, suite_text=shorter)
    assert (figures["kills"], figures["differing"], figures["differences"]) == (3, 0, [])
    assert figures["episodes_charged"] == 12
    assert len(lines) == figures["runs"]


@needs_sandbox
def test_a_run_that_differs_is_found(tmp_path: Path) -> None:
    one, other = tmp_path / "runs" / "one", tmp_path / "runs" / "other"
    run(one, config())
    run(other, config())
    assert stores.facts(one) == stores.facts(one)
    assert stores.facts(one) != stores.facts(other), "each has hidden cases of its own"
    assert ".metrics[0]." in stores.first_difference(stores.facts(one), stores.facts(other))


@pytest.mark.slow
def test_a_run_that_fails_by_itself_is_an_error_with_its_reason() -> None:
    with pytest.raises(HostError, match=r"ended with 2 .* unknown environment 'CartPol-v1'"):
        stores.measure_kills(1, suite_text=stores.SUITE.replace("CartPole-v1", "CartPol-v1"))


def test_an_unknown_method_is_said_before_anything_is_run() -> None:
    with pytest.raises(UnknownNameError, match="did you mean parametric"):
        stores.measure_kills(1, "parametrc")
    result = heredity("bench", "kills", "--method", "parametrc", "--json")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("expected", "actual", "difference"),
    [
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, ".a[1].b: 2 became 3"),
        ({"a": 1}, {"b": 1}, ": {'a': 1} became {'b': 1}"),
        ([1], [1, 2], ": [1] became [1, 2]"),
    ],
)
def test_the_first_difference_is_located(expected: object, actual: object, difference: str) -> None:
    assert stores.first_difference(expected, actual) == difference


def test_times_are_left_out_at_any_depth() -> None:
    assert stores._without_times({"a": [{"seconds": 1, "b": {"resumes": 2, "c": 3}}]}) == {"a": [{"b": {"c": 3}}]}
