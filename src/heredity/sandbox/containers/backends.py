"""Backends of containers by name, built-in and from other packages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from heredity._core.plugins import Group
from heredity.sandbox.containers.contract import Backend

BACKENDS: Group[Callable[[], Backend]] = Group(
    "heredity.sandboxes", "backend of containers", "a function without arguments that returns a Backend", callable
)
"""Backends for container tasks: `"bubblewrap"`, `"docker"` (Docker or Podman, whichever answers), and those of
packages.
"""


@asynccontextmanager
async def open_backend(name: str) -> AsyncGenerator[Backend]:
    """Open a backend by name, and close it when the block ends.

    Raises:
        UnknownNameError: if the name is unknown.
        ConfigError: if it cannot be loaded, or no engine answers.
        IsolationError: if this machine cannot isolate it.
    """
    # It may search for an engine, which takes a while.
    backend = await asyncio.to_thread(BACKENDS.load(name))
    try:
        yield backend
    finally:
        await backend.close()
