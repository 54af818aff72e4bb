"""`heredity plan` and `heredity run --until`, as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.experiments.sample import config as small
from tests.experiments.sample import isolated, run, write_suite

from heredity.results.suite import Plan

from .test_runs import Cli, cli, one_line

__all__ = ["cli"]


@pytest.fixture(scope="module")
def pilot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not isolated():
        pytest.skip("policies cannot be confined on this machine")
    folder = tmp_path_factory.mktemp("pilot") / "runs" / "one"
    run(folder, small(run={"seeds": 2}, suite={"baselines": ["random"]}, budget={"episodes": 3}, views={"heldout": 4}))
    return folder


def test_a_pilot_is_planned_by_with_a_sentence_designs_and_a_page(cli: Cli, pilot: Path, tmp_path: Path) -> None:
    code, out, err = cli("plan", pilot, "--effect", "50", "--out", tmp_path / "plan.html")
    assert (code, err) == (0, "")
    said = " ".join(out.split())
    assert "To detect a difference of 50 between best-of-n and random on CartPole-v1 with 80% power:" in said
    assert "held-out cases seeds power time rollouts tokens cost" in said
    page = (tmp_path / "plan.html").read_text()
    assert "Power against seeds" in page
    assert "seed × case" in page


def test_a_plan_in_json_is_a_plan_that_can_be_read_back(cli: Cli, pilot: Path) -> None:
    code, out, _ = cli("plan", pilot, "--between", "rand vs best", "--json")
    plan = Plan.model_validate(json.loads(out))
    assert code == 0
    assert (plan.a, plan.b, plan.pilot_seeds, plan.pilot_cases) == ("random", "best-of-n", 2, 4)
    assert plan.cost_per_case.rollouts == 2.0
    assert plan.cost_per_seed.rollouts == 4 + 4 * 2, "four candidates, each with two validation cases"
    assert plan.cost_per_seed.cost_usd == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--between", "best vs nobody"],
            "'nobody' matches no entry; give a name that matches one of 'best-of-n', 'random'",
        ),
        (["--taskset", "Pendulum"], "matches 0 tasksets; give one of gymnasium/CartPole-v1"),
        (["--power", "1"], "--power 1 is not between 0.5 and 1"),
        (["--effect", "-3"], "--effect is -3; give a number above 0"),
    ],
)
def test_a_plan_that_cannot_be_made_is_one_line(cli: Cli, pilot: Path, arguments: list[str], message: str) -> None:
    code, out, err = cli("plan", pilot, *arguments)
    assert (code, out) == (2, "")
    assert one_line(err), err
    assert message in err


def test_a_suite_that_has_not_been_run_names_the_command_that_makes_a_pilot(cli: Cli, tmp_path: Path) -> None:
    file = write_suite(tmp_path)
    pilot = f"heredity run {file} --out runs/small-pilot run.seeds=4, then heredity plan runs/small-pilot"
    code, _, err = cli("plan", file, "--effect", "5")
    assert code == 2
    assert pilot in err
    code, out, _ = cli("plan", file)
    assert code == 0
    assert "no model is called" in out
    assert pilot in out
    assert cli("plan", tmp_path)[0] == 2


def test_the_family_of_tests_is_that_of_the_suite_that_is_planned(cli: Cli, pilot: Path, tmp_path: Path) -> None:
    file = write_suite(tmp_path, run="seeds = 3")
    code, out, _ = cli("plan", file, "--pilot", pilot, "--between", "best vs random", "--json")
    assert code == 0
    assert json.loads(out)["tests"] == 3, "best-of-n, random and sequential"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--until", "best-of-n vs nobody"], "'nobody' matches no entry"),
        (["--until", "best-of-n"], 'write "A vs B"'),
        (["--until", "best vs random", "--most-seeds", "5"], "give --most-seeds 8 or more"),
        (["--most-seeds", "9"], "--most-seeds goes with --until"),
    ],
)
def test_a_question_that_cannot_be_decided_is_one_line_and_leaves_no_folder(
    cli: Cli, tmp_path: Path, arguments: list[str], message: str
) -> None:
    folder = tmp_path / "runs" / "one"
    code, out, err = cli("run", write_suite(tmp_path), "--out", folder, *arguments)
    assert (code, out) == (2, "")
    assert one_line(err), err
    assert message in err
    assert not folder.exists()
