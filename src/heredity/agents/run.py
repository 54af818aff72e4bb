"""One run's evolution by an outside agent: lays out its workspace, serves its session and its tools, starts and ends the agent.

An agent's sandbox has no network access. The tools (its only way to the web, to documents and to servers) follow the
configuration's rules. Their calls are recorded, as is every start of the agent.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.http import serve
from heredity._core.spans import span
from heredity.agents.app import AgentSession, RefusedError, SessionApp, json_answer, read_object
from heredity.agents.launchers import AgentExit, BrokerDoor, CommandAgent, run_agent
from heredity.agents.workspace import Workspace
from heredity.engine.actor import ProvidedTool
from heredity.engine.schemas import check_arguments
from heredity.methods import Budget
from heredity.records import read_journal
from heredity.records.agent_starts import Start, exit_words, seconds_of, starts_of
from heredity.records.events import AGENT_ENDED, AGENT_STARTED, AgentTool
from heredity.resources import Candidate
from heredity.session.session import Session


async def run_starts(
    session: Session, journal: Path, agent: CommandAgent, start: Callable[[CommandAgent], Awaitable[AgentExit]]
) -> AgentExit | None:
    """Start an agent, and restart it as set by `agent.continuing`; return its last end, None if it was not started.

    After a kill of an earlier process, the journal gives the progress so far.

    Args:
        session: receives the agent's submissions.
        journal: the run's journal.
        agent: the agent (its time limit holds for all starts together).
        start: runs it once.

    Raises:
        Any exception of `start`.
    """
    ended: AgentExit | None = None
    while session.broken is None and session.closed is None and not session.remaining().exhausted:
        starts = starts_of(await asyncio.to_thread(read_journal, journal))
        wait, left = agent.continuing.wait(starts), _time_left(agent, starts, session.clock.now())
        if wait is None or left == 0:
            break
        if wait and await _ended_within(session, wait):
            break
        number = len(starts) + 1
        at_s = round(session.clock.now(), 3)
        await session.note(AGENT_STARTED.line({"start": number, "at_s": at_s, "wait_s": wait}))
        ended = await start(_started(agent, left, starts, session.remaining()))
        if session.broken is None:
            await session.note(AGENT_ENDED.line(ended.to_json()))
    return ended


def _time_left(agent: CommandAgent, starts: Sequence[Start], now_s: float) -> float | None:
    """Return the remaining time of an agent; None without a limit."""
    return None if agent.time_limit_s is None else max(0.0, agent.time_limit_s - seconds_of(starts, now_s))


async def _ended_within(session: Session, seconds: float) -> bool:
    try:
        await asyncio.wait_for(session.finished(), seconds)
    except TimeoutError:
        return False
    return True


def _started(agent: CommandAgent, left: float | None, starts: Sequence[Start], budget: Budget) -> CommandAgent:
    if not starts:
        return agent
    prompt = "\n\n".join(filter(None, (agent.prompt, what_remains(starts, agent.continuing.turns, budget))))
    environment = {**agent.environment, "HEREDITY_PROMPT": prompt, "HEREDITY_START": str(len(starts) + 1)}
    if agent.continuing.anew(starts):
        environment["HEREDITY_ANEW"] = "1"
    return replace(agent, command=agent.again or agent.command, environment=environment, time_limit_s=left)


def what_remains(starts: Sequence[Start], turns: int, budget: Budget) -> str:
    """Return the message to a restarted agent: the reason, and its remaining budget."""
    supplies = {"episodes": budget.episodes, "submissions": budget.submissions, "tokens": budget.tokens}
    left = [f"{amount} {name}" for name, amount in supplies.items() if amount is not None]
    left += [f"{budget.seconds:.0f} seconds"] if budget.seconds is not None else []
    submitted = sum(start.submissions for start in starts)
    return (
        f"This is start {len(starts) + 1} of at most {max(turns, len(starts) + 1)}: {exit_words(starts[-1].ended)}. Your files are "
        f"as you left them, and {submitted} submissions are on record. Left: {', '.join(left) or 'no limit'}. Go on from there."
    )


_AT_ONCE = 8
_ARGUMENTS = 2_000


class AgentTools:
    """Serves `GET /tools`, which lists the tools as for models, and `POST /tools/NAME`, with the arguments as its body.

    Args:
        tools: the tools; their texts are the answers.
        record: journals a call.
    """

    def __init__(self, tools: Sequence[ProvidedTool], record: Callable[[AgentTool], Awaitable[None]]) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self._record = record
        self._places = asyncio.Semaphore(_AT_ONCE)

    @property
    def routes(self) -> tuple[Route, ...]:
        """The routes of the tools."""
        return Route("/tools", self._list), Route("/tools/{name}", self._call, methods=["POST"])

    async def _list(self, request: Request) -> Response:
        specs = [tool.spec for tool in self._tools.values()]
        return json_answer(
            {"tools": [{"name": s.name, "description": s.description, "parameters": dict(s.parameters)} for s in specs]}
        )

    async def _call(self, request: Request) -> Response:
        name = str(request.path_params["name"])
        arguments = await read_object(request, optional=True)
        try:
            if name not in self._tools:
                raise UnknownNameError("tool", name, self._tools)
            tool = self._tools[name]
            check_arguments({**tool.spec.parameters, "type": "object"}, arguments, where=name)
        except ConfigError as error:
            raise RefusedError("invalid_request", str(error)) from error
        text: str | None = None
        async with self._places:
            started = time.monotonic()
            try:
                with span("tool", kind="tool", tool=name, arguments=arguments) as step:
                    text = str(await tool.run(arguments))
                    step.set(value=text)
            finally:
                given = json.dumps(arguments, ensure_ascii=False, sort_keys=True)[:_ARGUMENTS]
                size, seconds = None if text is None else len(text), round(time.monotonic() - started, 3)
                await self._record({"tool": name, "arguments": given, "characters": size, "seconds": seconds})
        return json_answer({"result": text})


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
