"""One run's evolution by an outside agent: its workspace laid out, its session served, the agent started and ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from heredity.launchers import AgentExit, BrokerDoor, CommandAgent, run_agent
from heredity.resources import Candidate
from heredity.server.agent_tools import AgentTools
from heredity.server.app import AgentSession, SessionApp
from heredity.server.serve import serve
from heredity.server.workspace import Workspace


async def evolve_with_agent(
    session: AgentSession,
    workspace: Workspace,
    agent: CommandAgent,
    *,
    initial: Candidate,
    logs: Path,
    broker: BrokerDoor | None = None,
    tools: AgentTools | None = None,
    on_refusal: Callable[[str, str, str], object] | None = None,
) -> AgentExit:
    """Let an outside agent spend a session's budget; return how the agent ended.

    The session is left open where the agent ended before it: the caller closes it and judges what was submitted.

    Args:
        session: what the agent submits to; it publishes to `workspace` (see `Workspace.publisher`).
        workspace: the agent's workspace; laid out here, an earlier process's program kept.
        agent: what to run.
        initial: the program to start from.
        logs: the folder for the agent's output, outside the workspace.
        broker: what it may ask language models through (see `models_for_agent`).
        tools: what it may ask for beside its session.
        on_refusal: records requests too malformed for the session (see `SessionApp`).

    Raises:
        IsolationError: if the agent cannot be confined here.
        RecordError: if the workspace cannot be written.
    """
    await asyncio.to_thread(workspace.prepare, initial.agent)
    app = SessionApp(session, workspace, initial=initial, on_refusal=on_refusal, more=tools.routes if tools else ())
    async with serve(app.asgi) as endpoints:
        return await run_agent(
            agent,
            workspace=workspace.root,
            socket=endpoints.unix,
            url=endpoints.url,
            logs=logs,
            broker=broker,
            ended=session.finished,
        )
