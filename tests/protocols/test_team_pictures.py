"""What comes with a question is seen by the agents that work on it, and by no other: pictures, documents, earlier tasks."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.models.endpoint import completion
from typer.testing import CliRunner

from heredity.cli.main import app
from heredity.engine.actor import Problem, Solving
from heredity.engine.conversation import Conversation
from heredity.engine.solver import build
from heredity.models import Request
from heredity.models.scripted import Scripted
from heredity.resources import Candidate, SourceTree
from heredity.team import Bus, Participant
from heredity.team.agent import SubAgent
from heredity.team.assembly import equipped, makeup
from heredity.team.design import read_team
from heredity.team.settings import TeamSettings

TEAM = """
[planner]
model = "here/m"

[agents.viewer]
description = "looks at pictures and reads documents"
model = "here/m"
pictures = true
tools = ["search"]

[agents.blind]
description = "sees nothing"
model = "here/m"
"""
SUITE = """
[run]
protocol = "team-questions"
tasksets = ["{taskset}"]

[evolver]
method = "static"

[team]
file = "team.toml"
concurrent = {concurrent}

[views]
heldout = {count}

[gateway]
execution = "here/m"
{judge}
[gateway.providers.here]
base_url = "{url}"
api_key_env = "LAB_KEY"
"""


def picture(number: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + f"picture {number}".encode()


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


def parts_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return content if isinstance(content, list) else [{"type": "text", "text": content or ""}]


def reply_to(body: dict[str, Any]) -> dict[str, Any]:
    """Plan one step for the viewer, whose answer lists the pictures it was sent and the documents it found."""
    asked = [part for message in body["messages"] for part in parts_of(message)]
    text = "\n".join(part.get("text", "") for part in asked)
    if "You judge answers" in text or "You examine" in text:
        verdict = {"extracted_final_answer": "x", "reasoning": "same", "correct": "yes", "confidence": 90}
        return completion(json.dumps({**verdict, "score": 1, "reason": "same"}))
    if "Agents:" in text:
        if "s1 (viewer), done" in text:
            gave = text.rpartition("  gave: ")[2].split("\n")[0]
            return completion(json.dumps({"finished": True, "result": f"Answer: {gave}"}))
        return completion(json.dumps({"steps": [{"id": "s1", "agent": "viewer", "task": "Look."}]}))
    results = [message["content"] for message in body["messages"] if message["role"] == "tool"]
    if not results:
        return completion(None, calls=[("c1", "search", '{"query": "secret", "most": 5}')], finish="tool_calls")
    shown = [part["image_url"]["url"].partition("base64,")[2] for part in asked if part["type"] == "image_url"]
    found = sorted(word for word in results[0].split() if word.startswith("secret-"))
    return completion(" ".join([*(digest(base64.b64decode(data)) for data in shown), *found]))


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("LAB_KEY", "k")

    class Provider(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = json.dumps(reply_to(body)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Provider) as provider:
        threading.Thread(target=provider.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{provider.server_port}/v1"
        provider.shutdown()


def answers(folder: Path, taskset: str, url: str, *, count: int, concurrent: int = 1) -> dict[str, dict[str, Any]]:
    (folder / "team.toml").write_text(TEAM)
    path = folder / "suite.toml"
    judge = 'judge = "here/m"\n' if "hle" in taskset else ""
    path.write_text(SUITE.format(taskset=taskset, count=count, concurrent=concurrent, url=url, judge=judge))
    ran = CliRunner().invoke(app, ["run", str(path), "--out", str(folder / "out")])
    assert ran.exit_code == 0, ran.output
    results = json.loads(next((folder / "out").glob("runs/*/metrics.json")).read_text())
    return {row["id"]: row for row in results["part"]["questions"]}


def gaia(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[dict[str, Any]] = []
    for number in range(4):
        (folder / f"{number}.png").write_bytes(picture(number))
        row = {"task_id": f"t{number}", "Question": f"What is shown in {number}?", "Level": 1}
        rows.append({**row, "Final answer": digest(picture(number)), "file_name": f"{number}.png"})
    for name, kind in (("d", "srt"), ("e", "xlsx"), ("f", "pdf")):
        _document(folder / f"{name}.{kind}", f"secret-{name}")
        row = {"task_id": name, "Question": f"What does {name} say?", "Level": 2}
        rows.append({**row, "Final answer": f"secret-{name}", "file_name": f"{name}.{kind}"})
    (folder / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setenv("HEREDITY_GAIA", str(folder))


def _document(path: Path, text: str) -> None:
    if path.suffix == ".xlsx":
        openpyxl = pytest.importorskip("openpyxl", reason="needs the extra documents")
        book = openpyxl.Workbook()
        book.active["A1"] = f"the secret is {text} here"
        book.save(path)
    elif path.suffix == ".pdf":
        stream = f"BT /F1 12 Tf 72 700 Td (the secret is {text} here) Tj ET".encode()
        objects = [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
            b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        ]
        data, offsets = b"%PDF-1.4\n", list[int]()
        for number, content in enumerate(objects, 1):
            offsets.append(len(data))
            data += b"%d 0 obj\n%s\nendobj\n" % (number, content)
        table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
        end = b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % len(data)
        path.write_bytes(data + b"xref\n0 6\n0000000000 65535 f \n" + table + end)
    else:
        path.write_text(f"1\n00:00:01,000 --> 00:00:02,000\nthe secret is {text} here\n")


@pytest.mark.parametrize("concurrent", [1, 4])
def test_questions_asked_side_by_side_come_with_their_own_pictures_and_documents(
    tmp_path: Path, url: str, concurrent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pydantic_ai", reason="needs the extra llm")
    gaia(tmp_path, monkeypatch)
    rows = answers(tmp_path, "questions/gaia?whole=true", url, count=7, concurrent=concurrent)
    assert sorted(rows) == ["d", "e", "f", "t0", "t1", "t2", "t3"]
    plans = {path.parent.name: path.read_text() for path in (tmp_path / "out").glob("runs/*/teams/*/plan.md")}
    assert [name for name, row in rows.items() if not row["correct"] or row["lacking"]] == [], plans


def test_the_pictures_in_questions_reach_the_agents_that_see(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pydantic_ai", reason="needs the extra llm")
    rows: list[dict[str, Any]] = []
    for number in range(4):
        data = base64.b64encode(picture(number)).decode()
        row = {"id": f"h{number}", "category": "Math", "question": f"What is {number}?", "answer_type": "exactMatch"}
        rows.append({**row, "answer": digest(picture(number)), "image": f"data:image/png;base64,{data}"})
    (tmp_path / "hle.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setenv("HEREDITY_HLE", str(tmp_path / "hle.jsonl"))
    rows_answered = answers(tmp_path, "questions/hle?whole=true", url, count=4, concurrent=4)
    assert {(row["correct"], row["confidence"]) for row in rows_answered.values()} == {(True, 0.9)}
    (metrics,) = (tmp_path / "out").glob("runs/*/metrics.json")
    assert json.loads(metrics.read_text())["part"]["levels"][-1]["calibration_error"] == pytest.approx(0.1)
    for number in range(4):
        (plan,) = (tmp_path / "out").glob(f"runs/*/teams/h{number}/plan.md")
        seen = {name for name in (digest(picture(n)) for n in range(4)) if name in plan.read_text()}
        assert seen == {digest(picture(number))}


def test_the_test_set_of_gaia_becomes_a_file_for_the_leaderboard(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pydantic_ai", reason="needs the extra llm")
    gaia(tmp_path, monkeypatch)
    metadata = tmp_path / "metadata.jsonl"
    asked = [json.loads(line) | {"Final answer": "?"} for line in metadata.read_text().splitlines()]
    metadata.write_text("".join(json.dumps(row) + "\n" for row in asked))
    rows = answers(tmp_path, "questions/gaia?whole=true", url, count=7, concurrent=4)
    assert {row["status"] for row in rows.values()} == {"unscored"}
    out = tmp_path / "submission.jsonl"
    (run,) = (tmp_path / "out").glob("runs/*")
    wrote = CliRunner().invoke(app, ["team", "submission", str(run), "--out", str(out), "--json"])
    assert json.loads(wrote.stdout) == {"file": str(out), "questions": 7, "without_answer": 0}, wrote.output
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [set(line) for line in lines] == [{"task_id", "model_answer", "reasoning_trace"}] * 7
    assert sorted(line["task_id"] for line in lines) == sorted(row["task_id"] for row in asked)
    said = {line["task_id"]: line["model_answer"] for line in lines}
    assert (said["t2"], said["d"]) == (digest(picture(2)), "secret-d")
    assert all("viewer" in line["reasoning_trace"] for line in lines)
    metadata.write_text("".join(json.dumps(row | {"task_id": f"x{row['task_id']}"}) + "\n" for row in asked))
    refused = CliRunner().invoke(app, ["team", "submission", str(tmp_path / "out"), "--out", str(out)])
    assert "7 of 7 questions have no record" in str(refused.exception)


def test_a_team_on_questions_for_a_judge_needs_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"id": "h", "category": "Math", "question": "What?", "answer": "x", "image": ""}
    (tmp_path / "hle.jsonl").write_text(json.dumps(row) + "\n")
    monkeypatch.setenv("HEREDITY_HLE", str(tmp_path / "hle.jsonl"))
    monkeypatch.setenv("LAB_KEY", "k")
    (tmp_path / "team.toml").write_text(TEAM)
    suite = SUITE.format(
        taskset="questions/hle?whole=true", count=1, concurrent=1, url="http://127.0.0.1:1/v1", judge=""
    )
    (tmp_path / "suite.toml").write_text(suite)
    ran = CliRunner().invoke(app, ["run", str(tmp_path / "suite.toml"), "--out", str(tmp_path / "out")])
    assert ran.exit_code != 0
    assert "set gateway.judge" in f"{ran.exception} {ran.output}"


async def test_an_earlier_task_is_tried_again_without_the_files_of_the_current_one(tmp_path: Path) -> None:
    (tmp_path / "model.toml").write_text('[[rule]]\nwhen = { any = "(?s)." }\nreply = "x"\n')
    model = f"scripted/{tmp_path}/model.toml"
    agent = {"description": "d", "model": model, "pictures": True, "tools": ["search"]}
    settings = TeamSettings.model_validate({"planner": {"model": model}, "agents": {"a": agent}})
    (tmp_path / "now.png").write_bytes(picture(1))
    async with equipped(settings) as shared:
        own = await shared.for_task({"now.png": tmp_path / "now.png"})
        made = makeup(settings)
        staff, team = own.staff(made), read_team(made.candidate, made.offered)
        assert staff.agent(team, "a").pictures == (("image/png", picture(1)),)
        assert set(own.corpus.documents) == {"now.png"}
        assert staff.earlier is not None
        earlier = staff.earlier(team, "a")
        assert earlier.pictures == ()
        async with Bus() as bus:
            bus.register(Participant("seeker", _seeking(earlier)))
            found = await bus.outside.request("seeker", {"task": "t"})
        assert found.value == "nothing fits these words"


def _seeking(agent: SubAgent) -> Any:
    async def seek(_: object, context: Any) -> str:
        (search,) = [tool.tool for tool in agent.tools(context) if tool.tool.spec.name == "search"]
        return await search.run({"query": "now png"})

    return seek


async def test_a_team_as_a_solver_sees_the_pictures_of_its_question() -> None:
    seen: list[tuple[bytes, ...]] = []

    def model(request: Request) -> str:
        if request.messages[0].content == "Lead.":
            done = "done" in request.messages[-1].content
            step = {"steps": [{"id": "s1", "agent": "viewer", "task": "Look."}]}
            return json.dumps({"finished": True, "result": "Answer: 1"} if done else step)
        seen.append(tuple(image.data for message in request.messages for image in message.images))
        return "1"

    design = {"agents": {"viewer": {"description": "looks"}}, "rounds": 3}
    candidate = Candidate(
        {
            "agent/team": SourceTree({"agent.json": json.dumps(design)}),
            "prompt/planner": SourceTree({"prompt.md": "Lead."}),
        }
    )
    problem = Problem("What is shown?", images=(("image/png", picture(1)),))
    await build(candidate).attempt(problem, Conversation(Scripted(model), Solving()), None)
    assert seen == [(picture(1),)]
