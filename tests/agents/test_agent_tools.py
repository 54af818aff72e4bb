"""Tools that outside agents ask this process for: the web, documents and servers, from a sandbox without any network."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.agents.launchers.scripts import write_rules
from tests.team.test_mcp_servers import SERVER

from heredity._core.errors import ConfigError
from heredity.agents.launchers import available
from heredity.agents.launchers.registry import programs
from heredity.experiments.config import cells, resolve
from heredity.experiments.preflight import preflight
from heredity.experiments.suite import open_suite, run_suite
from heredity.library.localweb.server import serving
from heredity.library.localweb.town import make_town
from heredity.records import read_journal
from heredity.sandbox import guest_client

REASON = available()
pytestmark = pytest.mark.skipif(REASON is not None, reason=f"agents cannot be confined here: {REASON}")
pytest.importorskip("mcp", reason="the extra mcp is not installed")
pytest.importorskip("httpcore", reason="the extra web is not installed")

AGENT = """
import json, socket, subprocess, sys
from pathlib import Path

def ask(*given):
    done = subprocess.run(["heredity", *given], capture_output=True, text=True)
    return [done.returncode, done.stdout + done.stderr]

def reaches(port):
    try:
        socket.create_connection(("127.0.0.1", port), 2)
    except OSError:
        return False
    return True

page = json.dumps({"address": "http://%(town)s/bridges/mill-bridge.html"})
said = {
    "tools": ask("tools"),
    "page": ask("tool", "fetch", page),
    "other": ask("tool", "fetch", json.dumps({"address": "http://127.0.0.1:1/"})),
    "found": ask("tool", "search", json.dumps({"query": "Mill Bridge"})),
    "wrote": ask("tool", "own_do", json.dumps({"what": "write", "path": "/workspace/made"})),
    "wrong": ask("tool", "own_do", "{}"),
    "none": ask("tool", "fetsh", page),
    "direct": reaches(int("%(town)s".rpartition(":")[2])),
}
Path("said.json").write_text(json.dumps(said))
ask("submit", "--episodes", "0-1")
"""


@pytest.fixture(scope="module")
def town() -> Iterator[str]:
    with serving(make_town(0)) as address:
        yield address


def configured(folder: Path, town: str = "127.0.0.1:9", **evolver: Any) -> dict[str, Any]:
    for name, text in {
        "corpus/bridge.txt": "The Mill Bridge is old.",
        "own/server.py": SERVER,
        "program/agent.py": AGENT % {"town": town},
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    given = {"agent": f"python3 {folder}/program/agent.py", "read_only": [f"{folder}/program"], **evolver}
    return {
        "run": {"tasksets": ["gymnasium/CartPole-v1"]},
        "evolver": {"tools": ["fetch", "search", "own.do"], **given},
        "budget": {"episodes": 2},
        "views": {"validation": 1, "heldout": 1},
        "engine": {"workers": 1},
        "suite": {"baselines": False},
        "web": {"allow": [town]},
        "corpus": {"folder": "corpus"},
        "mcp": {"own": {"command": ["python3", "server.py"], "folder": "own", "seconds": 5.0}},
    }


def test_a_confined_agent_reaches_what_it_was_given_by_its_tools_alone_and_each_call_is_recorded(
    tmp_path: Path, town: str
) -> None:
    suite = tmp_path / "runs" / "suite"
    result = asyncio.run(run_suite(suite, open_suite(suite, resolve(configured(tmp_path, town), base=tmp_path))))
    assert not result.failures
    (run,) = (suite / "runs").iterdir()
    said = json.loads((run / "workspace" / "said.json").read_text())
    codes = {name: answer[0] for name, answer in said.items() if name != "direct"}
    assert codes == {"tools": 0, "page": 0, "other": 0, "found": 0, "wrote": 0, "wrong": 3, "none": 3}
    assert "fetch: " in said["tools"][1]
    assert "own_other" not in said["tools"][1]
    assert "1890" in said["page"][1]
    assert said["other"][1].startswith("error: ")
    assert "The Mill Bridge is old." in said["found"][1]
    assert said["wrote"][1] == "write\n"
    assert "what" in said["wrong"][1]
    assert "did you mean fetch?" in said["none"][1]
    assert said["direct"] is False
    assert not (tmp_path / "own" / "made").exists()
    events = read_journal(run / "journal.jsonl")
    (evolver,) = [event.data["evolver"] for event in events if event.kind == "run.started"]
    assert evolver["tools"] == ["fetch", "search", "own.do"]
    calls = [event.data for event in events if event.kind == "agent.tool"]
    assert [call["tool"] for call in calls] == ["fetch", "fetch", "search", "own_do"]
    assert json.loads(calls[3]["arguments"]) == {"what": "write", "path": "/workspace/made"}
    assert calls[3]["characters"] == len("write")
    assert "`heredity tools`" in (run / "workspace" / "AGENTS.md").read_text()


SHELLS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "claude-code": ("Bash", "command", {"description": "one step"}),
    "codex": ("exec_command", "cmd", {"yield_time_ms": 30_000}),
    "mini-swe-agent": ("bash", "command", {}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SHELLS)
def test_a_real_coding_agent_asks_them_from_its_shell(name: str, tmp_path: Path, town: str) -> None:
    if not programs()[name].installed:
        pytest.skip(f"{name} is not installed; heredity agents install {name}")
    tool, key, more = SHELLS[name]
    page = json.dumps({"address": f"http://{town}/bridges/mill-bridge.html"})
    commands = [
        "grep -c 'heredity tools' AGENTS.md; heredity tools > tools.txt",
        f"heredity tool fetch '{page}' > page.txt",
        """echo '{"what": "write", "path": "/workspace/made"}' | heredity tool own_do - > wrote.txt""",
        "heredity submit --episodes 0-1",
        "heredity finish",
        *(["echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; exit 0"] if name == "mini-swe-agent" else []),
    ]
    write_rules(tmp_path / "rules.toml", commands, lambda text: (tool, {key: text, **more}), tool)
    given = {"launcher": name, "model": f"scripted/{tmp_path}/rules.toml", "time_limit_s": 120}
    data = configured(tmp_path, town)
    data["evolver"] = {**given, "tools": ["fetch", "search", "own"]}
    suite = tmp_path / "runs" / "suite"
    result = asyncio.run(run_suite(suite, open_suite(suite, resolve(data, base=tmp_path))))
    (run,) = (suite / "runs").iterdir()
    log = (run / "logs" / "agent.log").read_text()
    assert {**result.failures, **result.evolver_failures} == {}, log
    work = run / "workspace"
    assert "own_do: " in (work / "tools.txt").read_text(), log
    assert "1890" in (work / "page.txt").read_text(), log
    assert (work / "wrote.txt").read_text() == "write\n", log
    events = read_journal(run / "journal.jsonl")
    assert [event.data["tool"] for event in events if event.kind == "agent.tool"] == ["fetch", "own_do"]


def test_what_a_candidate_scores_does_not_hang_on_the_tools_of_its_evolver(tmp_path: Path) -> None:
    config = resolve(configured(tmp_path), base=tmp_path)
    assert not [key for key in config.conditions() if key.partition(".")[0] in ("web", "corpus", "mcp", "evolver")]


def test_tools_are_for_agents_and_what_is_missing_is_listed(tmp_path: Path) -> None:
    data = configured(tmp_path)
    with pytest.raises(ConfigError, match=r"tools: the method 'parametric' uses no tools"):
        resolve({**data, "evolver": {"tools": ["fetch", "search", "own"]}}, base=tmp_path)
    with pytest.raises(ConfigError, match=r"evolver.tools: unknown tool 'fetc'"):
        resolve(configured(tmp_path, tools=["fetc"]), base=tmp_path)
    with pytest.raises(ConfigError, match=r"mcp.own is set, but no tool uses it"):
        resolve(configured(tmp_path, tools=["fetch", "search"]), base=tmp_path)
    data["mcp"]["own"]["folder"] = "gone"
    lacking = {c.name: c.detail for c in preflight(resolve(data, base=tmp_path), tmp_path / "runs" / "s") if not c.ok}
    assert "gone is not a folder" in lacking["server own"]


def test_baselines_and_a_matrix_stand_beside_an_agent_with_tools(tmp_path: Path) -> None:
    data = configured(tmp_path) | {
        "suite": {"baselines": True},
        "matrix": {"evolver.tools": [[], ["fetch", "search", "own"]]},
    }
    suite = cells(resolve(data | {"evolver": {**data["evolver"], "tools": []}}, base=tmp_path))
    assert {tuple(cell.evolver.tools) for cell in suite if cell.evolver.outside} == {(), ("fetch", "search", "own")}
    assert any(not cell.evolver.outside for cell in suite)


def test_arguments_may_come_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[str, str, bytes | None]] = []
    monkeypatch.setattr(guest_client, "_send", lambda *asked: sent.append(asked) or (200, b'{"result": "x"}'))
    monkeypatch.setattr("sys.stdin", io.StringIO('{"a": 1}'))
    assert guest_client.main(["tool", "a/b", "-"], "heredity") == 0
    assert sent == [("POST", "/tools/a%2Fb", b'{"a": 1}')]
