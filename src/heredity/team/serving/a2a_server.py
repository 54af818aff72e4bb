"""A team, and each of its agents, as A2A agents: cards, tasks with states, streams, cancelling.

An A2A task is a task of the office (under the same id), so it outlives the process: its state and its answer are found
again after a restart.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from a2a.helpers.proto_helpers import new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    HTTPAuthSecurityScheme,
    Message,
    SecurityRequirement,
    SecurityScheme,
    StringList,
    Task,
    TaskState,
)
from google.protobuf.json_format import MessageToJson, Parse, ParseError
from starlette.routing import BaseRoute

from heredity import __version__
from heredity._core.errors import HeredityError
from heredity.team.participant import Outcome
from heredity.team.serving.office import Office, TaskRun
from heredity.team.team import TeamResult, write_whole

_FILE = "a2a.json"
_CARD = "/.well-known/agent-card.json"
_TEAM = "Does tasks with a team of agents that plans and works in parallel."
_OPEN = (TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING)


def a2a_routes(office: Office, url: str) -> list[BaseRoute]:
    """Return the routes of a team, `/a2a`, and of each agent, `/a2a/AGENT`.

    A card is at an agent's address itself and at `/.well-known/agent-card.json` below it; the team's is below the root too.
    """
    routes: list[BaseRoute] = []
    described = {"": _TEAM, **office.agents}
    for agent, description in described.items():
        path = f"/a2a/{agent}".rstrip("/")
        card = card_of(agent or "heredity-team", description, url + path)
        handler = DefaultRequestHandler(_Executor(office, agent), _Tasks(office, agent), card)
        routes += create_jsonrpc_routes(handler, path)
        for place in (path, f"{path}{_CARD}", *(() if agent else (_CARD,))):
            routes += create_agent_card_routes(card, card_url=place)
    return routes


def card_of(name: str, description: str, url: str) -> AgentCard:
    """Return the card of an agent at a URL with a bearer token."""
    return AgentCard(
        name=name,
        description=description,
        version=__version__,
        supported_interfaces=[AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version="1.0")],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="task", name=name, description=description, tags=["heredity"])],
        security_schemes={"token": SecurityScheme(http_auth_security_scheme=HTTPAuthSecurityScheme(scheme="Bearer"))},
        security_requirements=[SecurityRequirement(schemes={"token": StringList()})],
    )


class _Executor(AgentExecutor):
    def __init__(self, office: Office, agent: str) -> None:
        self._office, self._agent = office, agent

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Do a task and report its states: each step that starts or ends is a status."""
        assert context.message is not None
        task = context.current_task or new_task_from_user_message(context.message)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        try:
            run = self._office.start(context.get_user_input(), agent=self._agent, task_id=task.id.lower())
        except HeredityError as error:
            await event_queue.enqueue_event(task)
            await updater.reject(_message(str(error)))
            return
        await event_queue.enqueue_event(task)
        await updater.start_work()
        states_sent: dict[str, str] = {}
        async for _ in run.changes():
            steps = run.plan.steps if run.plan else ()
            changed = [step for step in steps if states_sent.get(step.id, "pending") != step.state]
            states_sent |= {step.id: step.state for step in steps}
            for step in changed:
                await updater.update_status(
                    TaskState.TASK_STATE_WORKING, _message(f"{step.id} ({step.agent}): {step.state}")
                )
        await self._finish(updater, run)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """End the task of the office."""
        assert context.task_id is not None
        assert context.context_id is not None
        await self._office.cancel(context.task_id.lower())
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()

    async def _finish(self, updater: TaskUpdater, run: TaskRun) -> None:
        result = run.result
        if result is None:
            await updater.failed(_message(f"stopped: {run.problem}"))
        elif result.outcome is Outcome.OK:
            await updater.add_artifact([new_text_part(result.answer)], name="answer")
            await updater.complete()
        elif result.outcome is Outcome.CANCELLED:
            await updater.cancel()
        else:
            await updater.failed(_message(result.error))


class _Tasks(InMemoryTaskStore):
    """A2A tasks, each paired with its task of the office."""

    def __init__(self, office: Office, agent: str) -> None:
        super().__init__()
        self._office, self._agent = office, agent

    async def save(self, task: Task, context: Any) -> None:
        """Keep a task; one of the office is on disk."""
        await super().save(task, context)
        run = self._office.runs.get(task.id.lower())
        if run is not None:
            await asyncio.to_thread(write_whole, run.folder / _FILE, MessageToJson(task))

    async def get(self, task_id: str, context: Any) -> Task | None:
        """Return a task; one of an earlier process in its current state."""
        run = self._office.runs.get(task_id.lower())
        task = await super().get(task_id, context)
        if task is None and run is not None and run.asked.agent == self._agent:
            task = _read(run.folder / _FILE)
            if task is not None and task.status.state in _OPEN and run.result is not None:
                _close(task, run.result)
        return task


def _read(path: Path) -> Task | None:
    try:
        return Parse(path.read_text(encoding="utf-8"), Task())
    except (OSError, ParseError, UnicodeDecodeError):
        return None


def _close(task: Task, result: TeamResult) -> None:
    if result.outcome is Outcome.OK:
        task.status.state = TaskState.TASK_STATE_COMPLETED
        task.artifacts.add(artifact_id="answer", name="answer", parts=[new_text_part(result.answer)])
    else:
        cancelled = result.outcome is Outcome.CANCELLED
        task.status.state = TaskState.TASK_STATE_CANCELED if cancelled else TaskState.TASK_STATE_FAILED
        task.status.message.CopyFrom(_message(result.error))


def _message(text: str) -> Message:
    return new_text_message(text.encode("utf-8", "replace").decode())
