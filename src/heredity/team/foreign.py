"""Agents of elsewhere as members of a team, over A2A (Autogenesis, section 4).

    [agents.chemist]
    a2a = "http://127.0.0.1:9000"
    description = "knows reactions"          # by default what its card says

A foreign agent is sent the step and what earlier steps gave, and nothing else of the team. Its task's id is on record before it is
waited for, so a team that was stopped or killed goes on waiting for the same one; a step that is cancelled cancels it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from heredity.errors import ConfigError, MissingExtraError
from heredity.team.agent import AgentFailedError, asked, shortened
from heredity.team.messages import Message
from heredity.team.participant import Context
from heredity.team.tools.bounded_http import bounded_transport

if TYPE_CHECKING:
    from a2a.client import Client
    from a2a.types.a2a_pb2 import AgentCard, Part, Task

_ANSWER = 60_000
_FIRST_S, _LAST_S = 0.05, 1.0
_SECONDS = 30.0
_FAILURES = 5


@dataclass(frozen=True)
class ForeignAgent:
    """What handles the tasks of an agent that is reached over A2A.

    Attributes:
        name: what the team calls it.
        url: where its card is found, at `/.well-known/agent-card.json` below it.
        token: what it is sent; it goes to the host of `url` alone, whatever the card says.
    """

    name: str
    url: str
    token: str = field(default="", repr=False)

    async def card(self) -> AgentCard:
        """Return its card.

        Raises:
            ForeignAgentError: if it does not answer.
            ConfigError: if what it answers is no card of an agent that can be used from here.
            MissingExtraError: if the package is missing.
        """
        async with self._client() as (_, card):
            return card

    async def __call__(self, message: Message, context: Context) -> dict[str, Any]:
        """Give it a step, wait for it, and return its answer.

        Raises:
            AgentFailedError: if it has none, or does not answer.
        """
        async with self._client() as (client, _):

            async def send() -> Any:
                return await self._send(client, asked(message.body))

            async def wait() -> Any:
                return await self._wait(client, sent["task"], context)

            # Nobody knows what it does, so it is not asked twice.
            sent = await context.once("a2a", send, repeatable=False)
            answer = sent["answer"] if "answer" in sent else await context.once("a2a-answer", wait)
            return {"answer": answer}

    async def _send(self, client: Client, text: str) -> dict[str, str]:
        from a2a.helpers.proto_helpers import get_message_text, new_text_message
        from a2a.types.a2a_pb2 import Role, SendMessageRequest

        request = SendMessageRequest(message=new_text_message(text, role=Role.ROLE_USER))
        request.configuration.return_immediately = True
        async for response in client.send_message(request):
            if response.HasField("message"):
                return {"answer": shortened(get_message_text(response.message), _ANSWER)}
            if response.HasField("task"):
                return {"task": response.task.id}
        raise AgentFailedError(f"{self.name} answered neither with a message nor with a task")

    async def _wait(self, client: Client, task_id: str, context: Context) -> str:
        from a2a.types.a2a_pb2 import CancelTaskRequest, GetTaskRequest, TaskState

        pause, failures, status_said = _FIRST_S, 0, ""
        try:
            while True:
                try:
                    task = await client.get_task(GetTaskRequest(id=task_id))
                except Exception:
                    failures += 1
                    if failures >= _FAILURES:
                        raise
                else:
                    failures = 0
                    if task.status.state not in (TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING):
                        return _answer(self.name, task)
                    now = _words(task.status.message.parts)[:1000]
                    if now and now != status_said:
                        status_said = now
                        await context.report({"text": now})
                await asyncio.sleep(pause)
                pause = min(_LAST_S, pause * 1.5)
        except asyncio.CancelledError:
            # A team that stops goes on waiting for it another time.
            if context.given_up:
                with suppress(Exception):
                    async with asyncio.timeout(1):
                        await client.cancel_task(CancelTaskRequest(id=task_id))
            raise

    @asynccontextmanager
    async def _client(self) -> AsyncGenerator[tuple[Client, AgentCard]]:
        if find_spec("a2a") is None:
            raise MissingExtraError(f"agents.{self.name}: an agent over A2A", "a2a")
        import httpx
        from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
        from a2a.client.errors import A2AClientError
        from a2a.utils.errors import A2AError

        headers = {"authorization": f"Bearer {self.token}"} if self.token else {}
        http = httpx.AsyncClient(
            headers=headers,
            transport=bounded_transport(httpx),
            timeout=_SECONDS,
            trust_env=False,
            follow_redirects=False,
        )
        async with http:
            try:
                card = await A2ACardResolver(http, self.url).get_agent_card()
                self._check(card)
                config = ClientConfig(streaming=False, polling=True, httpx_client=http)
                yield ClientFactory(config).create(card), card
            except (A2AClientError, A2AError, httpx.HTTPError, ValueError) as error:
                raise ForeignAgentError(
                    f"agents.{self.name}: the agent at {self.url} cannot be used: {error}"
                ) from error

    def _check(self, card: AgentCard) -> None:
        """Refuse a card that would have the token, and the task, sent elsewhere."""
        own = _origin(self.url)
        for interface in list(card.supported_interfaces):
            if _origin(interface.url) != own:
                card.supported_interfaces.remove(interface)
        if not card.supported_interfaces:
            raise ConfigError(
                f"agents.{self.name}.a2a: the card of the agent at {self.url} names no address of that host; "
                "give the address that the agent really has"
            )


class ForeignAgentError(AgentFailedError):
    """An agent of elsewhere does not answer."""


def _answer(name: str, task: Task) -> str:
    from a2a.types.a2a_pb2 import TaskState

    words = "\n\n".join(_words(artifact.parts) for artifact in task.artifacts) or _words(task.status.message.parts)
    if task.status.state != TaskState.TASK_STATE_COMPLETED:
        state = TaskState.Name(task.status.state).removeprefix("TASK_STATE_").lower()
        raise AgentFailedError(f"{name}: {state}: {shortened(words, 1000) or 'it does not say why'}")
    if not words.strip():
        raise AgentFailedError(f"{name} answered with nothing that is text")
    return shortened(words, _ANSWER)


def _words(parts: Any) -> str:
    from google.protobuf.json_format import MessageToDict

    def part_text(part: Part) -> str:
        return json.dumps(MessageToDict(part.data), ensure_ascii=False) if part.HasField("data") else part.text

    return "\n".join(filter(None, map(part_text, parts)))


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    ports: Mapping[str, int] = {"http": 80, "https": 443}
    return parts.scheme, parts.hostname, parts.port or ports.get(parts.scheme)
