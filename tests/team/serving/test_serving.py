"""The doors of a team: who may come in, and the real clients of OpenAI, Anthropic, MCP and A2A in conversation with it."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anthropic
import httpx
import openai
import pytest

from heredity._core.errors import ConfigError
from heredity.pages.live.pages.team import page_routes
from heredity.team.assembly import work
from heredity.team.serving.office import Office
from heredity.team.serving.serving import MAX_BODY, Door, serve_team
from heredity.team.settings import TeamSettings, load_team

from .conftest import ANSWER, write_team

TOKEN = "a-token-of-the-test"


@pytest.fixture
async def door(office: Office) -> AsyncIterator[Door]:
    async with serve_team(office, token=TOKEN, mcp=False, a2a=False, more=page_routes) as opened:
        yield opened


@pytest.fixture
async def client(door: Door) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=door.url, headers={"authorization": f"Bearer {TOKEN}"}) as opened:
        yield opened


PATHS = [
    "/team",
    "/tasks",
    "/tasks/x",
    "/tasks/x/events",
    "/tasks/x/chart.svg",
    "/v1/models",
    "/v1/nothing",
    "/nothing",
]


@pytest.mark.parametrize("header", ["", "Bearer wrong", "Basic a-token-of-the-test", "Bearer a-token-of-the-tes"])
async def test_without_the_token_nothing_is_told(door: Door, header: str) -> None:
    async with httpx.AsyncClient(base_url=door.url, headers={"authorization": header} if header else {}) as client:
        for path in PATHS:
            answer = await client.get(path)
            assert answer.status_code in (401, 404), path
            assert "reader" not in answer.text
        assert (await client.post("/tasks", json={"task": "x"})).status_code == 401
        assert (await client.post("/", json={"task": "x"})).status_code == 401
        chat = {"model": "team", "messages": [{"role": "user", "content": "x"}]}
        assert (await client.post("/v1/chat/completions", json=chat)).status_code == 401
        page = await client.get("/")
        assert page.status_code == 200
        assert TOKEN not in page.text
        assert "script-src 'self'" in page.headers["content-security-policy"]


async def test_other_hosts_and_origins_are_refused(client: httpx.AsyncClient, door: Door) -> None:
    port = door.url.rpartition(":")[2]
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1:1", f"127.0.0.1.evil.example:{port}"):
        assert (await client.get("/tasks", headers={"host": host})).status_code == 421, host
    for origin in (
        "http://evil.example",
        "null",
        "http://127.0.0.1:1",
        f"https://127.0.0.1:{port}",
        f"http://127.0.0.1:{port}.evil",
    ):
        assert (await client.get("/tasks", headers={"origin": origin})).status_code == 403, origin
    assert (await client.get("/tasks", headers={"origin": door.url})).status_code == 200
    assert (await client.get("/tasks", headers={"host": f"localhost:{port}"})).status_code == 200


async def test_paths_and_bodies_that_are_meant_badly(client: httpx.AsyncClient, door: Door, tmp_path: Path) -> None:
    (tmp_path / "tasks" / "plan.md").write_text("# secret")
    for path in (
        "/tasks/../plan.md",
        "/tasks/%2e%2e/plan.md",
        "/tasks/..%2f..%2fteam.toml",
        "/tasks/x%2f..%2fplan.md",
        "/page.css/../../team.toml",
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", int(door.url.rpartition(":")[2]))
        head = (
            f"GET {path} HTTP/1.1\r\nhost: {door.url[7:]}\r\nauthorization: Bearer {TOKEN}\r\nconnection: close\r\n\r\n"
        )
        writer.write(head.encode())
        answer = await reader.read()
        writer.close()
        assert answer.startswith(b"HTTP/1.1 404"), path
        assert b"secret" not in answer
    for body, status in (
        (b'{"task": "' + b"x" * MAX_BODY + b'"}', 413),
        (b"[1]", 400),
        (b"{", 400),
        (b'{"task": 1}', 400),
        (b'{"task": "x", "files": ["/etc/passwd"]}', 400),
        (b'{"task": "x", "files": {"../a.md": "eA=="}}', 400),
        (b'{"task": "x", "files": {"/etc/passwd": "eA=="}}', 400),
        (b'{"task": "x", "files": {"a.exe": "eA=="}}', 400),
        (b'{"task": "x", "files": {"a.md": "no base64"}}', 400),
        (b'{"tsak": "x"}', 400),
        (b'{"task": ""}', 400),
        (b'{"task": "x", "agent": "nobody"}', 404),
    ):
        answer = await client.post("/tasks", content=body)
        assert answer.status_code == status, body[:40]
        assert set(answer.json()) == {"error", "kind", "message"}
    assert (await client.get("/tasks")).json() == {"tasks": []}
    assert (await client.get("/tasks/none")).status_code == 404


async def test_a_task_is_started_followed_and_drawn(client: httpx.AsyncClient, office: Office) -> None:
    task = (await client.post("/tasks", json={"task": "the <i>whole</i>", "files": {"a.md": "eA=="}})).json()
    assert task["files"] == ["a.md"]
    assert (office.get(task["id"]).folder / "files" / "a.md").read_bytes() == b"x"
    async with client.stream("GET", f"/tasks/{task['id']}/events") as events:
        states = [json.loads(line[6:]) async for line in events.aiter_lines() if line.startswith("data: ")]
    assert states[-1]["state"] == "done"
    assert states[-1]["answer"] == ANSWER
    numbers = [said["number"] for state in states for said in state["messages"]]
    assert numbers == sorted(set(numbers)), "each message is told once"
    chart = (await client.get(f"/tasks/{task['id']}/chart.svg")).text
    assert chart.count('class="step done"') == 3
    assert chart.count('class="arrow"') == 2
    times = (await client.get(f"/tasks/{task['id']}/timeline.svg")).text
    assert times.count('class="bar done"') == 3
    assert "<b>" not in chart + times
    assert "classDef done" in (await client.get(f"/tasks/{task['id']}/plan.md")).text


async def test_a_plan_is_approved_over_http(client: httpx.AsyncClient, office: Office) -> None:
    task = (await client.post("/tasks", json={"task": "the whole", "approve": True})).json()
    path = f"/tasks/{task['id']}"
    async for _ in office.get(task["id"]).changes():
        if office.get(task["id"]).state == "waiting":
            break
    text = (await client.get(path)).json()["plan"]["text"]
    wrong = await client.post(f"{path}/plan", json={"plan": text.replace("after s1, s2", "after s9")})
    assert wrong.status_code == 400
    assert "s9" in wrong.json()["message"]
    assert (await client.post(f"{path}/plan", json={"plan": text.replace("Read two", "Read three")})).status_code == 200
    async with client.stream("GET", f"{path}/events") as events:
        await events.aread()
    assert (await client.get(path)).json()["answer"] == ANSWER.replace("two", "three")
    assert (await client.post(f"{path}/plan", json={})).status_code == 409


async def test_openais_client_converses_with_the_team(door: Door, office: Office) -> None:
    async with openai.AsyncOpenAI(base_url=f"{door.url}/v1", api_key=TOKEN, max_retries=0) as client:
        names = [model.id async for model in client.models.list()]
        assert names == ["team", "team/reader", "team/writer"]
        said: list[Any] = [{"role": "user", "content": "the whole"}]
        first = await client.chat.completions.create(model="team", messages=said)
        assert first.choices[0].message.content == ANSWER
        assert first.usage is not None
        said += [{"role": "assistant", "content": ANSWER}, {"role": "user", "content": "Read three"}]
        stream = await client.chat.completions.create(model="team/reader", messages=said, stream=True)
        pieces = [chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices]
        assert "".join(pieces) == "read three"
        assert "Answered before:\n" + ANSWER in list(office.runs.values())[-1].asked.task
        with pytest.raises(openai.NotFoundError):
            await client.chat.completions.create(model="tema", messages=said)
        tool: Any = {"type": "function", "function": {"name": "x", "parameters": {}}}
        with pytest.raises(openai.BadRequestError, match="own tools"):
            await client.chat.completions.create(model="team", messages=said, tools=[tool])
    async with openai.AsyncOpenAI(base_url=f"{door.url}/v1", api_key="wrong", max_retries=0) as client:
        with pytest.raises(openai.AuthenticationError):
            await client.chat.completions.create(model="team", messages=said)


async def test_anthropics_client_converses_with_the_team(door: Door) -> None:
    async with anthropic.AsyncAnthropic(base_url=door.url, api_key=TOKEN, max_retries=0) as client:
        said: list[Any] = [{"role": "user", "content": "the whole"}]
        first = await client.messages.create(model="team", messages=said, max_tokens=1000)
        assert first.content[0].type == "text"
        assert first.content[0].text == ANSWER
        said += [{"role": "assistant", "content": ANSWER}, {"role": "user", "content": "Read three"}]
        async with client.messages.stream(model="team/reader", messages=said, max_tokens=1000) as stream:
            assert await stream.get_final_text() == "read three"


async def test_who_hangs_up_cancels_the_task(door: Door, office: Office) -> None:
    async with httpx.AsyncClient(base_url=door.url, headers={"x-api-key": TOKEN}, timeout=0.5) as client:
        chat = {"model": "team/reader", "messages": [{"role": "user", "content": "slowly"}]}
        with pytest.raises(httpx.ReadTimeout):
            await client.post("/v1/chat/completions", json=chat)
    (run,) = office.runs.values()
    async with asyncio.timeout(10):
        assert (await run.ended()).outcome == "cancelled"


async def test_a_token_that_is_too_short_is_refused(office: Office) -> None:
    with pytest.raises(ConfigError, match="token"):
        async with serve_team(office, token="short", mcp=False, a2a=False):
            pass


async def test_mcps_client_uses_the_team_over_http(office: Office) -> None:
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    told: list[tuple[float, float | None, str | None]] = []

    async def progress(number: float, total: float | None, message: str | None) -> None:
        told.append((number, total, message))

    async with serve_team(office, token=TOKEN, a2a=False) as door:
        headers = {"authorization": f"Bearer {TOKEN}"}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(f"{door.url}/mcp", http_client=http)) as client,
        ):
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert tools == {"team", "ask_reader", "ask_writer"}
            result = await client.call_tool("team", {"task": "the whole"}, progress_callback=progress)
            assert [block.text for block in result.content if block.type == "text"] == [ANSWER]
            assert told
            assert told[-1][:2] == (3, 3)
            alone = await client.call_tool("ask_reader", {"task": "Read three"})
            assert alone.content[0].type == "text"
            assert alone.content[0].text == "read three"
            for wrong in ({}, {"task": 3}, {"task": "x", "more": 1}, {"task": " "}):
                assert (await client.call_tool("team", wrong)).is_error
        async with httpx2.AsyncClient() as http:
            assert (await http.post(f"{door.url}/mcp", json={})).status_code == 401


@pytest.mark.slow
async def test_mcps_client_uses_the_team_over_its_standard_input(tmp_path: Path) -> None:
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    from mcp import Client, StdioServerParameters

    team = write_team(tmp_path)
    arguments = [
        "-m",
        "heredity",
        "team",
        "serve",
        "--team",
        str(team),
        "--folder",
        str(tmp_path / "tasks"),
        "--mcp",
        "stdio",
    ]
    async with Client(StdioServerParameters(command=sys.executable, args=arguments)) as client:
        result = await client.call_tool("team", {"task": "the whole"})
        assert result.content[0].type == "text"
        assert result.content[0].text == ANSWER


FOREIGN = """
[planner]
model = "scripted/{0}/planner.toml"

[agents.reader]
a2a = "{1}"
token = "FOREIGN_TOKEN"

[agents.writer]
description = "writes"
model = "scripted/{0}/writer.toml"
"""


async def test_a2as_client_gives_the_team_a_task_and_cancels_one(
    office: Office, settings: TeamSettings, tmp_path: Path
) -> None:
    pytest.importorskip("a2a", reason="the extra a2a is not installed")
    from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
    from a2a.helpers.proto_helpers import get_stream_response_text, new_text_message
    from a2a.types.a2a_pb2 import CancelTaskRequest, GetTaskRequest, Role, SendMessageRequest, TaskState

    async with serve_team(office, token=TOKEN, mcp=False) as door:
        async with httpx.AsyncClient(headers={"authorization": f"Bearer {TOKEN}"}) as http:
            card = await A2ACardResolver(http, door.url).get_agent_card()
            assert card.capabilities.streaming
            client = ClientFactory(ClientConfig(httpx_client=http)).create(card)
            request = SendMessageRequest(message=new_text_message("the whole", role=Role.ROLE_USER))
            events = [event async for event in client.send_message(request)]
            kinds = [event.WhichOneof("payload") for event in events]
            assert kinds[0] == "task"
            assert "artifact_update" in kinds
            assert events[-1].status_update.status.state == TaskState.TASK_STATE_COMPLETED
            assert ANSWER in [get_stream_response_text(event) for event in events]
            task_id = events[0].task.id

            assert await A2ACardResolver(http, f"{door.url}/a2a").get_agent_card() == card
            assert (await http.get(f"{door.url}/a2a")).json()["name"] == card.name
            reader = await A2ACardResolver(http, f"{door.url}/a2a/reader").get_agent_card()
            alone = ClientFactory(ClientConfig(httpx_client=http, streaming=False, polling=True)).create(reader)
            slow = SendMessageRequest(message=new_text_message("slowly", role=Role.ROLE_USER))
            (started,) = [event async for event in alone.send_message(slow)]
            cancelled = await alone.cancel_task(CancelTaskRequest(id=started.task.id))
            assert cancelled.status.state == TaskState.TASK_STATE_CANCELED
            assert office.get(started.task.id).state == "cancelled"
        async with httpx.AsyncClient() as http:
            assert (await http.get(f"{door.url}/.well-known/agent-card.json")).status_code == 401
            assert (await http.post(f"{door.url}/a2a", json={})).status_code == 401
    # Another process, as it were: the task is found again.
    await office.__aexit__(None, None, None)
    async with (
        Office(settings, tmp_path / "tasks") as again,
        serve_team(again, token=TOKEN, mcp=False) as door,
        httpx.AsyncClient(headers={"authorization": f"Bearer {TOKEN}"}) as http,
    ):
        card = await A2ACardResolver(http, door.url).get_agent_card()
        client = ClientFactory(ClientConfig(httpx_client=http)).create(card)
        task = await client.get_task(GetTaskRequest(id=task_id))
        assert task.artifacts[0].parts[0].text == ANSWER


async def test_an_agent_of_elsewhere_is_a_member_of_the_team(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("a2a", reason="the extra a2a is not installed")
    monkeypatch.setenv("FOREIGN_TOKEN", TOKEN)
    async with serve_team(office, token=TOKEN, mcp=False) as door:
        (tmp_path / "foreign.toml").write_text(FOREIGN.format(tmp_path, f"{door.url}/a2a/reader"))
        result = await work(load_team(tmp_path / "foreign.toml"), tmp_path / "run", "the whole")
        assert result.answer == ANSWER
        assert len(office.runs) == 2, "each of its two steps is one task there"
        again = await work(load_team(tmp_path / "foreign.toml"), tmp_path / "run", "the whole")
        assert again.answer == ANSWER
        assert len(office.runs) == 2
