"""A suite with what pages show: numbers, a conversation, texts of a world, pictures, commits, calls, spans, and hostile words."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from heredity.bench.run_folders import write_suite
from heredity.engine.trajectory import Failure, Trajectory, encode_many
from heredity.pages.live.app import Gate, ViewApp
from heredity.pages.live.place import Place
from heredity.records import RunFolder
from heredity.resources import Candidate, SourceTree

TOKEN = "token-of-the-tests-of-view"
EVIL = "<script>document.title='owned'</script>\u202eevil\u0007"
BASE = f"/{TOKEN}"


def png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    pixels = zlib.compress(b"".join(b"\0" + bytes([40 * y % 256, 90, 200]) * 32 for y in range(24)))
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 32, 24, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def program(text: str) -> Candidate:
    return Candidate.program(SourceTree({"policy.py": text}))


def trajectory(columns: dict[str, Any], length: int, **more: Any) -> Trajectory:
    told = {"status": "ok", "failure_source": "none", **more}
    return Trajectory("t", "0" * 64, total_reward=1.0, length=length, terminated=True, columns=columns, **told)


def columns(obs: Any, action: Any, length: int) -> dict[str, Any]:
    flags = np.zeros(length, bool)
    return {"obs": obs, "action": action, "reward": np.linspace(0, 1, length), "terminated": flags, "truncated": flags}


def rollouts() -> list[Trajectory]:
    talk = [
        {"role": "system", "content": "Answer."},
        {"role": "user", "content": f"What is 6 times 7? {EVIL}"},
        {"role": "assistant", "content": "", "tool_calls": [["1", "shell", json.dumps({"command": "echo $((6*7))"})]]},
        {"role": "tool", "content": "42\n", "tool_call_id": "1"},
        {"role": "assistant", "content": "<answer>42</answer>"},
    ]
    failure = Failure("act_error", f"boom {EVIL}", "Traceback: line 1", 0)
    frames = {f"frames/{i:05d}.png": png() for i in range(3)} | {
        "evil.svg": b"<svg onload='1'/>",
        "fake.png": b"<html>",
    }
    return [
        trajectory(columns(np.random.default_rng(0).normal(size=(31, 4)), np.arange(30) % 2, 30), 30, media=frames),
        trajectory({**columns(["asked", "right"], ["42"], 1), "messages": talk}, 1),
        trajectory(
            columns(["A cave.\n#..@\n####", "You moved.", "Done."], [{"go": "east"}, "stop"], 2), 2, stdout=EVIL
        ),
        trajectory(
            columns(np.zeros((1, 2)), np.zeros(0), 0),
            0,
            status="act_error",
            failure_source="candidate",
            failure=failure,
        ),
    ]


def write_run(folder: Path, name: str, *, seed: int = 0, finished: bool = True) -> Path:
    """Write a run with every kind of thing in it and return its folder."""
    run = folder / "runs" / name
    first, second, third = (program(f"class Policy:\n    gain = {i}\n    # {EVIL}\n") for i in range(3))
    with RunFolder.open(run) as opened:

        def add(kind: str, **data: Any) -> None:
            opened.journal.append(kind, data)

        add(
            "run.started",
            run_id=name,
            protocol="resource-evolution",
            taskset=f"questions/{EVIL}",
            evolver={"name": f"grpo {EVIL}", "kind": "method"},
            seed=seed,
            budget={"episodes": 40},
            conditions={"limits.act_s": 10.0 + seed},
            packages={"numpy": "2"},
            commitment="c" * 64,
        )
        for number, (made, parents) in enumerate(
            [(first, []), (second, [first.digest]), (third, [first.digest, second.digest])], 1
        ):
            blob = opened.blobs.put(made.to_bytes())
            add("candidate", digest=made.digest, blob=blob, parents=parents, note=f"step {number} {EVIL}")
            add("submission.admitted", submit_id=number, candidate=made.digest, charge=4, tasks=[0, 1, 2, 3])
            told = rollouts()
            outcomes = [
                {
                    "task": i,
                    "score": number / 4 if t.status == "ok" else 0.0,
                    "length": t.length,
                    "status": t.status,
                    "failure": t.failure.to_json() if t.failure else None,
                }
                for i, t in enumerate(told)
            ]
            add(
                "submission.completed",
                submit_id=number,
                candidate=made.digest,
                status="ok",
                failure=None,
                outcomes=outcomes,
                blob=opened.blobs.put(encode_many(told)),
                seconds=1.5,
                usage={"input_tokens": 10, "output_tokens": 5, "cost_usd": 0.01},
            )
            if parents:
                add(
                    "candidate.decided",
                    candidate=made.digest,
                    baseline=first.digest,
                    accepted=number == 3,
                    reason=f"because {EVIL}",
                    submissions=[1, number],
                    difference=0.25,
                    interval=[0.1, 0.4],
                    pairs=4,
                    tolerance=0.0,
                )
        answer = {
            "request": {
                "messages": [{"role": "user", "content": f"Improve. {EVIL}"}],
                "tools": [],
                "sampling": {"temperature": 0.5},
            },
            "reply": {"message": {"role": "assistant", "content": "A rule."}, "model": "m", "finish": "stop"},
        }
        add(
            "model.called",
            request="r" * 64,
            place=0,
            purpose="reflect",
            model=f"m {EVIL}",
            error=None,
            blob=opened.blobs.put(json.dumps(answer).encode()),
            usage={"input_tokens": 7, "output_tokens": 3, "cached_tokens": 2, "cost_usd": 0.002},
        )
        if finished:
            add("session.closed", reason="finished")
            add("judging.selected", submit_id=3, candidate=third.digest, reason="last commit")
            add(
                "judging.scored",
                view="heldout",
                candidate=third.digest,
                submit_id=None,
                scores=[1.0, None, 0.5],
                lengths=[1, 1, 1],
                statuses=["ok", "host_error", "ok"],
                seconds=2.0,
            )
            add("run.finished", status="finished")
    spans = [
        {
            "name": "run",
            "kind": "run",
            "trace_id": "t",
            "span_id": "a",
            "parent_id": "",
            "start_ns": 10**18,
            "end_ns": 10**18 + 10**9,
            "attributes": {"run": name},
            "error": "",
        },
        {
            "name": f"model {EVIL}",
            "kind": "model",
            "trace_id": "t",
            "span_id": "b",
            "parent_id": "a",
            "start_ns": 10**18 + 10**8,
            "end_ns": 10**18 + 5 * 10**8,
            "attributes": {"model": "m", "input": EVIL * 20},
            "error": "x",
        },
    ]
    (run / "spans.jsonl").write_text("".join(json.dumps(span) + "\n" for span in spans))
    return run


@dataclass
class Site:
    """Pages without a socket: what a browser would be sent."""

    folder: Path
    client: httpx.AsyncClient

    async def get(self, path: str, **headers: str) -> httpx.Response:
        return await self.client.get(BASE + path, headers=headers)


@pytest.fixture(scope="session")
def suites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of two suites: one with everything, one with many rollouts."""
    folder = tmp_path_factory.mktemp("view") / "runs"
    for seed in (0, 1):
        write_run(folder / "small", f"grpo--s{seed}", seed=seed)
    (folder / "small" / "suite.toml").write_text('[run]\nprotocol = "resource-evolution"\ntasksets = ["questions/x"]\n')
    write_suite(folder / "many", 3000)
    return folder


@asynccontextmanager
async def site_of(folder: Path, actions: Any = None) -> AsyncIterator[Site]:
    app = ViewApp(Place.of(folder), actions, {"demo": "The demonstration"})
    transport = httpx.ASGITransport(Gate(app.asgi, 8767, TOKEN))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8767", timeout=60) as client:
        try:
            yield Site(folder, client)
        finally:
            app.close()


@pytest.fixture
async def site(suites: Path) -> AsyncIterator[Site]:
    async with site_of(suites) as opened:
        yield opened


@pytest.fixture
def run_folder(tmp_path: Path) -> Iterator[Path]:
    """The folder of a suite with one run, of this test alone."""
    write_run(tmp_path / "one", "a--s0")
    return tmp_path / "one"
