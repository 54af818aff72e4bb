from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.agents.registry.fakes import OpenPrograms, filled

from heredity._core.errors import ConfigError, DamagedRecordError
from heredity.agents.registry import Connections, serve_resources
from heredity.agents.registry.operators import schema_of
from heredity.agents.registry.serving import ResourceApp
from heredity.engine.resource_runs import ResourceRuns
from heredity.resources import OPERATORS, Registry, Store


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return filled(tmp_path / "s.db")


@pytest.fixture
async def client(store: Path) -> AsyncGenerator[httpx.AsyncClient]:
    """Speak to the application itself; serving it takes longer than most tests do."""
    with Connections(store) as connections:
        transport = httpx.ASGITransport(app=ResourceApp(connections, ResourceRuns(OpenPrograms())).asgi)
        async with httpx.AsyncClient(base_url="http://127.0.0.1", transport=transport) as client:
            yield client


async def do(client: httpx.AsyncClient, operator: str, **given: Any) -> Any:
    answer = await client.post(f"/resources/{operator}", json=given)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def refused(client: httpx.AsyncClient, operator: str, **given: Any) -> tuple[int, dict[str, Any]]:
    answer = await client.post(f"/resources/{operator}", json=given)
    assert set(answer.json()) >= {"error", "kind", "message"}
    return answer.status_code, answer.json()


async def test_every_operator_is_described_with_what_it_takes(client: httpx.AsyncClient) -> None:
    described = (await client.get("/resources")).json()
    assert set(described["paths"]) == {f"/resources/{operator}" for operator in OPERATORS}
    update = described["paths"]["/resources/update"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert update["required"] == ["type", "name"]
    assert update["properties"]["part"]["enum"] == ["major", "minor", "patch"]
    assert [p for p, entry in described["paths"].items() if "get" in entry][:2] == [
        "/resources/get",
        "/resources/get_info",
    ]


async def test_a_resource_lives_through_all_operators(client: httpx.AsyncClient) -> None:
    about = {"type": "prompt", "name": "p"}
    built = await do(client, "build", **about, files="Say {{what}}")
    assert (built["value"], built["files"]) == ("Say {{what}}", {"prompt.md": "Say {{what}}"})
    first = await do(client, "register", **about, files={"prompt.md": "Say {{what}}"}, manifest={"description": "says"})
    second = await do(client, "update", **about, files="Shout {{what}}", note="louder")
    assert second["parents"] == [first["digest"]]
    assert (await do(client, "set_variables", **about, variables={"prompt.md": "Sing {{what}}"}))["number"] == "1.0.2"
    assert (await do(client, "get_variables", **about)) == {"prompt.md": "Sing {{what}}"}
    assert (await do(client, "restore", **about, version="1.0.0"))["digest"] == first["digest"]
    assert (await do(client, "run", **about, inputs={"what": "ah"})) == "Say ah"
    assert (await do(client, "copy", **about, new_name="q"))["parents"] == [first["digest"]]
    assert (await do(client, "unregister", **about))["number"] == "1.0.0"
    assert (await do(client, "list", type="prompt")) == ["prompt/q", "prompt/solver"]
    assert (await do(client, "list", type="prompt", hidden=True)) == ["prompt/p", "prompt/q", "prompt/solver"]
    assert (await do(client, "get_state", **about))["hidden"] is True
    matches = await do(client, "retrieve", query="how to take care", limit=1)
    assert matches[0]["version"]["name"] == "care"
    assert matches[0]["score"] > 0


async def test_files_travel_as_text_or_base64(client: httpx.AsyncClient) -> None:
    raw = {"base64": base64.b64encode(b"\xff\x00").decode()}
    files = {"notes.md": "é", "more.md": {"text": "t"}, "raw.bin": raw}
    await do(client, "register", type="memory", name="m", files=files)
    assert (await do(client, "get", type="memory", name="m"))["files"] == {**files, "more.md": "t"}


async def test_what_would_be_files_of_the_server_is_content(client: httpx.AsyncClient, tmp_path: Path) -> None:
    exported = await do(client, "save_to_json")
    assert exported["versions"] == 10
    async with (
        serve_resources(tmp_path / "new.db", ResourceRuns(OpenPrograms()), mcp=False) as url,
        httpx.AsyncClient(base_url=url) as other,
    ):
        assert (await do(other, "load_from_json", export=exported["export"])) == 10
        assert (await do(other, "list")) == (await do(client, "list"))
        code, problem = await refused(other, "load_from_json", export={"format": "heredity-resources-1"})
        assert (code, problem["kind"]) == (400, "ConfigError")
    contract = await do(client, "save_contract", type="tool", name="add")
    assert contract["text"].startswith("---\nname: add\n")
    assert (await do(client, "load_contract", **contract))["number"] == "1.0.0"
    made = await do(client, "init", files={"prompt/new/prompt.md": "hello", "memory/kept/a.md": "b"})
    assert sorted(v["name"] for v in made) == ["kept", "new"]
    assert (await refused(client, "save_to_json", path=str(tmp_path / "x.json")))[0] == 400


async def test_a_tool_runs_in_the_sandbox(client: httpx.AsyncClient) -> None:
    result = await do(client, "run", type="tool", name="add", inputs={"a": 1, "b": 2})
    assert result["value"] == {"sum": 3}
    assert "Look twice." in (await do(client, "run", type="tool", name="care"))["value"]
    code, problem = await refused(client, "run", type="tool", name="raise")
    assert (code, problem["kind"], problem["message"]) == (422, "tool_error", "ValueError: not today")
    assert (problem["traceback"], problem["stdout"]) == ("tool.py, line 2", "hm")
    assert "has no b" in (await refused(client, "run", type="tool", name="add", inputs={"a": 1}))[1]["message"]


async def test_reading_needs_no_body(client: httpx.AsyncClient) -> None:
    assert (await client.get("/resources/list", params={"type": "prompt"})).json() == ["prompt/solver"]
    answer = await client.get("/resources/get_info", params={"type": "tool", "name": "add", "version": "1.0.0"})
    assert answer.json()["function"]["name"] == "add"
    assert (await client.get("/resources/get", params={"type": "memory", "name": "notes"})).json()["files"]["a b/é.md"]
    assert len((await client.get("/resources/list", params={"hidden": "true"})).json()) == 10
    assert len((await client.get("/resources/retrieve", params={"query": "does", "limit": "2"})).json()) == 2
    answer = await client.get("/resources/unregister", params={"type": "tool", "name": "add"})
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    ("operator", "given", "code", "message"),
    [
        ("registr", {}, 404, "did you mean register"),
        ("get", {"type": "prompts", "name": "p"}, 400, "must be one of 'prompt'"),
        ("get", {"type": "prompt", "name": "solvr"}, 404, "did you mean solver"),
        ("get", {"type": "prompt", "name": "solver", "version": "2.0.0"}, 404, "unknown version"),
        ("get", {"type": "prompt", "name": "solver", "version": "new"}, 400, "three numbers"),
        ("get", {"type": "prompt", "name": "../etc"}, 400, "no name of a resource"),
        ("get", {"type": "prompt"}, 400, "has no name"),
        ("list", {"hiden": True}, 400, "does not take hiden"),
        ("retrieve", {"query": "x", "limit": "many"}, 400, "limit of retrieve must be integer"),
        ("retrieve", {"query": "x", "by": "embeddings"}, 400, "HEREDITY_EMBEDDINGS"),
        ("register", {"type": "prompt", "name": "solver", "files": "x"}, 400, "registered already"),
        ("register", {"type": "prompt", "name": "p", "files": {"../x": "y"}}, 400, "plain relative path"),
        ("register", {"type": "memory", "name": "p", "files": {"x": {"base64": "?"}}}, 400, "not base64"),
        ("register", {"type": "memory", "name": "p", "files": {"x": 5}}, 400, "x of files of register must be string"),
        ("register", {"type": "memory", "name": "p", "files": {"x": {"bytes": []}}}, 400, "must be a text"),
        (
            "register",
            {"type": "prompt", "name": "p", "files": "x", "manifest": {"pins": {"prompt/p": "1.0.0"}}},
            400,
            "cyc",
        ),
        ("register", {"type": "prompt", "name": "p", "files": "x", "manifest": {"pins": 3}}, 400, "pins must be"),
        ("update", {"type": "tool", "name": "add", "files": {"tool.py": "def ("}}, 400, "is not Python"),
        ("run", {"type": "tool", "name": "add", "inputs": "a"}, 400, "inputs of run must be object"),
        ("run", {"type": "tool", "nme": "add"}, 400, "run has no name"),
        ("run", {"type": "memory", "name": "notes", "inputs": {"word": "x"}}, 400, "takes a query"),
        ("set_variables", {"type": "prompt", "name": "solver", "variables": {"x": 1}}, 404, "unknown variable"),
    ],
)
async def test_mistakes_have_a_status_and_a_remedy(
    client: httpx.AsyncClient,
    monkeypatch: pytest.MonkeyPatch,
    operator: str,
    given: dict[str, Any],
    code: int,
    message: str,
) -> None:
    monkeypatch.delenv("HEREDITY_EMBEDDINGS", raising=False)
    status, problem = await refused(client, operator, **given)
    assert (status, message in problem["message"]) == (code, True), problem


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"type": NaN}', b'{"type": "\\ud800"}', b"\xff", b"[" * 100_000])
async def test_a_body_that_is_no_object_is_refused(client: httpx.AsyncClient, body: bytes) -> None:
    answer = await client.post("/resources/list", content=body)
    assert (answer.status_code, answer.json()["kind"]) == (400, "ConfigError")


async def test_the_token_is_asked_for_everywhere(store: Path) -> None:
    async with (
        serve_resources(store, ResourceRuns(OpenPrograms()), token="secret") as url,
        httpx.AsyncClient(base_url=url) as client,
    ):
        for path in ("/resources", "/resources/list", "/mcp", "/other"):
            for headers in ({}, {"authorization": "Bearer secre"}, {"authorization": "secret"}):
                assert (await client.get(path, headers=headers)).status_code == 401
        answer = await client.get("/resources/list", headers={"authorization": "Bearer secret"})
        assert "tool/add" in answer.json()


async def test_web_pages_of_others_are_kept_out(client: httpx.AsyncClient) -> None:
    for headers in (
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1.evil.example"},
    ):
        assert (await client.post("/resources/list", headers=headers)).status_code == 403
    assert (await client.post("/resources/list", headers={"host": "evil.example"})).status_code == 400
    assert (await client.post("/resources/list", headers={"origin": "http://localhost:3000"})).status_code == 200


async def test_many_write_at_once_and_nothing_is_lost(client: httpx.AsyncClient, store: Path) -> None:
    answers = await asyncio.gather(
        *(do(client, "update", type="prompt", name="solver", files=f"{i}") for i in range(30))
    )
    assert len({answer["number"] for answer in answers}) == 30
    with Store(store) as opened:
        assert len(opened.list("prompt", "solver")) == 31
        assert opened.check() == []


async def test_what_another_process_changes_is_seen_at_once(client: httpx.AsyncClient, store: Path) -> None:
    with Store(store) as opened:
        Registry(opened).update("prompt", "solver", "Changed")
    assert (await do(client, "get", type="prompt", name="solver"))["value"] == "Changed"


def flip(store: Path, where: bytes) -> None:
    data = bytearray(store.read_bytes())
    data[data.index(where)] ^= 1
    store.write_bytes(data)


async def test_a_damaged_version_is_an_error_of_the_server_and_of_no_other_version(store: Path) -> None:
    flip(store, b"Solve {{question}}")
    async with serve_resources(store, ResourceRuns(OpenPrograms())) as url, httpx.AsyncClient(base_url=url) as client:
        code, problem = await refused(client, "get", type="prompt", name="solver")
        assert (code, problem["kind"]) == (500, "DamagedRecordError")
        assert (await do(client, "get", type="tool", name="add"))["files"]


async def test_what_is_no_store_is_not_served(tmp_path: Path) -> None:
    (tmp_path / "s.db").write_text("no database " * 100)
    with pytest.raises(DamagedRecordError):
        async with serve_resources(tmp_path / "s.db", ResourceRuns(OpenPrograms())):
            raise AssertionError


def test_every_parameter_of_an_operator_is_described() -> None:
    for operator in OPERATORS:
        schema = schema_of(operator)
        assert set(schema["required"]) <= set(schema["properties"])
        assert not {"path", "folder", "model"} & set(schema["properties"])
    with pytest.raises(ConfigError, match="did you mean"):
        schema_of("gett")


async def test_each_thread_has_its_own_connection(store: Path) -> None:
    with Connections(store, threads=3) as connections:
        seen = await asyncio.gather(*(connections.work(lambda registry: id(registry.store)) for _ in range(50)))
        assert 1 <= len(set(seen)) <= 3
