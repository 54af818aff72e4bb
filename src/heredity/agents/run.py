"""One run's evolution by an outside agent: lays out its workspace, serves its session, starts and ends the agent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from heredity._core.http import serve
from heredity.agents.app import AgentSession, SessionApp
from heredity.agents.launchers import AgentExit, BrokerDoor, CommandAgent, run_agent
from heredity.agents.tools import AgentTools
from heredity.agents.workspace import Workspace
from heredity.resources import Candidate


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
    """Let an outside agent use a session's budget; return its end.

    An agent that ends early leaves the session open: the caller closes it and judges the submissions.

    Args:
        session: receives the agent's submissions; it publishes to `workspace` (see `Workspace.publisher`).
        workspace: the agent's workspace; laid out here, keeping an earlier process's program.
        agent: the agent.
        initial: the initial program.
        logs: the folder for the agent's output, outside the workspace.
        broker: its access to language models (see `models_for_agent`).
        tools: its tools, in addition to the session.
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
