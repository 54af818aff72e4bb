"""One post-training run by an outside agent: its workspace laid out, its checkpoints graded, the agent ended in time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heredity.judging.session import Session
from heredity.launchers import AgentExit, BrokerDoor, CommandAgent, run_agent
from heredity.launchers.starts import Start, starts_of
from heredity.posttraining.tasks.overlap import HiddenTexts
from heredity.protocols.post_training.events import CHECKPOINT_KEPT, CODE_REVISED, TEXTS_MET
from heredity.protocols.post_training.server.grading_app import GradingApp
from heredity.protocols.post_training.server.kept import KeptCheckpoints
from heredity.protocols.post_training.server.own_texts import TextWatch
from heredity.protocols.post_training.server.revisions import Revisions
from heredity.protocols.post_training.server.terms import TrainingTerms
from heredity.protocols.post_training.server.workspace import TrainingWorkspace
from heredity.records import read_journal
from heredity.sandbox.agent_bubblewrap import INSIDE
from heredity.server.agent_starts import run_starts
from heredity.server.serve import serve


async def train_with_agent(
    session: Session,
    folder: Path,
    terms: TrainingTerms,
    agent: CommandAgent,
    broker: BrokerDoor | None = None,
    choose_gpu: Callable[[str | None], None] | None = None,
    hidden: HiddenTexts | None = None,
) -> AgentExit | None:
    """Let an agent train and submit until it exits or its time is over; return how it ended, None if it was not started.

    What is being graded when the time is over is graded to the end: it was submitted in time. Where an earlier process was killed,
    the agent is started again in the workspace that it left, for the time that is left, unless it had ended for good.

    Args:
        session: what checkpoints are submitted to; its budget of seconds is the run's.
        folder: the run's folder: `workspace`, `models` and `logs` are in it.
        terms: what the agent is told.
        agent: what to run; it is given the variables of the run contract.
        broker: what it may ask language models through.
        choose_gpu: chooses the GPU that grades next (see `GradingApp`).
        hidden: hidden items that are looked for in the agent's files.

    Raises:
        IsolationError: if the agent cannot be confined here.
        RecordError: if the workspace cannot be written.
        HostError: if the grading fails; the run is to be resumed.
    """
    folder = await asyncio.to_thread(folder.resolve)
    run = await asyncio.to_thread(_Run.open, session, folder, terms, choose_gpu, hidden)
    left = session.remaining().seconds
    ended: AgentExit | None = None
    if agent.continuing.wait(run.starts) is not None and (left is None or left > 0):
        ended = await _work(run, agent, folder, broker)
    if session.broken is not None:
        return ended
    await run.app.settle()
    if run.texts is not None:
        await run.texts.look(session.clock.now(), last=True)
    await asyncio.to_thread(run.app.publish, time.time())
    return ended


@dataclass(frozen=True, slots=True)
class _Run:
    session: Session
    workspace: TrainingWorkspace
    revisions: Revisions
    app: GradingApp
    starts: Sequence[Start]
    texts: TextWatch | None

    @classmethod
    def open(
        cls,
        session: Session,
        folder: Path,
        terms: TrainingTerms,
        choose_gpu: Callable[[str | None], None] | None = None,
        hidden: HiddenTexts | None = None,
    ) -> _Run:
        """Lay out the workspace, and go on where the journal ends."""
        workspace = TrainingWorkspace(folder / "workspace", terms)
        workspace.prepare()
        earlier = read_journal(folder / "journal.jsonl")
        noted = {data["candidate"] for data in CHECKPOINT_KEPT.all(earlier)}
        kept = KeptCheckpoints(folder / "models", session.note, noted)
        kept.find()
        revisions = Revisions(workspace, session.note, list(CODE_REVISED.all(earlier)))
        met = list(TEXTS_MET.all(earlier))
        texts = TextWatch(workspace.root, hidden, workspace.host_files, session.note, met) if hidden else None
        app = GradingApp(session, workspace, kept, revisions, earlier, choose_gpu, texts)
        app.publish()
        return cls(session, workspace, revisions, app, starts_of(earlier), texts)


async def _work(run: _Run, agent: CommandAgent, folder: Path, broker: BrokerDoor | None) -> AgentExit | None:
    """Serve an agent until it is not started again; what an earlier process was grading is graded meanwhile."""
    workspace, session = run.workspace, run.session
    inside = str(workspace.root) if agent.unsafe else INSIDE
    environment = {**agent.environment, **workspace.terms.environment(inside)}
    ready = replace(agent, environment=environment, host_files=workspace.host_files)
    async with serve(run.app.asgi) as endpoints:

        async def start(agent: CommandAgent) -> AgentExit:
            limits = [limit for limit in (agent.time_limit_s, session.remaining().seconds) if limit is not None]
            ended = await run_agent(
                replace(agent, time_limit_s=min(limits, default=None)),
                workspace=workspace.root,
                socket=endpoints.unix,
                url=endpoints.url,
                logs=folder / "logs",
                ended=session.finished,
                broker=broker,
            )
            if session.broken is None:
                await run.revisions.note(session.clock.now())
            # The session may have noticed first that the time is over.
            late = ended.reason == "session_ended" and session.remaining().seconds == 0
            return replace(ended, reason="time_limit") if late else ended

        beside = [
            asyncio.create_task(run.revisions.watch(session.clock.now)),
            asyncio.create_task(run.app.settle()),
        ]
        try:
            return await run_starts(session, folder / "journal.jsonl", ready, start)
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)
