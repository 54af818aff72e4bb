from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from heredity._core.errors import ConfigError, IsolationError, MissingExtraError, UnknownNameError
from heredity.agents.registry import serving
from heredity.cli.main import app
from heredity.resources import Registry, Store
from heredity.sandbox import isolation

CODE = "def run(text, times=1):\n    print('working')\n    return {'said': text * times}\n"


def confined() -> bool:
    try:
        isolation.resolve()
    except IsolationError:
        return False
    return True


needs_a_sandbox = pytest.mark.skipif(not confined(), reason="programs cannot be confined on this machine")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    arguments = {"type": "object", "properties": {"text": {"type": "string"}, "times": {"type": "integer"}}}
    with Store(tmp_path / "resources.db") as store:
        registry = Registry(store)
        registry.register("prompt", "solver", "Solve {{question}}.\n")
        registry.register("tool", "say", {"tool.py": CODE}, {"description": "says", "arguments": arguments})
    return tmp_path / "resources.db"


def call(store: Path, *words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["resources", *words, "--store", str(store)])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


@needs_a_sandbox
def test_a_tool_is_run_and_its_result_printed(store: Path) -> None:
    assert call(store, "run", "tool/say", "text=ab", "times=2") == (0, '{"said": "abab"}\n', "")
    code, text, _ = call(store, "run", "tool/say", "text=ab", "--version", "1.0.0", "--json")
    assert code == 0
    assert json.loads(text).items() >= {"value": {"said": "ab"}, "error": "", "stdout": "working\n"}.items()


@needs_a_sandbox
def test_a_tool_that_fails_is_explained_with_its_line(store: Path) -> None:
    with Store(store) as opened:
        Registry(opened).update(
            "tool", "say", {"tool.py": "def run():\n    raise ValueError('never')\n"}, {"arguments": {}}
        )
    code, text, problem = call(store, "run", "tool/say")
    assert (code, text) == (1, "")
    assert problem.startswith("heredity: tool/say: tool_error: ValueError: never\n")
    assert "line 2" in problem


def test_a_prompt_is_filled_in_with_the_text_as_it_is(store: Path) -> None:
    assert call(store, "run", "prompt/solver", "question=2.50") == (0, "Solve 2.50.\n", "")


@needs_a_sandbox
def test_wrong_inputs_are_named(store: Path) -> None:
    with pytest.raises(ConfigError, match="write KEY=VALUE"):
        call(store, "run", "tool/say", "text")
    with pytest.raises(ConfigError, match="text is given twice"):
        call(store, "run", "tool/say", "text=a", "text=b")
    with pytest.raises(ConfigError, match=r"times of tool/say@1\.0\.0 must be integer"):
        call(store, "run", "tool/say", "times=many")
    with pytest.raises(UnknownNameError, match="did you mean say"):
        call(store, "run", "tool/sai")


@contextmanager
def served(store: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    paths = os.pathsep.join(filter(None, [str(Path(__file__).parents[2] / "src"), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "heredity", "resources", "serve", *words, "--store", str(store)]
    with subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": paths}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process, process.stdout.readline() if process.stdout and "stdio" not in words else ""
        finally:
            process.kill()


@needs_a_sandbox
def test_a_store_is_served_until_it_is_told_to_end(store: Path) -> None:
    with served(store, "--port", "0", "--mcp", "off", "--token", "secret") as (process, line):
        url = line.split(" at ")[1].strip()
        assert httpx.get(url).status_code == 401
        response = httpx.get(f"{url}/list", headers={"authorization": "Bearer secret"})
        assert response.json() == ["prompt/solver", "tool/say"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 143
    with Store(store) as opened:
        assert opened.check() == []
    assert not store.with_name("resources.db-wal").exists()


@needs_a_sandbox
def test_a_server_on_pipes_ends_with_its_client_or_when_told(store: Path) -> None:
    pytest.importorskip("mcp")
    with served(store, "--mcp", "stdio") as (process, _):
        assert process.communicate(timeout=20)[0] == ""
        assert process.returncode == 0
    with served(store, "--mcp", "stdio") as (process, _):
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write('{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 143


def test_a_server_that_cannot_start_leaves_no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "new.db"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        used = CliRunner().invoke(app, ["resources", "serve", "--store", str(store), "--port", port, "--mcp", "off"])
    assert isinstance(used.exception, ConfigError | IsolationError)
    monkeypatch.setattr(serving, "find_spec", lambda name: None)
    without = CliRunner().invoke(app, ["resources", "serve", "--store", str(store), "--port", "0"])
    assert isinstance(without.exception, MissingExtraError | IsolationError)
    assert list(tmp_path.iterdir()) == []
