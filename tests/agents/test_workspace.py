from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from tests.agents.fakes import make_terms, program, score

from heredity._core.errors import ConfigError, RecordError
from heredity.agents import Receipt, RunTerms, Workspace
from heredity.methods import Trial
from heredity.protocols.policy_evolution.protocol import BRIEFING, STARTER_POLICY
from heredity.resources import Candidate
from heredity.session.session_log import Submission


def make(tmp_path: Path, **changes: object) -> Workspace:
    workspace = Workspace(tmp_path / "run" / "workspace", make_terms(**changes), BRIEFING)
    workspace.prepare()
    return workspace


def answer(submit_id: int, tasks: tuple[int, ...] = (0, 1), source: str = ""):
    return score(Trial(Candidate.program(program(2.0, source)), tasks), submit_id)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_a_workspace_tells_its_agent_everything(tmp_path: Path) -> None:
    workspace = make(tmp_path)
    text = (workspace.root / "AGENTS.md").read_text()
    for needed in (
        "32 episodes",
        "0 to 15",
        "1 to 8",
        "`numpy`",
        "EVOPOLICYGYM_SUBMIT_URL",
        "HEREDITY_SOCKET",
        "heredity submit",
        "submit program",
        "heredity finish",
        "class Policy",
        "make_policy",
        "summary.json",
        "trajectory.jsonl",
        "-100 at most",
    ):
        assert needed in text, needed
    assert "secret" not in text
    assert "Climb the *hill*." in (workspace.root / "TASK.md").read_text()
    meta = json.loads((workspace.root / "run_meta.json").read_text())
    assert meta["env_meta"]["n_env_instances"] == 16
    assert meta["resource_limits"]["memory_bytes"] == 1 << 30
    assert workspace.snapshot()["policy.py"] == STARTER_POLICY.encode()
    assert (workspace.root / "bin" / "heredity").stat().st_mode & 0o111


def test_the_starter_policy_acts_in_every_space_it_knows() -> None:
    names: dict = {}
    exec(compile(STARTER_POLICY, "policy.py", "exec"), names)
    boxes = [
        {"type": "Box", "low": "-inf", "high": "inf", "shape": [3]},
        {"type": "Box", "low": [0.0, 1.0], "high": 3.0, "shape": [2]},
    ]
    actions = [names["Policy"]({}, space, {}).act(None) for space in boxes]
    assert [a.tolist() for a in actions] == [[0.0, 0.0, 0.0], [1.5, 2.0]]
    assert names["Policy"]({}, {"type": "Discrete", "n": 3, "start": 2}, {}).act(None) == 3


def test_preparing_again_keeps_the_program_and_renews_the_rest(tmp_path: Path) -> None:
    workspace = make(tmp_path)
    (workspace.system / "policy.py").write_text("mine")
    (workspace.root / "AGENTS.md").write_text("forged")
    (workspace.feedback / ".part-left").mkdir()
    workspace.prepare(program(1.0))
    assert workspace.snapshot()["policy.py"] == b"mine"
    assert "forged" not in (workspace.root / "AGENTS.md").read_text()
    assert list(workspace.feedback.iterdir()) == []


def test_the_host_never_writes_through_a_link(tmp_path: Path) -> None:
    workspace = make(tmp_path)
    victim = tmp_path / "victim"
    victim.write_text("safe")
    for name in ("AGENTS.md", "run_meta.json", "bin/heredity"):
        (workspace.root / name).unlink()
        (workspace.root / name).symlink_to(victim)
    workspace.prepare()
    assert victim.read_text() == "safe"
    assert not (workspace.root / "AGENTS.md").is_symlink()


def test_a_link_in_the_place_of_the_feedback_is_refused(tmp_path: Path) -> None:
    workspace = make(tmp_path)
    workspace.feedback.rmdir()
    workspace.feedback.symlink_to(tmp_path)
    with pytest.raises(ConfigError, match="link"):
        workspace.prepare()


async def test_submissions_are_numbered_from_zero_and_episodes_over_the_run(tmp_path: Path) -> None:
    workspace = make(tmp_path)
    first = await workspace.publish(answer(1, (5, 5, 6)))
    second = await workspace.publish(answer(2, (0,)))
    assert (first["first_global_episode"], first["remaining_budget"]) == (0, 29)
    assert (second["first_global_episode"], second["remaining_budget"]) == (3, 28)
    assert sorted(p.name for p in workspace.feedback.glob("*/episodes/*")) == ["ep_000", "ep_001", "ep_002", "ep_003"]
    assert json.loads((workspace.feedback / "submit_001" / "summary.json").read_text()) == second
    assert workspace.last_summary() == second


async def test_a_receipt_decides_the_numbers_whatever_the_order(tmp_path: Path) -> None:
    workspace = make(tmp_path)
    late = await workspace.publish(answer(2), receipt=Receipt(10, 5, 1.0, 0.5))
    assert (late["first_global_episode"], late["remaining_budget"], late["wall_time_seconds"]) == (10, 5, 0.5)


async def test_a_ledger_gives_the_receipt_of_each_submission(tmp_path: Path) -> None:
    workspace = make(tmp_path)

    class Ledger:
        def submission(self, submit_id: int) -> Submission:
            return Submission(
                submit_id, "k", "r", (0, 1), "d", (0, 1), 4, None, 0.0, 0.0, seconds=2.0, completed_at=100.0
            )

    await workspace.publisher(Ledger())(answer(2), [])
    summary = workspace.summary(1)
    assert summary is not None
    assert (summary["first_global_episode"], summary["remaining_budget"], summary["wall_time_seconds"]) == (4, 26, 2.0)
    assert summary["submit_completed_at"] == "1970-01-01T00:01:40.000Z"


async def test_publishing_again_changes_nothing(tmp_path: Path) -> None:
    workspace = make(tmp_path)
    await workspace.publish(answer(1))
    before = contents(workspace.feedback)
    again = Workspace(workspace.root, workspace.terms, BRIEFING)
    again.prepare()
    await asyncio.gather(*(again.publish(answer(1)) for _ in range(5)))
    assert contents(workspace.feedback) == before


async def test_a_damaged_folder_is_written_again(tmp_path: Path) -> None:
    workspace = make(tmp_path)
    await workspace.publish(answer(1), receipt=Receipt(0, 30, 1.0, 0.5))
    before = contents(workspace.feedback)
    (workspace.feedback / "submit_000" / "summary.json").write_text("")
    await Workspace(workspace.root, workspace.terms, BRIEFING).publish(answer(1), receipt=Receipt(0, 30, 1.0, 0.5))
    assert contents(workspace.feedback) == before


async def test_an_agent_never_sees_half_of_a_submission(tmp_path: Path) -> None:
    workspace = make(tmp_path, max_episodes=400, episode_budget=400)
    publishing = asyncio.create_task(workspace.publish(answer(1, tuple(range(16)) * 20)))
    seen: set[int] = set()
    while not publishing.done():
        if (workspace.feedback / "submit_000").exists():
            seen.add(len(list((workspace.feedback / "submit_000").glob("episodes/*/trajectory.jsonl"))))
        await asyncio.sleep(0.001)
    await publishing
    assert seen <= {320}
    assert len(list(workspace.feedback.glob("submit_000/episodes/*"))) == 320


async def test_feedback_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    workspace = make(tmp_path)
    workspace.feedback.rmdir()
    workspace.feedback.write_text("in the way")
    with pytest.raises(RecordError, match="submission 1"):
        await workspace.publish(answer(1))


def test_terms_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ConfigError, match="min_episodes"):
        make_terms(min_episodes=9)
    with pytest.raises(ConfigError, match="train_tasks"):
        make_terms(train_tasks=0)
    assert isinstance(make_terms(episode_budget=20_000), RunTerms)
    assert make_terms(episode_budget=20_000).width == 5
