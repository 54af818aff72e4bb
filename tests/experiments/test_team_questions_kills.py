"""A run of `team-questions` that is killed and resumed: nothing that is on record is paid again, and it comes to the same."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from heredity._core.ids import digest_json, generator
from heredity.records import read_journal
from heredity.team.record import EFFECT_DONE

KILLS = 8
EDITS = ("Guess at it.", "Ages.")
SUITE = """
[run]
protocol = "team-questions"
tasksets = ["questions/file:questions.jsonl"]
[evolver]
method = "static"
[team]
file = "team.toml"
concurrent = 1
practice = 1
evolution = "across"
[views]
heldout = 4
[gateway]
execution = "here/deterministic"
[gateway.providers.here]
base_url = "http://127.0.0.1:{port}/v1"
"""
TEAM = """
[agents.reader]
description = "reads"
prompt = "Years."
turns = 2
[evolution]
at_commit = 0
check_every = 1
"""
QUESTIONS = [
    {"question": "In which year was the mill built?", "answer": "1883", "split": "train", "id": "mill"},
    *({"question": f"Of what age was {what}?", "answer": "117", "split": "test", "id": what} for what in ("it", "she")),
    *({"question": f"In which year was {what} built?", "answer": "1883", "split": "test", "id": what} for what in "ab"),
]


def answer(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """What the model says: a function of the request alone."""
    system, said = (
        (messages[0]["content"], messages[-1]["content"]) if len(messages) > 1 else ("", messages[0]["content"])
    )
    text = str(said)
    if '"task": "reflect"' in text:
        told: Any = {"hypotheses": [{"cause": "x", "variables": ["prompt/reader:prompt.md"], "tasks": [0]}]}
    elif '"task": "select"' in text:
        told = {"selections": [{"variable": "prompt/reader:prompt.md", "change": "x", "hypothesis": 0}]}
    elif '"task": "improve"' in text:
        value = EDITS['"rejected": []' not in text]
        told = {"edits": [{"variable": "prompt/reader:prompt.md", "value": value, "why": "x"}], "expects": ""}
    elif text.startswith("Task:\n"):
        gave = re.findall(r"done.*\n  gave: (\d+)", text)
        task, rounds = text.split("\n")[1], len(re.findall(r"^- s\d+ ", text, re.MULTILINE))
        steps = [{"id": f"s{rounds + 1}", "agent": "reader", "task": task}]
        over = gave or rounds >= 2
        told = {"finished": True, "result": f"Answer: {gave[-1] if gave else 'unknown'}"} if over else {"steps": steps}
    else:
        asked = next(str(m["content"]) for m in messages if m["role"] == "user")
        known = (
            "1883" if "year" in asked and "Years" in system else "117" if "age" in asked and "Ages" in system else ""
        )
        call = {"id": "call-1", "type": "function", "function": {"name": "jump", "arguments": "{}"}}
        return (
            {"role": "assistant", "content": known}
            if known
            else {"role": "assistant", "content": None, "tool_calls": [call]}
        )
    return {"role": "assistant", "content": json.dumps(told)}


def _tried_apart(body: Any) -> bool:
    """Return whether a request is of the canary, which is tried after each question, apart from what is on record."""
    return "the mill" in json.dumps(body["messages"])


class Provider:
    """A server that speaks as OpenAI's and bills by serial numbers: the n-th reply used n input tokens."""

    def __init__(self) -> None:
        self.served: list[str] = []
        self.changed = threading.Condition()
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                message = answer(body["messages"])
                with provider.changed:
                    provider.served.append(
                        "" if _tried_apart(body) else digest_json([body["messages"], body.get("tools", [])])
                    )
                    number = len(provider.served)
                    provider.changed.notify_all()
                reason = "tool_calls" if message.get("tool_calls") else "stop"
                reply = {
                    "id": "x", "object": "chat.completion", "created": 0, "model": "deterministic",
                    "choices": [{"index": 0, "message": message, "finish_reason": reason}],
                    "usage": {"prompt_tokens": number, "completion_tokens": 1, "total_tokens": number + 1},
                }  # fmt: skip
                data = json.dumps(reply).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]

    @contextmanager
    def serving(self) -> Iterator[Provider]:
        thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield self
        finally:
            self.server.shutdown()
            self.server.server_close()
            thread.join()


def write(folder: Path, port: int) -> Path:
    folder.mkdir()
    (folder / "team.toml").write_text(TEAM)
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in QUESTIONS))
    (folder / "suite.toml").write_text(SUITE.replace("{port}", str(port)))
    return folder / "suite.toml"


def started(*arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "heredity", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)


def recorded(out: Path) -> set[int]:
    """Return the numbers of the replies that are on record in the teams' journals."""
    numbers: set[int] = set()
    for path in out.glob("runs/*/teams/*/journal.jsonl"):
        for event in read_journal(path):
            effect = EFFECT_DONE.of(event)
            if effect is not None and "model-" in effect["id"].rpartition("#")[2]:
                numbers.add(effect["value"]["usage"]["input_tokens"])
    return numbers


def came_to(out: Path) -> Any:
    """Return answers, and what evolution decided, by question: in which order they were asked is each suite's own."""
    (path,) = out.glob("runs/*/metrics.json")
    part = json.loads(path.read_text())["part"]
    rows = [(row["id"], row["correct"], row["rounds"], row["lacking"], row["model_calls"]) for row in part["questions"]]
    edits = [
        (row["id"], [(edit["what"], edit["accepted"], edit["reason"]) for edit in row["edits"]])
        for row in part["evolution"]["course"]
    ]
    return sorted(rows), sorted(edits)


@pytest.mark.slow
def test_a_killed_run_goes_on_without_paying_again_for_what_is_on_record(tmp_path: Path) -> None:
    draws = generator(0, "tests", "team-questions-kills")
    with Provider().serving() as whole:
        done = started("run", str(write(tmp_path / "whole", whole.port)), "--out", str(tmp_path / "whole-out"))
        said, _ = done.communicate(timeout=300)
        assert done.returncode == 0, said.decode()
    expected = came_to(tmp_path / "whole-out")
    assert all(right for _, right, *_ in expected[0])
    assert [[accepted for _, accepted, _ in edits] for _, edits in expected[1] if edits] == [[False, True]] * 2
    kills, lost, out = 0, 0, tmp_path / "out"
    with Provider().serving() as provider:
        arguments = ["run", str(write(tmp_path / "killed", provider.port)), "--out", str(out)]
        while True:
            until = len(provider.served) + int(draws.integers(1, len(whole.served) // 5))
            process = started(*arguments)
            _wait(provider, process, until)
            if kills < KILLS and process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                kills += 1
            said, _ = process.communicate(timeout=300)
            if process.returncode == 0:
                break
            assert process.returncode == -signal.SIGKILL, said.decode()
            arguments = ["resume", str(out)]
    assert kills >= KILLS // 2
    assert came_to(out) == expected
    kept = recorded(out)
    lost = sum(bool(asked) and number not in kept for number, asked in enumerate(provider.served, 1))
    assert lost <= kills, "what was under way when it was killed is asked again, and that is one request at most"
    again = Counter(asked for number, asked in enumerate(provider.served, 1) if asked and number in kept)
    assert again == Counter(filter(None, whole.served)), "all else is paid as often as in a run that is not killed"


def _wait(provider: Provider, process: subprocess.Popen[bytes], until: int) -> None:
    """Wait until so many requests have been answered, or the process has ended."""
    with provider.changed:
        while len(provider.served) < until and process.poll() is None:
            provider.changed.wait(0.2)
