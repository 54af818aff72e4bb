from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from tests.agents.fakes import FakeSession, make_terms, program

from heredity._core.errors import RecordError
from heredity.agents import SessionApp, Workspace
from heredity.protocols.policy_evolution.protocol import BRIEFING
from heredity.resources import Candidate


@dataclass
class Run:
    session: FakeSession
    workspace: Workspace
    app: SessionApp
    client: httpx.AsyncClient
    refused: list[tuple[str, str, str]]

    async def submit(self, episodes: object, **more: object) -> httpx.Response:
        return await self.client.post("/submit", json={"env_instances": episodes, **more})


def make_run(tmp_path: Path, session: FakeSession | None = None, **terms: object) -> Run:
    session = session or FakeSession(make_terms(**terms))
    workspace = Workspace(tmp_path / "run" / "workspace", session.terms, BRIEFING)
    workspace.prepare(program(1.0))
    refused: list[tuple[str, str, str]] = []
    initial = Candidate.program(program(1.0))
    app = SessionApp(session, workspace, initial=initial, on_refusal=lambda *what: refused.append(what))
    client = httpx.AsyncClient(
        transport=httpx.ASGITransport(app.asgi, raise_app_exceptions=False), base_url="http://run"
    )
    return Run(session, workspace, app, client, refused)


@pytest.fixture
async def run(tmp_path: Path) -> AsyncIterator[Run]:
    made = make_run(tmp_path)
    async with made.client:
        yield made


async def test_info_has_the_fields_that_agents_read(run: Run) -> None:
    info = (await run.client.get("/info")).json()
    assert info["state"]["remaining_budget"] == 32
    assert info["state"]["n_submits"] == 0
    assert info["state"]["is_finalized"] is False
    assert info["env_meta"]["n_env_instances"] == 16
    assert {"env", "env_version", "max_episode_steps", "obs_space", "action_space", "obs_storage"} <= set(
        info["env_meta"]
    )
    assert (info["episode_budget"], info["min_episodes_per_submit"], info["max_episodes_per_submit"]) == (32, 1, 8)
    assert {"rollout_wall_s", "memory_bytes"} <= set(info["resource_limits"])
    assert info["allowed_imports"] == ["numpy"]
    assert info["denied_imports"] == []
    assert info["protocol_version"]
    assert "secret" not in json.dumps(info)


async def test_the_task_is_markdown(run: Run) -> None:
    answer = await run.client.get("/task")
    assert answer.headers["content-type"].startswith("text/markdown")
    assert "Climb the *hill*." in answer.text


async def test_a_submission_is_answered_with_its_summary_on_disk(run: Run) -> None:
    answer = await run.submit("3,0-1,3")
    assert answer.status_code == 200
    body = answer.json()
    assert (body["submit_id"], body["status"]) == (0, "ok")
    assert body["summary"]["env_instances"] == [3, 0, 1, 3]
    assert body["summary"]["returns"] == [-4.0] * 4
    assert body["summary"] == json.loads((run.workspace.feedback / "submit_000" / "summary.json").read_text())
    info = (await run.client.get("/info")).json()
    assert info["state"]["n_submits"] == 1
    assert info["state"]["remaining_budget"] == 28


async def test_the_program_is_taken_as_it_is_at_admission(run: Run) -> None:
    await run.submit([0])
    (run.workspace.system / "policy.py").write_text("GAIN = 3\n")
    best = await run.submit([0], note="three\n is best")
    assert best.json()["summary"]["mean_return"] == 0.0
    first, second = run.session.trials
    assert first.candidate == Candidate.program(program(1.0))
    assert first.parents == ()
    assert second.parents == (first.candidate.digest,)
    assert second.note == "three is best"


async def test_a_program_that_fails_still_answers_with_200(run: Run) -> None:
    (run.workspace.system / "policy.py").write_text("def")
    body = (await run.submit([0, 1])).json()
    assert body["status"] == "import_error"
    assert body["summary"]["remaining_budget"] == 30
    assert "line 1" in (run.workspace.feedback / "submit_000" / "errors.txt").read_text()
    (run.workspace.system / "policy.py").unlink()
    assert (await run.submit([0])).json()["status"] == "missing_policy"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", "invalid_request"),
        (b"{", "invalid_request"),
        (b"[0]", "invalid_request"),
        (b"\xff", "invalid_request"),
        (b"[" * 100_000, "invalid_request"),
        (b"{}", "invalid_env_instance"),
        (b'{"env_instances": "x"}', "invalid_env_instance"),
        (b'{"env_instances": []}', "invalid_env_instance"),
        (b'{"env_instances": [0, -1]}', "invalid_env_instance"),
        (b'{"env_instances": [16]}', "invalid_env_instance"),
        (b'{"env_instances": "0-8"}', "budget_invalid"),
        (b'{"env_instances": [0], "key": ""}', "invalid_request"),
        (b'{"env_instances": [0], "key": 3}', "invalid_request"),
        (b'{"env_instances": [0], "note": 3}', "invalid_request"),
    ],
)
async def test_a_malformed_request_costs_nothing(run: Run, body: bytes, status: str) -> None:
    answer = await run.client.post("/submit", content=body)
    assert answer.status_code == 400
    assert answer.json()["status"] == status
    assert answer.json()["error"]["message"]
    assert run.session.left == 32
    assert list(run.workspace.feedback.iterdir()) == []


async def test_requests_the_session_never_saw_are_told_to_whoever_records(run: Run) -> None:
    await run.submit("x", key="a")
    await run.submit([99], key="b")
    assert [(key, status) for key, status, _ in run.refused] == [("agent-a", "invalid_env_instance")]


async def test_a_body_without_end_is_refused(run: Run) -> None:
    answer = await run.client.post("/submit", content=b" " * (2 << 20))
    assert answer.status_code == 413


async def test_a_program_with_a_link_is_refused_and_costs_nothing(run: Run) -> None:
    (run.workspace.system / "stolen").symlink_to("/etc/passwd")
    answer = await run.submit([0])
    assert answer.status_code == 400
    assert "stolen" in answer.json()["error"]["message"]
    assert run.session.left == 32


async def test_a_name_that_is_not_text_can_be_complained_about(run: Run) -> None:
    (run.workspace.system / os.fsdecode(b"\xff.py")).symlink_to("/etc/passwd")
    assert (await run.submit([0])).status_code == 400


async def test_more_than_is_left_is_refused(tmp_path: Path) -> None:
    run = make_run(tmp_path, episode_budget=3)
    assert (await run.submit("0-1")).status_code == 200
    answer = await run.submit("0-1")
    assert (answer.status_code, answer.json()["status"]) == (400, "budget_invalid")
    assert (await run.submit("0")).status_code == 200


async def test_a_spent_run_is_closed(tmp_path: Path) -> None:
    run = make_run(tmp_path, episode_budget=2)
    await run.submit([0, 1])
    assert (await run.client.get("/info")).json()["state"]["is_finalized"] is True
    answer = await run.submit([0])
    assert (answer.status_code, answer.json()["status"]) == (409, "run_closed")


async def test_the_same_key_is_charged_once_even_if_the_program_changed_since(run: Run) -> None:
    first = await run.submit([0, 1], key="once")
    (run.workspace.system / "policy.py").write_text("GAIN = 3\n")
    again = await run.submit([0, 1], key="once")
    assert again.json() == first.json()
    header = await run.client.post("/submit", json={"env_instances": [0, 1]}, headers={"Idempotency-Key": "once"})
    assert header.json() == first.json()
    assert run.session.left == 30
    other = await run.submit([2], key="once")
    assert (other.status_code, other.json()["status"]) == (400, "invalid_request")


async def test_submissions_run_side_by_side(tmp_path: Path) -> None:
    terms = make_terms()
    run = make_run(tmp_path, FakeSession(terms, delay_s=0.05))
    answers = await asyncio.gather(*(run.submit([i]) for i in range(6)), run.client.get("/info"))
    assert run.session.most_concurrent == 6
    assert sorted(a.json()["submit_id"] for a in answers[:-1]) == list(range(6))
    episodes = sorted(p.name for p in run.workspace.feedback.glob("*/episodes/*"))
    assert len(run.session.trials) == len(episodes) == 6


async def test_finishing_closes_the_session(run: Run) -> None:
    await run.submit([0])
    answer = await run.client.post("/finish", json={"submit_ids": [0]})
    assert answer.json()["status"] == "finished"
    assert answer.json()["state"]["is_finalized"] is True
    assert run.session.closed == "finished"
    assert (await run.submit([0])).status_code == 409
    assert (await run.client.post("/finish")).status_code == 200


@pytest.mark.parametrize("ids", [[1], [-1], ["0"], [True], "x"])
async def test_finishing_with_an_unknown_submission_is_refused(run: Run, ids: object) -> None:
    await run.submit([0])
    assert (await run.client.post("/finish", json={"submit_ids": ids})).status_code == 400
    assert run.session.closed is None


async def test_a_restarted_server_continues_where_it_was(run: Run) -> None:
    await run.submit([0])
    again = SessionApp(run.session, Workspace(run.workspace.root, run.session.terms, BRIEFING))
    assert again.state()["n_submits"] == 1
    async with httpx.AsyncClient(transport=httpx.ASGITransport(again.asgi), base_url="http://run") as client:
        (run.workspace.system / "policy.py").write_text("GAIN = 2\n")
        body = (await client.post("/submit", json={"env_instances": [0]})).json()
    assert body["submit_id"] == 1
    assert run.session.trials[1].parents == (run.session.trials[0].candidate.digest,)


async def test_a_failure_of_the_host_reveals_nothing(tmp_path: Path) -> None:
    class BrokenSession(FakeSession):
        async def submit(self, trials, key):  # type: ignore[no-untyped-def]
            raise RecordError("the disk /srv/sealed is full")

    run = make_run(tmp_path, BrokenSession(make_terms()))
    answer = await run.submit([0])
    assert (answer.status_code, answer.json()["status"]) == (500, "host_error")
    assert "sealed" not in answer.text


@pytest.mark.parametrize(
    ("method", "path", "code"), [("GET", "/submit", 405), ("POST", "/info", 405), ("GET", "/x", 404)]
)
async def test_a_wrong_address_says_which_there_are(run: Run, method: str, path: str, code: int) -> None:
    answer = await run.client.request(method, path)
    assert answer.status_code == code
    assert "POST /submit" in answer.json()["error"]["message"]


async def test_health_answers(run: Run) -> None:
    assert (await run.client.get("/health")).json() == {"status": "ok"}
