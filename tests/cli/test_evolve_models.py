"""`heredity evolve` with a coding agent, and with a model of a server that speaks as OpenAI's does."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.cli.test_evolve_command import PROGRAM, SCORER, files
from tests.models.endpoint import completion
from typer.testing import CliRunner, Result

from heredity.agents.launchers import available as agents_available
from heredity.cli.main import app
from heredity.sandbox.bubblewrap_root import available

pytestmark = pytest.mark.skipif(available() is not None, reason="needs bubblewrap")

AGENT = """
set -e
grep -q 'higher is better' TASK.md
sed -i 's/WIDTH = 1.0/WIDTH = 4.0/' system/start.py
heredity submit --episodes 0 --json --note four > first.json
sed -i 's/return WIDTH/return WIDTH - 0.5/' system/start.py
heredity submit --episodes 0 --json --note outside > second.json || echo "exit $?" > refused.txt
cat feedback/submit_*1/errors.txt feedback/submit_*1/episodes/*/error.txt >> refused.txt 2> /dev/null || true
ls /tmp system > seen.txt
heredity finish
"""


def evolve(*words: str | Path) -> Result:
    return CliRunner().invoke(app, ["evolve", *map(str, words)])


@pytest.mark.slow
@pytest.mark.skipif(agents_available() is not None, reason="agents cannot be confined here")
def test_an_agent_edits_the_program_submits_it_and_is_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files(tmp_path)
    (tmp_path / "climber").mkdir()
    (tmp_path / "climber" / "start.sh").write_text(AGENT)
    monkeypatch.chdir(tmp_path)
    words = ("start.py", "--scorer", "judge.py", "--agent", "./climber", "--evaluations", "4", "--out", "out")
    ran = evolve(*words, "--json")
    assert ran.exit_code == 0, ran.output
    result = json.loads(ran.stdout)
    assert (result["start"], result["score"]) == (7.0, 10.0)
    assert (tmp_path / "out" / "best" / "start.py").read_text() == PROGRAM.replace("1.0", "4.0")
    workspace = tmp_path / "out" / "runs" / result["run"] / "workspace"
    assert json.loads((workspace / "first.json").read_text())["status"] == "ok"
    # What stands outside of the marks is not the agent's, whatever it would score.
    assert "EVOLVE-BLOCK-START" in (workspace / "refused.txt").read_text()
    assert "judge.py" not in (workspace / "seen.txt").read_text()
    metrics = json.loads((tmp_path / "out" / "runs" / result["run"] / "metrics.json").read_text())
    assert [row["train_mean"] for row in metrics["submissions"]] == [10.0, 0.0]
    assert "climber" in (tmp_path / "out" / "report.html").read_text()


@pytest.fixture
def server() -> Iterator[tuple[str, list[Any]]]:
    """A server on this machine that plays a provider: it edits the program that it is shown."""
    asked: list[Any] = []

    class Provider(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append((self.path, self.headers.get("Authorization"), body))
            edit = {"search": "WIDTH = 1.0", "replace": "WIDTH = 3.5"}
            answer = json.dumps(completion(json.dumps({"edits": [edit], "why": "nearer to four"}))).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Provider) as provider:
        threading.Thread(target=provider.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{provider.server_port}/v1", asked
        provider.shutdown()


def test_a_model_of_any_server_writes_edits(
    tmp_path: Path, server: tuple[str, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pydantic_ai", reason="needs the extra llm")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-test-0123456789")
    url, asked = server
    program, scorer = files(tmp_path)
    given = ("--model", "lab/small", "--base-url", url, "--evaluations", "6", "--out", tmp_path / "out", "--json")
    ran = evolve(program, "--scorer", scorer, *given)
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.stdout)["score"] >= 9.5
    (path, key, body), *_ = asked
    assert (path, body["model"], key) == ("/v1/chat/completions", "lab/small", "Bearer sk-of-the-test-0123456789")
    assert PROGRAM.splitlines()[1] in json.dumps(body["messages"])
    written = [
        path for path in (tmp_path / "out").rglob("*") if path.is_file() and b"sk-of-the-test" in path.read_bytes()
    ]
    assert written == []
    assert "nearer to four" in (tmp_path / "out" / "report.html").read_text() + "".join(
        path.read_text() for path in (tmp_path / "out").rglob("report.html")
    )


def test_a_server_without_a_model_and_a_key_that_is_not_there_are_said_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    program, scorer = files(tmp_path, PROGRAM, SCORER)
    assert "--model" in str(evolve(program, "--scorer", scorer, "--base-url", "http://127.0.0.1:1/v1").exception)
    ran = evolve(program, "--scorer", scorer, "--model", "openai/gpt-5", "--out", tmp_path / "out")
    assert ran.exit_code == 2
    assert "export OPENAI_API_KEY" in ran.output
    assert not (tmp_path / "out" / "runs").exists()
