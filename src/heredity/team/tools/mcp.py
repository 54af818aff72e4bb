"""Servers of the Model Context Protocol whose tools are tools of agents (Autogenesis, section 4).

    async with McpServer("notes", Stdio(PipedCommand(("python3", "notes.py"), folder))) as server:
        tools = server.tools()          # TeamTools named notes_ADD, …

A server is a program that nobody of the team has written: one that is started by a command runs in the sandbox, without network
unless that is granted; its schemas are checked, its answers bounded in length and time. What it does wrong, crashing included, is
a text that says so for the agent that called it; a server that has ended is started again for the next call.
"""

from __future__ import annotations

import asyncio
import json
import re
import warnings
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol, cast

from heredity.actors.contract import ProvidedTool
from heredity.errors import ConfigError, HostError, MissingExtraError, UnknownNameError
from heredity.gateway import ToolSpec
from heredity.sandbox.piped import PipedCommand, started
from heredity.team.agent import TeamTool, shortened
from heredity.team.tools.bounded_http import bounded_transport
from heredity.team.tools.mcp_listing import parsed_line, sifted

if TYPE_CHECKING:
    import mcp.types as types
    from mcp import Client

SECONDS = 60.0
START_SECONDS = 30.0
MOST_TOOLS = 64
_DESCRIPTION = 1_000
_RESULT = 20_000
_NAME = 64
_REFUSED = 10
_HTTP_BYTES = 8 << 20
_LOST = (-32000, -32600)
"""Codes by which the package `mcp` says that a connection was closed, or a session ended: the next call opens another."""


class McpError(HostError):
    """A server of the Model Context Protocol cannot be used; the message names it."""


class Way(Protocol):
    """How a server is reached."""

    def open(self) -> AbstractAsyncContextManager[Any]:
        """Return what opens its two streams and yields them, with what is set when it has ended."""
        ...


@dataclass(frozen=True, slots=True)
class Stdio:
    """A server that is started in the sandbox and spoken to over its standard input and output."""

    command: PipedCommand
    unsafe: bool = False

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Any]:
        """Start it; raises IsolationError and ConfigError as `heredity.sandbox.piped.started` does."""
        import anyio
        from mcp.shared.message import SessionMessage

        async with started(self.command, unsafe=self.unsafe) as piped:
            ended = asyncio.Event()
            incoming, read = anyio.create_memory_object_stream[Any](16)
            write, outgoing = anyio.create_memory_object_stream[Any](16)

            async def listen() -> None:
                # A line that is too long or none of the protocol ends the connection: what follows it could be anything.
                with incoming:
                    try:
                        while line := await piped.reader.readline():
                            await incoming.send(SessionMessage(parsed_line(line)))
                    except (ValueError, ConnectionError, anyio.BrokenResourceError):
                        return
                    finally:
                        ended.set()

            async def speak() -> None:
                with outgoing:
                    try:
                        async for message in outgoing:
                            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                            piped.writer.write(text.encode() + b"\n")
                            await piped.writer.drain()
                    except (ConnectionError, RuntimeError):
                        return

            tasks = [asyncio.ensure_future(listen()), asyncio.ensure_future(speak())]
            try:
                yield (read, write), ended
            except Exception as error:
                raise _with_words(error, piped.last_words) from error
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                for stream in (incoming, read, write, outgoing):
                    stream.close()


@dataclass(frozen=True, slots=True)
class Http:
    """A server at an address, which is sent a token where there is one (streamable HTTP)."""

    url: str
    token: str = field(default="", repr=False)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Any]:
        """Connect to it; a redirect to elsewhere is not followed."""
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        headers = {"authorization": f"Bearer {self.token}"} if self.token else {}
        bounded = bounded_transport(httpx2)
        async with (
            httpx2.AsyncClient(headers=headers, transport=bounded, timeout=SECONDS, trust_env=False) as client,
            streamable_http_client(self.url, http_client=client, max_sse_event_size=_HTTP_BYTES) as streams,
        ):
            yield streams, asyncio.Event()


class McpServer:
    """A server of a team; entered with `async with`, which starts it.

    Args:
        name: the prefix of its tools.
        way: how it is reached.
        only: the tools that are offered; all if empty.
        descriptions: what models are told of a tool in place of what the server says.
        seconds: how long a call may take.

    Attributes:
        refused: tools that it lists and that are not offered: name to reason.
    """

    def __init__(
        self,
        name: str,
        way: Way,
        *,
        only: Sequence[str] = (),
        descriptions: Mapping[str, str] | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self.name = name
        self._way, self._only, self._seconds = way, tuple(only), seconds
        self._descriptions = dict(descriptions or {})
        self.refused: dict[str, str] = {}
        self._specs: dict[str, tuple[ToolSpec, bool]] = {}
        self._client: Client | None = None
        self._ended = asyncio.Event()
        self._owner: asyncio.Task[None] | None = None
        self._end = asyncio.Event()
        self._starting = asyncio.Lock()
        self._calls = 0
        self._elsewhere = False

    async def __aenter__(self) -> McpServer:
        if not installed():
            raise MissingExtraError("tools of servers of the Model Context Protocol", "mcp")
        try:
            client = await self._connected()
            async with asyncio.timeout(START_SECONDS):
                listed = await _all_tools(client)
            self._specs = self._checked(listed)
        except BaseException as error:
            await self._close()
            if isinstance(error, TimeoutError):
                raise McpError(
                    f"mcp.{self.name}: it did not answer within {START_SECONDS:g} s; look whether it runs"
                ) from error
            if isinstance(error, Exception) and not isinstance(error, ConfigError | HostError):
                raise McpError(f"mcp.{self.name}: its tools cannot be read: {_words(error)}") from error
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End it, until a tool is called again."""
        await self._close()

    def another(self, way: Way, *, elsewhere: bool = False) -> McpServer:
        """Return a server with the same tools that is reached another way, and started when one of them is called first.

        Args:
            way: how it is reached.
            elsewhere: whether somebody else runs it: that it cannot be reached is then an outage, and no result of a call.
        """
        server = McpServer(self.name, way, seconds=self._seconds)
        server._elsewhere = elsewhere
        server._specs = self._specs
        return server

    def tools(self, only: str = "") -> list[TeamTool]:
        """Return its tools, or the one that the server calls `only`.

        Raises:
            UnknownNameError: if it has no such tool.
            ConfigError: if it has, and the tool is refused.
        """
        self._check_offered([only] if only else [])
        if only and only not in self._specs:
            raise UnknownNameError(f"tool of mcp.{self.name}", only, self._specs)
        return [self._tool(own) for own in ([only] if only else self._specs)]

    def _tool(self, own: str) -> TeamTool:
        spec, repeatable = self._specs[own]

        async def run(arguments: Mapping[str, Any]) -> str:
            return await self._call(own, dict(arguments))

        return TeamTool(ProvidedTool(spec, run), repeatable)

    async def _call(self, own: str, arguments: dict[str, Any]) -> str:
        self._calls += 1
        try:
            client = await self._connected()
            async with asyncio.timeout(self._seconds):
                return _shown(await client.call_tool(own, arguments))
        except TimeoutError:
            if self._calls == 1:
                # It may hang for good: the next call starts it again. Where others wait for it, their answers say whether it does.
                self._ended.set()
            return f"error: {self.name} gave no answer within {self._seconds:g} s"
        except Exception as error:
            if getattr(error, "code", 0) in _LOST:
                self._ended.set()
                if self._elsewhere:
                    await self._connected()
            elif self._elsewhere and isinstance(error, McpError):
                raise
            return f"error: {self.name}: {shortened(_words(error), 2000)}"
        finally:
            self._calls -= 1

    async def _connected(self) -> Client:
        async with self._starting:
            if self._client is None or self._ended.is_set():
                await self._close()
                ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
                self._end = asyncio.Event()
                # A task of its own: what it enters, it leaves, whoever calls in between.
                self._owner = asyncio.create_task(self._own(ready, self._end), name=f"mcp {self.name}")
                client = await asyncio.wait_for(asyncio.shield(ready), START_SECONDS)
                self._client = client
                return client
            return self._client

    async def _own(self, ready: asyncio.Future[Client], end: asyncio.Event) -> None:
        from mcp import Client

        try:
            async with (
                self._way.open() as (streams, self._ended),
                sifted(streams, self.refused) as sound,
                Client(nullcontext(sound), read_timeout_seconds=self._seconds, cache=None) as client,
            ):
                ready.set_result(client)
                waits = [asyncio.ensure_future(self._ended.wait()), asyncio.ensure_future(end.wait())]
                try:
                    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for wait in waits:
                        wait.cancel()
        except (ConfigError, HostError) as error:
            _fail(ready, error)
        except Exception as error:  # noqa: BLE001 - as in `_call`
            _fail(ready, McpError(f"mcp.{self.name} cannot be used: {_words(error)}"))
        finally:
            self._client = None
            _fail(ready, McpError(f"mcp.{self.name} ended before it answered"))

    async def _close(self) -> None:
        self._end.set()
        owner, self._owner, self._client = self._owner, None, None
        if owner is not None:
            done, _ = await asyncio.wait({owner}, timeout=10)
            if not done:
                owner.cancel()
                await asyncio.wait({owner}, timeout=5)

    def _checked(self, listed: Sequence[types.Tool]) -> dict[str, tuple[ToolSpec, bool]]:
        names = {tool.name for tool in listed}
        self._check_offered([*self._only, *self._descriptions])
        for wanted in (*self._only, *self._descriptions):
            if wanted not in names:
                raise ConfigError(f"mcp.{self.name}: {UnknownNameError('tool of the server', wanted, names)}")
        chosen = [tool for tool in listed if not self._only or tool.name in self._only]
        if len(chosen) > MOST_TOOLS:
            raise ConfigError(
                f"mcp.{self.name} has {len(chosen)} tools; at most {MOST_TOOLS} can be offered: name some as mcp.{self.name}.tools"
            )
        specs: dict[str, tuple[ToolSpec, bool]] = {}
        for tool in chosen:
            spec = self._spec(tool)
            if any(spec.name == other.name for other, _ in specs.values()):
                self.refused[tool.name] = f"another tool before it is called {spec.name!r} too"
                continue
            hints = tool.annotations
            specs[tool.name] = spec, bool(hints and (hints.read_only_hint or hints.idempotent_hint))
        self._report_refused(specs)
        return specs

    def _check_offered(self, wanted: Sequence[str]) -> None:
        for name in wanted:
            if name in self.refused and name not in self._specs:
                raise ConfigError(
                    f"mcp.{self.name}: its tool {name!r:.80} is not offered: {self.refused[name]}; correct it in the server"
                )

    def _report_refused(self, offered: Mapping[str, Any]) -> None:
        if not self.refused:
            return
        reasons = "; ".join(f"{name!r}: {reason}" for name, reason in list(self.refused.items())[:_REFUSED])
        if not offered:
            raise ConfigError(
                f"mcp.{self.name} has no tool that can be offered ({reasons}); correct them in the server"
            )
        warnings.warn(f"mcp.{self.name}: {len(self.refused)} of its tools are not offered ({reasons})", stacklevel=3)

    def _spec(self, tool: types.Tool) -> ToolSpec:
        own = re.sub(r"[^A-Za-z0-9_-]", "_", f"{self.name}_{tool.name}")[:_NAME]
        words = "".join(c if c.isprintable() or c in "\n\t" else " " for c in tool.description or "").strip()
        description = self._descriptions.get(tool.name) or shortened(words, _DESCRIPTION)
        return ToolSpec(own, description or f"{tool.name} of {self.name}", dict(tool.input_schema))


def installed() -> bool:
    """Return whether the package that speaks the protocol is installed."""
    return find_spec("mcp") is not None


async def _all_tools(client: Client) -> list[types.Tool]:
    tools: list[types.Tool] = []
    cursor: str | None = None
    while True:
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if not cursor or len(tools) > 10 * MOST_TOOLS:
            return tools


def _shown(result: types.CallToolResult) -> str:
    """Return a result as a text of bounded length."""
    pieces: list[str] = []
    for block in result.content:
        if block.type == "text":
            pieces.append(block.text)
        else:
            data = cast("str", getattr(block, "data", ""))
            pieces.append(
                f"[{block.type} {getattr(block, 'mime_type', '') or ''}, {len(data) * 3 // 4:,} bytes: not shown]"
            )
    if result.structured_content is not None and not any(pieces):
        pieces.append(json.dumps(result.structured_content, ensure_ascii=False))
    text = shortened("\n".join(pieces).encode("utf-8", "replace").decode(), _RESULT)
    return f"error: {text}" if result.is_error else text or "(no output)"


def _fail(ready: asyncio.Future[Any], error: Exception) -> None:
    if not ready.done():
        ready.set_exception(error)
        ready.exception()


def _words(error: BaseException) -> str:
    """Return what went wrong, of a group the first of it, with what the server said last."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = cast("BaseException", error.exceptions[0])
    return str(error) or type(error).__name__


def _with_words(error: Exception, words: str) -> Exception:
    if isinstance(error, ConfigError | HostError) or not words:
        return error
    return McpError(f"{_words(error)}; it said: {words[-500:]}")
