"""Latency of a one-episode submission over HTTP: admitted, sandboxed, recorded, synced, published, answered.

It includes every layer of a real run: the HTTP server, the session with its journal (each line synced before it
counts), a fresh confined process for the policy, CartPole, the trajectory's blob and the feedback folder on disk. The
baseline is the same policy and episode in a plain loop in this process.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from heredity._core.engine_folder import EngineFolder
from heredity._core.http import serve
from heredity.agents.app import SessionApp
from heredity.agents.terms import Briefing, RunTerms
from heredity.agents.workspace import Workspace
from heredity.bench.rollouts import BALANCE
from heredity.engine.space_numbers import starter_program
from heredity.kinds.policy.environments.taskset import make_from_spec
from heredity.kinds.policy.runner import EpisodeRunner
from heredity.methods import Budget
from heredity.records import Committer, RunFolder
from heredity.resources import Candidate, SourceTree
from heredity.session.cases import HiddenCases
from heredity.session.session import Session, SessionRules
from heredity.tasks.registry import taskset

_BRIEFING = Briefing(lambda _: "", lambda _: "", SourceTree({}))
"""Nobody reads it here."""


def measure(submissions: int = 200) -> dict[str, Any]:
    """Submit one CartPole episode at a time and return the figures, times in milliseconds.

    Two programs are submitted: the uniformly random starter, like a typical first submission (`p50_ms`), and a
    controller that balances for all 500 steps (`full_episode.p50_ms`).
    """
    starter = starter_program(taskset("gymnasium/CartPole-v1").info.public)
    first = asyncio.run(_measure(submissions, starter))
    whole = asyncio.run(_measure(submissions, SourceTree({"policy.py": BALANCE})))
    return {"baseline": "the balancing episodes in a plain loop in one process", **first, "full_episode": whole}


async def _measure(submissions: int, program: SourceTree) -> dict[str, Any]:
    tasks = taskset("gymnasium/CartPole-v1")
    candidate = Candidate.program(program)
    with EngineFolder() as root:
        hidden_cases = HiddenCases.create(root / "sealed")
        train = hidden_cases.tasks(tasks, "train", 32)
        terms = RunTerms(taskset=tasks.info, train_tasks=32, episode_budget=submissions + 5)
        workspace = Workspace(root / "run" / "workspace", terms, _BRIEFING)
        workspace.prepare(candidate.agent)
        with RunFolder.open(root / "run") as folder:
            async with EpisodeRunner(workers=1) as runner:
                session = Session(
                    Committer(folder.journal, folder.blobs),
                    runner,
                    taskset=tasks.info,
                    tasks=train,
                    rules=SessionRules(budget=Budget(episodes=submissions + 5), seed=0),
                    publisher=workspace.publisher,
                )
                app = SessionApp(session, workspace, initial=candidate)
                async with serve(app.asgi) as endpoints:
                    times, steps = await _submit_many(endpoints.url, submissions)
                await session.close("finished")
        raw = _raw(tasks.info.spec, [t.spec["seed"] for t in train])
    return {
        "submissions": submissions,
        "p50_ms": round(statistics.median(times), 3),
        "p95_ms": round(float(np.percentile(times, 95)), 3),
        "mean_ms": round(statistics.fmean(times), 3),
        "steps_per_episode": round(statistics.fmean(steps), 1),
        "raw_p50_ms": round(raw, 3),
        "p50_ratio_vs_raw": round(statistics.median(times) / raw, 3),
    }


async def _submit_many(url: str, count: int) -> tuple[list[float], list[int]]:
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    times: list[float] = []
    steps: list[int] = []
    for number in range(count + 3):
        body = json.dumps({"env_instances": [number % 32]}).encode()
        head = (
            f"POST {parts.path.rstrip('/')}/submit HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        start = time.perf_counter()
        writer.write(head.encode() + body)
        reply = await _reply(reader)
        seconds = time.perf_counter() - start
        if reply["status"] != "ok":
            raise RuntimeError(f"submission {number} was answered {reply}")
        if number >= 3:
            times.append(seconds * 1e3)
            steps.append(reply["summary"]["episode_lengths"][0])
    writer.close()
    return times, steps


async def _reply(reader: asyncio.StreamReader) -> dict[str, Any]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    size = int(head.split("content-length:")[1].split("\r\n")[0])
    answer: dict[str, Any] = json.loads(await reader.readexactly(size))
    return answer


def _raw(spec: Any, seeds: list[int]) -> float:
    scope: dict[str, Any] = {}
    exec(compile(BALANCE, "policy.py", "exec"), scope)
    env = make_from_spec(spec)
    times: list[float] = []
    for seed in seeds:
        start = time.perf_counter()
        policy = scope["Policy"](env.observation_space, env.action_space, {})
        observation, _ = env.reset(seed=seed)
        done = False
        while not done:
            observation, _, terminated, truncated, _ = env.step(policy.act(observation))
            done = terminated or truncated
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)
