"""Size limit on the responses of untrusted servers."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from types import ModuleType
from typing import Any

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
