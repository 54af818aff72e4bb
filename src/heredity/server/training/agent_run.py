"""One post-training run by an outside agent: its workspace laid out, its checkpoints graded, the agent ended in time."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path

from heredity.judging.session import Session
from heredity.launchers import AgentExit, BrokerDoor, CommandAgent, run_agent
from heredity.launchers.bubblewrap import INSIDE
from heredity.records import read_journal
from heredity.server.serve import serve
from heredity.server.training.grading_app import GradingApp
from heredity.server.training.kept import KeptCheckpoints
from heredity.server.training.revisions import Revisions
from heredity.server.training.terms import TrainingTerms
from heredity.server.training.workspace import TrainingWorkspace


async def train_with_agent(
    session: Session, folder: Path, terms: TrainingTerms, agent: CommandAgent, broker: BrokerDoor | None = None
) -> AgentExit | None:
    """Let an agent train and submit until it exits or its time is over; return how it ended, None if no time was left.

    What is being graded when the time is over is graded to the end by the session: it was submitted in time.

    Args:
        session: what checkpoints are submitted to; its budget of seconds is the run's.
        folder: the run's folder: `workspace`, `models` and `logs` are in it.
        terms: what the agent is told.
        agent: what to run; it is given the variables of the run contract.
        broker: what it may ask language models through.

    Raises:
        IsolationError: if the agent cannot be confined here.
        RecordError: if the workspace cannot be written.
    """
    left = session.remaining().seconds
    if left is not None and left <= 0:
        return None
    folder = await asyncio.to_thread(folder.resolve)
    workspace = TrainingWorkspace(folder / "workspace", terms)
    await asyncio.to_thread(workspace.prepare)
    earlier = await asyncio.to_thread(read_journal, folder / "journal.jsonl")
    known = {e.data["candidate"]: e.data["digest"] for e in earlier if e.kind == "checkpoint.kept"}
    dropped = {e.data["digest"] for e in earlier if e.kind == "checkpoint.dropped"}
    still = {candidate: digest for candidate, digest in known.items() if digest not in dropped}
    kept = KeptCheckpoints(folder / "models", session.note, still)
    revisions = Revisions(workspace, session.note, sum(e.kind == "code.revised" for e in earlier))
    app = GradingApp(session, workspace, kept, revisions)
    await asyncio.to_thread(app.publish)
    place = str(workspace.root) if agent.unsafe else INSIDE
    ready = replace(
        agent,
        time_limit_s=left if agent.time_limit_s is None else min(agent.time_limit_s, left or agent.time_limit_s),
        environment={**agent.environment, **terms.environment(place)},
        host_files=workspace.host_files,
    )
    async with serve(app.asgi) as endpoints:
        watching = asyncio.create_task(revisions.watch(session.clock.now))
        try:
            ended = await run_agent(
                ready,
                workspace=workspace.root,
                socket=endpoints.unix,
                url=endpoints.url,
                logs=folder / "logs",
                ended=session.finished,
                broker=broker,
            )
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
    if session.broken is None:
        await revisions.note(session.clock.now())
        await session.note(
            "agent.ended", {"code": ended.code, "reason": ended.reason, "seconds": round(ended.seconds, 3)}
        )
        await asyncio.to_thread(app.publish, time.time())
    return ended
