"""Forged runs whose chain, figures and pages were made anew are found from the folder alone, or by running things again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from heredity.cli.main import app
from heredity.experiments.results import rebuild
from heredity.experiments.verification.published import digest_of_files
from heredity.experiments.verification.verify import Asked, verify
from heredity.records import config_digest, load_config

from .. import sample
from ..test_verification import chained, events, failed

pytestmark = pytest.mark.skipif(not sample.isolated(), reason="policies cannot be confined here")

Line = dict[str, Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("root") / "runs" / "one"
    chosen = sample.config(
        run={"seeds": 2},
        matrix={"evolver.method": ["best-of-n", "parametric"]},
        suite={"baselines": False},
        budget={"episodes": 4},
    )
    assert not sample.run(folder, chosen).failures
    return folder


@pytest.fixture
def suite(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "runs" / "one"))


def run_of(suite: Path, method: str = "best-of-n", seed: int = 0) -> Path:
    return suite / "runs" / f"CartPole-v1--{method}--s{seed}"


def forged(suite: Path, change: Callable[[list[Line]], Any]) -> None:
    lines = events(run_of(suite))
    change(lines)
    chained(run_of(suite), lines)
    rebuild(suite)


def first(lines: list[Line], kind: str) -> Line:
    return next(line for line in lines if line["kind"] == kind)


def heldout(lines: list[Line]) -> Line:
    return next(
        line["data"] for line in lines if line["kind"] == "judging.scored" and line["data"]["view"] == "heldout"
    )


def test_an_honest_suite_passes_whatever_is_asked(made: Path) -> None:
    card = verify(made, Asked(candidates=True, methods=True))
    assert failed(card) == {}
    rows = {(row.what, row.split): (row.equal, row.different, row.exempt) for row in card.replays}
    assert rows.keys() == {("candidates", name) for name in ("train", "validation", "heldout")} | {("methods", "")}
    assert all(equal and not different and not exempt for equal, different, exempt in rows.values())
    assert CliRunner().invoke(app, ["verify", str(made), "--strict"]).exit_code == 0


@pytest.mark.parametrize(
    ("change", "check", "reason"),
    [
        (lambda ls: first(ls, "judging.scored")["data"].update(model="openai/gpt-5"), "events", "model"),
        (lambda ls: first(ls, "submission.admitted")["data"].update(charge=0), "events", "charged 0"),
        (lambda ls: first(ls, "submission.admitted")["data"].update(remaining=4), "events", "remain"),
        (lambda ls: ls.insert(1, ls.pop(ls.index(first(ls, "session.closed")))), "events", "after the session was closed"),
        (lambda ls: ls.append(dict(first(ls, "heartbeat"))), "events", "after the end of the run"),
        (lambda ls: ls[-1].update(at=ls[-1]["at"] - 86400), "events", "before the line above"),
        (lambda ls: first(ls, "submission.completed")["data"].update(seconds=86400.0), "events", "took 86400 s"),
        (lambda ls: first(ls, "run.finished")["data"].update(status="failed"), "events", "status failed"),
        (lambda ls: first(ls, "session.closed")["data"].update(reason="finished"), "events", "'budget' follows"),
        (lambda ls: heldout(ls).update(scores=[500.0] * 3, statuses=["rollout_timeout"] * 3), "events", "at most"),
        (lambda ls: ls[0]["data"]["budget"].update(submissions=99), "derivation", "budget"),
        (lambda ls: ls[0]["data"].update(execution="openai/gpt-5"), "configuration", "execution"),
        (lambda ls: ls[0]["data"].update(taskset_version="9"), "configuration", "with these packages it is"),
        (lambda ls: ls[0]["data"]["conditions"].update({"limits.act_s": 9}), "derivation", "conditions"),
        (lambda ls: first(ls, "judging.selected")["data"].update(reason="the best by far"), "derivation", "reason"),
        (lambda ls: first(ls, "reference.scored")["data"].update(name="best known"), "derivation", "reference.scored"),
        (lambda ls: ls.remove(first(ls, "judging.scored")), "derivation", "judging.scored"),
        (lambda ls: first(ls, "submission.completed")["data"].update(invalid_steps=[9]), "derivation", "invalid_steps"),
    ],
)  # fmt: skip
def test_what_the_rules_do_not_make_of_the_record_is_found(
    suite: Path, change: Callable[[list[Line]], Any], check: str, reason: str
) -> None:
    forged(suite, change)
    found = failed(verify(suite))
    assert reason in found.get(check, ""), found


def test_a_run_of_another_budget_than_its_suite_is_found(suite: Path) -> None:
    path = run_of(suite) / "run.toml"
    path.write_text(path.read_text().replace("episodes = 4", "episodes = 8"))
    forged(suite, lambda lines: lines[0]["data"].update(config_digest=config_digest(load_config(run_of(suite)))))
    assert "budget.episodes is 8, and 4" in failed(verify(suite))["configuration"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("index.html", "index.html does not follow"),
        ("runs/CartPole-v1--best-of-n--s0/index.html", "index.html does not follow"),
        ("runs/index.html", "runs/index.html is no run"),
        ("report.html", "report.html differs"),
        ("runs/CartPole-v1--best-of-n--s0/report.md", "report.md differs"),
        ("runs/CartPole-v1--best-of-n--s0/best/policy.py", "best/policy.py differs"),
    ],
)
def test_pages_and_winners_are_those_of_the_records_and_there_are_no_others(
    suite: Path, name: str, reason: str
) -> None:
    with (suite / name).open("a") as file:
        file.write("\n# We won.\n")
    assert reason in failed(verify(suite))["pages"]


@pytest.mark.parametrize("name", ["suite.toml", "report.html", "runs/CartPole-v1--best-of-n--s0/run.toml"])
def test_a_missing_file_fails(suite: Path, name: str) -> None:
    (suite / name).unlink()
    assert failed(verify(suite))


def test_a_link_in_the_winners_folder_is_no_file(suite: Path) -> None:
    winner = run_of(suite) / "best" / "policy.py"
    winner.rename(suite / "policy.py")
    winner.symlink_to(suite / "policy.py")
    assert "policy.py is not a plain file" in failed(verify(suite))["files"]


def test_a_blob_that_the_journal_does_not_name_is_found(suite: Path) -> None:
    blob = run_of(suite) / "blobs" / "aa" / ("a" * 64)
    blob.parent.mkdir(exist_ok=True)
    blob.write_bytes(b"kept for later")
    assert "is no blob of the journal" in failed(verify(suite))["blobs"]


def test_hidden_cases_that_the_entropy_does_not_draw_are_found(suite: Path) -> None:
    path = run_of(suite) / "opened.json"
    opened = json.loads(path.read_bytes())
    path.write_text(json.dumps({**opened, "entropy": "ab" * 32}))
    assert "the opened entropy draws other cases" in failed(verify(suite))["commitment"]


def _with_record_of(suite: Path, source: Path, target: Path) -> None:
    lines = [events(target)[0], *events(source)[1:]]
    for line in lines:
        if line["kind"] == "submission.completed":
            line["data"]["seconds"] += 0.001
    shutil.rmtree(target / "blobs")
    shutil.copytree(source / "blobs", target / "blobs")
    chained(target, lines)
    rebuild(suite)


def test_a_method_that_did_not_make_these_requests_is_found_by_running_it(suite: Path) -> None:
    _with_record_of(suite, run_of(suite), run_of(suite, "parametric"))
    assert "parametric" in failed(verify(suite, Asked(methods=True)))["replay"]


def test_a_seed_that_is_a_copy_of_another_is_found_by_running_its_method(suite: Path) -> None:
    _with_record_of(suite, run_of(suite), run_of(suite, seed=1))
    assert "best-of-n" in failed(verify(suite, Asked(methods=True)))["replay"]


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"taskset_version": "9", "packages": {"gymnasium": "0.1"}},
        {"isolation": "none"},
    ],
)
def test_no_field_of_the_record_exempts_a_forged_score_from_being_played_again(suite: Path, more: Line) -> None:
    def change(lines: list[Line]) -> None:
        heldout(lines)["scores"] = [min(500.0, score + 1.0) for score in heldout(lines)["scores"]]
        lines[0]["data"].update(more)

    forged(suite, change)
    assert "and the journal says" in failed(verify(suite, Asked(candidates=True)))["replay"]


def test_what_could_not_be_checked_is_no_pass_in_a_published_folder(suite: Path) -> None:
    lines = events(run_of(suite))
    heldout(lines).update(
        scores=[None, *heldout(lines)["scores"][1:]], statuses=["missing", *heldout(lines)["statuses"][1:]]
    )
    chained(run_of(suite), lines)
    rebuild(suite)
    (suite / "published.json").write_text(json.dumps({"digest": digest_of_files(suite)[0]}))
    answer = CliRunner().invoke(app, ["verify", str(suite), "--replay", "candidates", "--json"])
    card = json.loads(answer.stdout)
    assert answer.exit_code == 3, [check for check in card["checks"] if check["status"] == "failed"]
    assert "1 of 12 rollouts on heldout are exempt (it is missing in the record)" in card["unproven"][0]
    assert CliRunner().invoke(app, ["verify", str(suite), "--no-strict"]).exit_code == 0
