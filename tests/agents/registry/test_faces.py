"""One matrix: every operator, on every type, gives the same over Python, HTTP, MCP and the command line."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from heredity._core.errors import HeredityError, IsolationError
from heredity.agents.registry import Connections
from heredity.agents.registry.operators import ToolFailedError, encoded, perform
from heredity.agents.registry.serving import ResourceApp
from heredity.cli.main import app
from heredity.engine.programs import SandboxedPrograms
from heredity.engine.resource_runs import ResourceRuns
from heredity.resources import OPERATORS, TYPES, Registry, Store
from heredity.sandbox import isolation

POLICY = """
class Policy:
    def __init__(self, obs_space, action_space, env_meta): ...
    def reset(self, episode_index): ...
    def act(self, obs):
        return int(obs[2] > 0)
"""
FILES: dict[str, dict[str, str]] = {
    "prompt": {"prompt.md": "Answer {{question}} in one word."},
    "agent": {"policy.py": POLICY},
    "tool": {"tool.py": "def run(a, b=1):\n    return a + b\n"},
    "environment": {"environment.json": '{"id": "CartPole-v1"}'},
    "memory": {
        "notes.jsonl": '{"text": "check the units"}\n{"text": "mind the gap"}\n',
        "more.md": "one\n\ntwo units\n",
    },
    "model": {"model.json": '{"provider": "local", "name": "tiny"}'},
}
INPUTS: dict[str, dict[str, Any]] = {
    "prompt": {"question": "2 + 2"},
    "agent": {"environment": "a-environment", "seed": 3, "steps": 30},
    "tool": {"a": 2},
    "environment": {"agent": "a-agent@1.0.0", "seed": 3, "steps": 30},
    "memory": {"query": "units", "limit": 2},
    "model": {},
}
CONFINED = ("agent", "tool", "environment")
REFUSED = {"model": "calls of a model need a key and a budget"}
"""Types that `run` refuses everywhere, as docs/resources.md says."""

SKILL = "---\nname: care\ndescription: d\n---\n"
FIRST, LAST = ("save_to_json", "load_from_json", "save_contract"), "unregister"
"""Operators on the stores while they are equal, and the one that hides the resource."""

CHANGING = {"created", "digest", "parents", "target", "at", "seconds"}
Face = Callable[[str, Mapping[str, Any]], Awaitable[Any]]


def sandboxed() -> bool:
    try:
        isolation.resolve()
    except IsolationError:
        return False
    return True


def given_of(operator: str, type_: str, export: Any) -> list[dict[str, Any]]:
    """Return what the operator is given for a type, one or more calls."""
    about = {"type": type_, "name": f"a-{type_}"}
    fresh = {"type": type_, "name": "fresh", "files": FILES[type_], "manifest": {"description": "is new"}}
    folder = {f"{type_}/new/{path}": text for path, text in FILES[type_].items()}
    calls: dict[str, list[dict[str, Any]]] = {
        "init": [{"files": folder | {f"{type_}/new/resource.json": '{"description": "d"}'}}],
        "build": [fresh],
        "register": [fresh],
        "list": [{"type": type_}, {"type": type_, "hidden": True}],
        "retrieve": [{"type": type_, "query": f"what is a {type_}", "limit": 1}],
        "update": [{**about, "manifest": {"metadata": {"tried": True}}, "part": "minor", "note": "why"}],
        "copy": [{**about, "new_name": "another"}],
        "restore": [{**about, "version": "1.0.0", "branch": "old"}],
        "set_variables": [{**about, "variables": FILES[type_]}],
        "run": [{**about, "inputs": INPUTS[type_]}],
        "save_to_json": [{}],
        "load_from_json": [{"export": export}],
        "load_contract": [{"name": "care", "text": SKILL, "files": {"more/x.md": "x"}}],
        "diff": [{**about, "before": "1.0.0"}],
        "save_to_folder": [{"names": [f"{type_}/a-{type_}"]}],
    }
    return calls.get(operator, [about])


def cleaned(value: Any) -> Any:
    """Return a result without what differs from one store to the next."""
    if isinstance(value, dict):
        return {key: cleaned(inner) for key, inner in value.items() if key not in CHANGING}
    return [cleaned(inner) for inner in value] if isinstance(value, list) else value


async def outcome(face: Face, operator: str, given: Mapping[str, Any]) -> Any:
    try:
        return cleaned(await face(operator, given))
    except HeredityError as error:
        return f"refused: {error}"


def filled(path: Path) -> Path:
    with Store(path) as store:
        registry = Registry(store)
        for type_, files in FILES.items():
            registry.register(type_, f"a-{type_}", files, {"description": f"a {type_}", "parameters": {"k": 1}})
    return path


async def python(registry: Registry, runs: ResourceRuns, operator: str, given: Mapping[str, Any]) -> Any:
    async def work(task: Callable[[Registry], Any]) -> Any:
        return task(registry)

    special = {"init", "load_from_json", "load_contract", "save_to_json", "save_contract", "save_to_folder"}
    if operator == "run" or operator in special:
        return await perform(work, runs, operator, given)
    arguments = {"type_" if key == "type" else key: value for key, value in given.items()}
    return encoded(registry.operate(operator, **arguments))


async def over_http(client: httpx.AsyncClient, operator: str, given: Mapping[str, Any]) -> Any:
    answer = await client.post(f"/resources/{operator}", json=given)
    if answer.status_code != 200:
        raise HeredityError(answer.json()["message"])
    return answer.json()


async def over_mcp(client: Any, operator: str, given: Mapping[str, Any]) -> Any:
    result = await client.call_tool(f"resources_{operator}", dict(given))
    if result.is_error:
        raise HeredityError(result.content[0].text)
    return result.structured_content["result"]


async def on_the_command_line(store: Path, operator: str, given: Mapping[str, Any]) -> Any:
    words = ["resources", "call", operator, "--input", "-", "--store", str(store)]
    done = await asyncio.to_thread(CliRunner().invoke, app, words, input=json.dumps(given))
    if isinstance(done.exception, HeredityError):
        raise done.exception
    if done.exit_code:
        raise ToolFailedError(json.loads(done.stdout))
    return json.loads(done.stdout)


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.skipif(not sandboxed(), reason="programs cannot be confined on this machine")
async def test_every_operator_gives_the_same_on_every_face(type_: str, tmp_path: Path) -> None:
    mcp = pytest.importorskip("mcp")
    from heredity.agents.registry.mcp_server import mcp_server

    origin = filled(tmp_path / "origin.db")
    with Store(origin) as store:
        Registry(store).save_to_json(tmp_path / "all.json")
    export = json.loads((tmp_path / "all.json").read_text())
    paths = {name: Path(shutil.copy(origin, tmp_path / f"{name}.db")) for name in ("python", "http", "mcp", "cli")}
    async with SandboxedPrograms(1) as programs:
        runs = ResourceRuns(programs)
        with Connections(paths["http"], threads=1) as http, Connections(paths["mcp"], threads=1) as other:
            transport = httpx.ASGITransport(app=ResourceApp(http, runs).asgi)
            with Store(paths["python"]) as store:
                registry = Registry(store)
                async with (
                    httpx.AsyncClient(base_url="http://127.0.0.1", transport=transport, timeout=60) as client,
                    mcp.Client(mcp_server(other, runs, operators=True)) as session,
                ):
                    faces: dict[str, Face] = {
                        "python": lambda operator, given: python(registry, runs, operator, given),
                        "http": lambda operator, given: over_http(client, operator, given),
                        "mcp": lambda operator, given: over_mcp(session, operator, given),
                        "cli": lambda operator, given: on_the_command_line(paths["cli"], operator, given),
                    }
                    for operator in (*FIRST, *(o for o in OPERATORS if o not in (*FIRST, LAST)), LAST):
                        for given in given_of(operator, type_, export):
                            results = {name: await outcome(face, operator, given) for name, face in faces.items()}
                            assert len({json.dumps(r, sort_keys=True) for r in results.values()}) == 1, (
                                operator,
                                results,
                            )
                            refusal = REFUSED.get(type_) if operator == "run" else None
                            said = str(results["python"])
                            assert said.startswith("refused") == (refusal is not None), (operator, said)
                            assert refusal is None or refusal in said


@pytest.mark.skipif(not sandboxed(), reason="programs cannot be confined on this machine")
async def test_episodes_are_repeatable_and_their_faults_are_told(tmp_path: Path) -> None:
    async with SandboxedPrograms(1) as programs:
        runs = ResourceRuns(programs)
        with Connections(filled(tmp_path / "s.db"), threads=1) as connections:

            async def run(**inputs: Any) -> Any:
                return await runs.run(connections.work, "environment", "a-environment", inputs)

            first, again = await run(agent="a-agent", seed=1), await run(agent="a-agent", seed=1)
            assert first.value == again.value
            assert (first.value["agent"], first.value["return"]) == ("agent/a-agent@1.0.0", first.value["length"])
            assert (await run(seed=1)).value["agent"] is None
            broken = {"policy.py": POLICY.replace("int(obs[2] > 0)", "1 / 0")}
            await connections.work(lambda registry: registry.update("agent", "a-agent", broken))
            failed = await run(agent="a-agent")
            assert ("ZeroDivisionError" in failed.message, failed.value) == (True, None)
            assert failed.traceback


@pytest.mark.parametrize(
    "about",
    [
        '{"id": "os:system"}',
        '{"id": "./mine.py:Env"}',
        '{"taskset": "gymnasium//tmp/mine.py"}',
        '{"id": "../x"}',
        "{}",
        '{"id": 1}',
    ],
)
async def test_an_environment_names_no_file_or_module_of_the_host(about: str, tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store:
        registry = Registry(store)
        registry.register("environment", "e", {"environment.json": about})

        async def work(task: Callable[[Registry], Any]) -> Any:
            return task(registry)

        with pytest.raises(HeredityError, match="names a registered environment"):
            await ResourceRuns(Unused()).run(work, "environment", "e")


class Unused:
    async def call(self, *_: object, **__: object) -> Any:
        raise AssertionError
