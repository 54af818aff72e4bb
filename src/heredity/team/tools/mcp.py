"""Servers of the Model Context Protocol whose tools are tools of agents (Autogenesis, section 4).

    async with McpServer("notes", Stdio(PipedCommand(("python3", "notes.py"), folder))) as server:
        tools = server.tools()          # TeamTools named notes_ADD, …

Servers are untrusted: one started by a command runs in the sandbox (without network unless granted); its schemas are
checked, its answers bounded in length and time. Its errors, crashes included, become a text for the calling agent;
the next call restarts a server that has ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import warnings
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, cast

from heredity._core.errors import ConfigError, HostError, MissingExtraError, UnknownNameError
from heredity.engine.actor import ProvidedTool
from heredity.engine.schemas import schema_fault
from heredity.models import ToolSpec
from heredity.sandbox.piped import PipedCommand, started
from heredity.team.agent import TeamTool, shortened

if TYPE_CHECKING:
    import mcp.types as types
    from mcp import Client

MOST_BYTES = 32 << 20


def bounded_transport(http: ModuleType, most: int = MOST_BYTES) -> Any:
    """Return a transport whose responses raise an error beyond a number of bytes.

    Args:
        http: the package `httpx`, or `httpx2`.
        most: size limit of one response, in bytes.
    """

    class Counted(http.AsyncByteStream):
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncGenerator[bytes]:
            size = 0
            async for chunk in self._stream:
                size += len(chunk)
                if size > most:
                    raise http.ReadError(f"the answer is larger than {most:,} bytes")
                yield chunk

        async def aclose(self) -> None:
            await self._stream.aclose()

    class Bounded(http.AsyncHTTPTransport):
        async def handle_async_request(self, request: Any) -> Any:
            # A packed response would be counted packed, and could be a thousand times as large unpacked.
            request.headers["accept-encoding"] = "identity"
            response = await super().handle_async_request(request)
            if response.headers.get("content-encoding", "identity").lower() != "identity":
                await response.aclose()
                raise http.ReadError("the answer is packed, which was not asked for")
            response.stream = Counted(response.stream)
            return response

    return Bounded()


MOST_SCHEMA = 16_384
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


@asynccontextmanager
async def sifted(streams: Any, refused: dict[str, str]) -> AsyncGenerator[Any]:
    """Yield the streams of a server, with malformed tools removed from its lists.

    Args:
        streams: the server's output and input.
        refused: filled with the removed tools: name to reason.
    """
    import anyio

    read, write = streams
    send, receive = anyio.create_memory_object_stream[Any](16)

    async def pump() -> None:
        with send, contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for message in read:
                _sift(message, refused)
                await send.send(message)

    task = asyncio.ensure_future(pump())
    try:
        yield receive, write
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        receive.close()


def parsed_line(line: bytes) -> Any:
    """Parse a message of the protocol; half of a surrogate pair in it becomes a question mark.

    Raises:
        ValueError: if the line is not one.
    """
    from mcp.types import jsonrpc_message_adapter

    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        whole = json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8", "replace")
        return jsonrpc_message_adapter.validate_json(whole, by_name=False)


def _sift(message: Any, refused: dict[str, str]) -> None:
    result: Any = getattr(getattr(message, "message", None), "result", None)
    if not isinstance(result, dict) or "content" in result or not isinstance(result.get("tools"), list):
        return
    listing, kept = cast("dict[str, Any]", result), list[dict[str, Any]]()
    for number, tool in enumerate(listing["tools"], 1):
        if reason := _fault(tool):
            name = tool.get("name") if isinstance(tool, dict) else None
            printable = "".join(c if c.isprintable() else " " for c in reason)
            refused[name[:80] if isinstance(name, str) and name else f"number {number}"] = printable
        else:
            kept.append(_well_formed(tool))
    listing["tools"] = kept


def _fault(tool: Any) -> str:
    """Return the reason a tool cannot be offered; empty if it can."""
    if not isinstance(tool, dict):
        return "it is no object"
    about = cast("dict[str, Any]", tool)
    if not isinstance(about.get("name"), str) or not about["name"].strip():
        return "it has no name"
    if "inputSchema" not in about:
        return "it has no inputSchema"
    for key in ("inputSchema", "outputSchema"):
        schema = about.get(key)
        if schema is None and key == "outputSchema":
            continue
        if not isinstance(schema, dict) or cast("dict[str, Any]", schema).get("type") != "object":
            return f"its {key} is no schema of an object"
        if reason := _schema_fault(cast("dict[str, Any]", schema)):
            return f"its {key} {reason}"
    return ""


def _schema_fault(schema: dict[str, Any]) -> str:
    try:
        size = len(json.dumps(schema))
    except RecursionError:
        return "is nested too deeply"
    return f"is larger than {MOST_SCHEMA} bytes" if size > MOST_SCHEMA else schema_fault(schema)


def _well_formed(tool: dict[str, Any]) -> dict[str, Any]:
    """Return a tool with the fields in use only, so that its other fields cannot invalidate it."""
    kept = {key: tool[key] for key in ("name", "inputSchema", "outputSchema") if tool.get(key) is not None}
    if isinstance(tool.get("description"), str):
        kept["description"] = tool["description"]
    if isinstance(hints := tool.get("annotations"), dict):
        kept["annotations"] = {name: hints[name] for name in _HINTS if isinstance(hints.get(name), bool)}
    return kept


SECONDS = 60.0
START_SECONDS = 30.0
MOST_TOOLS = 64
_DESCRIPTION = 1_000
_RESULT = 20_000
_NAME = 64
_REFUSED = 10
_HTTP_BYTES = 8 << 20
_LOST = (-32000, -32600)
"""Codes of the package `mcp` for a closed connection or an ended session: the next call opens another."""


class McpError(HostError):
    """A server of the Model Context Protocol cannot be used; the message names it."""


class Way(Protocol):
    """Connection to a server."""

    def open(self) -> AbstractAsyncContextManager[Any]:
        """Open the connection; yields its two streams and an event set at its end."""
        ...


@dataclass(frozen=True, slots=True)
class Stdio:
    """A server started in the sandbox, over standard input and output."""

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
                # A line that is too long or not of the protocol ends the connection: anything could follow it.
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
    """A server at an address, with an optional token (streamable HTTP)."""

    url: str
    token: str = field(default="", repr=False)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Any]:
        """Connect to it; redirects to other hosts are not followed."""
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
    """A server of a team; `async with` starts it.

    Args:
        name: the prefix of its tools.
        way: its connection.
        only: the offered tools (all if empty).
        descriptions: descriptions of tools for models, replacing the server's.
        seconds: timeout of a call.

    Attributes:
        refused: listed tools that are not offered: name to reason.
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
        """End it until a tool is called again."""
        await self._close()

    def another(self, way: Way, *, elsewhere: bool = False) -> McpServer:
        """Return a server with the same tools over another connection, started when one of them is first called.

        Args:
            way: the connection (a command or an address).
            elsewhere: another party runs it, so that an unreachable server is an outage and not a call's result.
        """
        server = McpServer(self.name, way, seconds=self._seconds)
        server._elsewhere = elsewhere
        server._specs = self._specs
        return server

    def tools(self, only: str = "") -> list[TeamTool]:
        """Return its tools, or the one named `only` by the server.

        Raises:
            UnknownNameError: if the tool does not exist.
            ConfigError: if the tool is refused.
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
                return _format_result(await client.call_tool(own, arguments))
        except TimeoutError:
            if self._calls == 1:
                # It may hang forever: the next call restarts it. If other calls wait, their answers show whether it
                # hangs.
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
                # A separate task: contexts it enters are left in it, even with calls in between.
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
        except Exception as error:  # noqa: BLE001 - whatever a server does, its tools are refused with a reason
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
    """Return whether the protocol's package is installed."""
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


def _format_result(result: types.CallToolResult) -> str:
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
    """Describe an error (the first of a group), with the last output of the server."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = cast("BaseException", error.exceptions[0])
    return str(error) or type(error).__name__


def _with_words(error: Exception, words: str) -> Exception:
    if isinstance(error, ConfigError | HostError) or not words:
        return error
    return McpError(f"{_words(error)}; it said: {words[-500:]}")
