"""Backends of containers by name, from here and from other packages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from heredity.plugins import Group
from heredity.sandbox.containers.contract import Backend

BACKENDS: Group[Callable[[], Backend]] = Group(
    "heredity.sandboxes", "backend of containers", "a function without arguments that returns a Backend", callable
)
"""Where container tasks can be run: `"bubblewrap"`, `"docker"` (Docker or Podman, whichever answers), and what packages add."""


@asynccontextmanager
async def open_backend(name: str) -> AsyncGenerator[Backend]:
    """Open a backend by name; it is closed when the block ends.

    Raises:
        UnknownNameError: if there is none of that name.
        ConfigError: if it cannot be loaded, or no engine answers.
        IsolationError: if this machine cannot isolate it.
    """
    # It may look for an engine, which takes a while.
    backend = await asyncio.to_thread(BACKENDS.load(name))
    try:
        yield backend
    finally:
        await backend.close()
