"""Agents of elsewhere, served by the SDK's own pieces: what they answer, fail at, and try."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import ConfigError
from heredity._core.http import listening, tcp_socket
from heredity.team import Bus, Outcome, Participant, open_record
from heredity.team.outside import ForeignAgent, ForeignAgentError

pytest.importorskip("a2a", reason="the extra a2a is not installed")

from a2a.helpers.proto_helpers import new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types.a2a_pb2 import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette

Doing = Callable[[str, TaskUpdater], Awaitable[None]]


class Foreign(AgentExecutor):
    """Answers a greeting with a message, and anything else with a task."""

    def __init__(self, doing: Doing) -> None:
        self.doing = doing
        self.asked: list[str] = []
        self.cancelled = 0

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        text = context.get_user_input()
        self.asked.append(text)
        if text == "hello":
            await event_queue.enqueue_event(new_text_message("hello to you"))
            return
        assert context.message is not None
        task = new_task_from_user_message(context.message)
        await event_queue.enqueue_event(task)
        await self.doing(text, TaskUpdater(event_queue, task.id, task.context_id))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        self.cancelled += 1
        assert context.task_id is not None
        assert context.context_id is not None
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


async def doing(text: str, updater: TaskUpdater) -> None:
    await updater.start_work(new_text_message("thinking"))
    if text == "fail":
        await updater.failed(new_text_message("it is too hard"))
    elif text == "ask":
        await updater.requires_input(new_text_message("which one?"))
    elif text == "hang":
        await asyncio.sleep(60)
    elif text == "nothing":
        await updater.complete()
    else:
        await asyncio.sleep(0.1)
        await updater.add_artifact([new_text_part(text.upper())])
        await updater.complete()


@asynccontextmanager
async def served(elsewhere: str = "") -> AsyncIterator[tuple[str, Foreign]]:
    with tcp_socket(0) as tcp:
        url = f"http://127.0.0.1:{tcp.getsockname()[1]}"
        interface = AgentInterface(url=elsewhere or url, protocol_binding="JSONRPC", protocol_version="1.0")
        card = AgentCard(
            name="foreign",
            description="shouts",
            version="1",
            supported_interfaces=[interface],
            capabilities=AgentCapabilities(streaming=True),
            default_input_modes=["text/plain"],
            default_output_modes=["text/plain"],
            skills=[AgentSkill(id="shout", name="shout", description="shouts", tags=["loud"])],
        )
        foreign = Foreign(doing)
        routes = create_jsonrpc_routes(DefaultRequestHandler(foreign, InMemoryTaskStore(), card), "/")
        async with listening([(Starlette(routes=[*routes, *create_agent_card_routes(card)]), tcp)]):
            yield url, foreign


async def test_it_answers_fails_and_asks_as_a_participant(tmp_path: Path) -> None:
    async with served() as (url, foreign), Bus() as bus:
        agent = ForeignAgent("shouter", url)
        assert (await agent.card()).description == "shouts"
        bus.register(Participant("shouter", agent))

        async def ask(text: str) -> Any:
            return await bus.outside.request("shouter", {"task": text}, timeout=10)

        assert (await ask("hello")).value["answer"] == "hello to you"
        assert (await ask("quietly")).value["answer"] == "QUIETLY"
        for text, said in (("fail", "too hard"), ("ask", "which one"), ("nothing", "nothing that is text")):
            result = await ask(text)
            assert result.outcome is Outcome.FAILED
            assert said in result.error
        said = [message async for message in bus.outside.stream("shouter", {"task": "loudly"})]
        assert [message.body.get("text") for message in said[:-1]] == ["thinking"]
        late = await bus.outside.request("shouter", {"task": "hang"}, timeout=3)
        assert late.outcome is Outcome.TIMED_OUT
        async with asyncio.timeout(60):
            while not foreign.cancelled:  # noqa: ASYNC110 - it belongs to the other side
                await asyncio.sleep(0.02)


async def test_a_team_that_was_stopped_waits_for_the_same_task(tmp_path: Path) -> None:
    async with served() as (url, foreign):
        for last in (False, True):
            with open_record(tmp_path / "run") as record:
                async with Bus(record) as bus:
                    bus.register(Participant("shouter", ForeignAgent("shouter", url)))
                    asking = asyncio.ensure_future(bus.outside.request("shouter", {"task": "quietly"}, key="k"))
                    async with asyncio.timeout(60):
                        while not record.effect("k#a2a")[0]:  # noqa: ASYNC110 - what is on disk tells nobody
                            await asyncio.sleep(0.005)
                    if last:
                        assert (await asking).value["answer"] == "QUIETLY"
        assert foreign.asked == ["quietly"]
        assert not foreign.cancelled


async def test_a_card_that_leads_elsewhere_is_refused() -> None:
    async with served("http://127.0.0.1:1/") as (url, foreign):
        with pytest.raises(ConfigError, match="names no address of that host"):
            await ForeignAgent("shouter", url, "secret").card()
        assert foreign.asked == []


async def test_one_that_does_not_answer_is_a_failed_step() -> None:
    with tcp_socket(0) as tcp:
        url = f"http://127.0.0.1:{tcp.getsockname()[1]}"
    with pytest.raises(ForeignAgentError, match="shouter"):
        await ForeignAgent("shouter", url).card()
    async with Bus() as bus:
        bus.register(Participant("shouter", ForeignAgent("shouter", url)))
        result = await bus.outside.request("shouter", {"task": "x"})
        assert result.outcome is Outcome.FAILED
