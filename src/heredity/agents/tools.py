"""Tools of an outside agent: served by this process in addition to its session, with each call recorded.

An agent's sandbox has no network access. These tools are its only way to the web, to documents and to servers, and
follow the configuration's rules.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.spans import span
from heredity.agents.app import RefusedError, json_answer, read_object
from heredity.engine.actor import ProvidedTool
from heredity.engine.schemas import check_arguments
from heredity.records.events import AgentTool

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
