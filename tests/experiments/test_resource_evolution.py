"""Resource evolution from its configuration to its lineage, with offline models."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from heredity._core.errors import ConfigError
from heredity.experiments.config import cells, resolve
from heredity.experiments.results import LINEAGE, rebuild_run
from heredity.experiments.suite import open_suite, run_suite
from heredity.records import read_journal
from heredity.resources import Store

from .sample import heredity, isolated

pytest.importorskip("reasoning_gym")
needs_sandbox = pytest.mark.skipif(not isolated(), reason="programs cannot be confined on this machine")

KINDS = "questions/mix/reasoning-gym/gcd+reasoning-gym/lcm+reasoning-gym/spell_backward"


def config(**changes: Any) -> Any:
    data: dict[str, Any] = {
        "run": {"protocol": "resource-evolution", "tasksets": [KINDS], "name": "q"},
        "evolver": {"method": "reflection", "options": {"batch": 9, "candidates": 3, "rounds": 6}},
        "budget": {"rollouts": 200, "train_cases": 24},
        "views": {"heldout": 30},
        "gateway": {"execution": "offline/rule-follower", "optimisation": "offline/rule-inducer"},
        "suite": {"baselines": False},
    }
    for name, section in changes.items():
        data[name] = {**data.get(name, {}), **section}
    return resolve(data)


def ran(folder: Path, chosen: Any) -> dict[str, Any]:
    result = asyncio.run(run_suite(folder, open_suite(folder, chosen)))
    assert not result.failures
    assert not result.evolver_failures
    (metrics,) = result.runs
    return metrics


@pytest.mark.slow
@needs_sandbox
def test_an_optimizer_improves_held_out_accuracy_beyond_noise_and_leaves_its_lineage(tmp_path: Path) -> None:
    metrics = ran(tmp_path / "runs" / "q", config())
    assert metrics.reference.name == "initial"
    assert metrics.gain.difference > 0.1
    assert metrics.gain.ci[0] > 0.0
    assert {d.accepted for d in metrics.decisions} == {True, False}
    used = metrics.model_usage
    assert used.method.calls > 0
    assert used.rollouts.cost_usd == used.judging.cost_usd == 0.0

    (run,) = (tmp_path / "runs" / "q" / "runs").iterdir()
    with Store(run / LINEAGE) as store:
        versions = store.list("prompt", "system")
        committed = [d.candidate for d in metrics.decisions if d.accepted]
        assert len(versions) == len({d.candidate for d in metrics.decisions}) > len(committed)
        assert (
            store.tree(store.get("prompt", "system"))["prompt.md"].count(b"When a question says") == len(committed) - 1
        )
        assert all(version.parents for version in versions[1:])
    before = (run / LINEAGE).read_bytes(), (run / "metrics.json").read_bytes()
    rebuild_run(run)
    assert (run / "metrics.json").read_bytes() == before[1]
    with Store(run / LINEAGE) as store:
        assert [v.digest for v in store.list("prompt", "system")] == [v.digest for v in versions]


@needs_sandbox
def test_a_run_cut_anywhere_resumes_to_the_same_result(tmp_path: Path) -> None:
    whole = ran(tmp_path / "runs" / "a", config())
    (source,) = (tmp_path / "runs" / "a" / "runs").iterdir()
    lines = (source / "journal.jsonl").read_bytes().splitlines(keepends=True)
    hidden_cases = tmp_path / "sealed" / "a"
    for number, cut in enumerate((1, len(lines) // 3, len(lines) // 2, len(lines) - 2)):
        folder = tmp_path / "runs" / f"cut{number}"
        open_suite(folder, config())
        copy = folder / "runs" / source.name
        (copy / "blobs").parent.mkdir(parents=True)
        for path in source.rglob("*"):
            if path.is_file() and path.name not in ("lock", "metrics.json", LINEAGE):
                target = copy / path.relative_to(source)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(path.read_bytes())
        (copy / "journal.jsonl").write_bytes(b"".join(lines[:cut]))
        hidden = tmp_path / "sealed" / folder.name
        hidden.mkdir(mode=0o700)
        (hidden / "cases.json").write_bytes((hidden_cases / "cases.json").read_bytes())
        resumed = ran(folder, None)
        for key in ("decisions", "heldout", "reference", "gain", "selected", "model_usage"):
            assert getattr(resumed, key) == getattr(whole, key), (cut, key)
        kinds = [e.kind for e in read_journal(copy / "journal.jsonl")]
        assert kinds.count("submission.admitted") == len(whole.submissions)


def test_the_baselines_of_resource_evolution_share_the_optimizer_s_view() -> None:
    suite = config(suite={"baselines": True}, run={"seeds": 2}, evolver={"options": {"batch": 5, "rounds": 3}})
    by_label = {cell.label: cell for cell in cells(suite)}
    assert set(by_label) == {"reflection", "best-of-n-edits", "sequential-edits"}
    assert by_label["sequential-edits"].evolver.options == {"batch": 5}


def test_rollouts_are_another_name_of_episodes_and_not_a_second_budget() -> None:
    assert config().budget.episodes == 200
    with pytest.raises(ConfigError, match="rollouts"):
        config(budget={"episodes": 5})


def test_an_agent_from_outside_commits_nothing_and_is_refused_before_anything_runs(tmp_path: Path) -> None:
    chosen = config()
    agent = chosen.model_copy(update={"evolver": type(chosen.evolver)(agent="python agent.py")})
    with pytest.raises(
        ConfigError, match=r"resource-evolution does not run outside agents; set evolver\.method instead"
    ):
        asyncio.run(run_suite(tmp_path / "q", open_suite(tmp_path / "q", agent)))
    assert not list((tmp_path / "q").glob("runs/*/journal.jsonl"))


@needs_sandbox
def test_questions_without_a_model_are_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gateway\.execution"):
        asyncio.run(run_suite(tmp_path / "q", open_suite(tmp_path / "q", config(gateway={"execution": ""}))))


@needs_sandbox
def test_a_token_budget_ends_the_evolution_and_the_run_is_judged(tmp_path: Path) -> None:
    metrics = ran(tmp_path / "runs" / "q", config(budget={"tokens": 3000}))
    used = metrics.model_usage
    spent = sum(part.input_tokens + part.output_tokens for part in (used.rollouts, used.method))
    assert spent >= 3000
    assert metrics.heldout.n == 30
    assert metrics.decisions


@needs_sandbox
def test_why_attempts_are_missing_is_said(tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rule]]\nwhen = { user = "(?i)spell" }\nreply = { error = "request" }\n[[rule]]\nreply = "0"\n')
    gateway = {"execution": f"scripted/{rules}"}
    chosen = config(gateway=gateway, budget={"rollouts": 9, "train_cases": 9}, views={"heldout": 3})
    folder = tmp_path / "runs" / "q"
    (note,) = asyncio.run(run_suite(folder, open_suite(folder, chosen))).notes.values()
    assert note.startswith("3 train and 1 held-out rollouts are missing: request: ")


@needs_sandbox
def test_a_run_without_one_held_out_attempt_ends_with_a_code_and_resuming_judges_it(tmp_path: Path) -> None:
    rules, suite = tmp_path / "rules.toml", tmp_path / "runs" / "q"
    rules.write_text('[[rule]]\nreply = { error = "auth" }\n')
    gateway = {"execution": f"scripted/{rules}"}
    chosen = config(gateway=gateway, budget={"rollouts": 9, "train_cases": 9}, views={"heldout": 3})
    (tmp_path / "q.toml").write_text(tomli_w.dumps(chosen.model_dump(exclude_none=True)))
    refused = heredity("run", tmp_path / "q.toml", "--out", suite)
    assert refused.returncode == 1
    printed = " ".join(refused.stderr.split())
    assert "paused" in printed
    assert "on purpose" in printed
    assert f"continue with: heredity resume {suite}" in printed
    rules.write_text('[[rule]]\nreply = "0"\n')
    assert heredity("resume", suite).returncode == 0


@needs_sandbox
def test_replies_of_which_no_candidate_comes_change_the_exit_code(tmp_path: Path) -> None:
    (tmp_path / "babble.toml").write_text('[[rule]]\nreply = "I would rather not."\n')
    gateway = {"optimisation": f"scripted/{tmp_path / 'babble.toml'}"}
    chosen = config(gateway=gateway, evolver={"options": {"rounds": 2, "batch": 3}}, views={"heldout": 3})
    (tmp_path / "q.toml").write_text(tomli_w.dumps(chosen.model_dump(exclude_none=True)))
    done = heredity("run", tmp_path / "q.toml", "--out", tmp_path / "runs" / "q")
    assert done.returncode == 1
    message = f"4 of 4 replies of {gateway['optimisation']} could not be used: expected a JSON object"
    assert message in " ".join(done.stderr.split())
    (run,) = (tmp_path / "runs" / "q" / "runs").iterdir()
    events = {event.kind: event.data for event in read_journal(run / "journal.jsonl")}
    assert events["evolver.failed"]["message"].startswith(message)
    assert events["run.finished"]["status"] == "failed"
    for report in (tmp_path / "runs" / "q" / "report.md", run / "report.md"):
        assert "failed" in report.read_text()
    text = (tmp_path / "runs" / "q" / "report.md").read_text()
    assert "Nothing was learned: the evolver failed" in text
    assert "Nothing was learned: the evolver failed" in " ".join(done.stdout.split())
