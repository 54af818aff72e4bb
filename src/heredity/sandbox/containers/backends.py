"""Backends of containers by name."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from heredity.errors import ConfigError
from heredity.sandbox.containers.contract import Backend
from heredity.sandbox.containers.docker import DockerBackend, engine
from heredity.sandbox.containers.replay import BubblewrapBackend

BACKENDS = ("bubblewrap", "docker")
"""Where tasks can be run; `"docker"` is Docker or Podman, whichever answers."""


@asynccontextmanager
async def open_backend(name: str) -> AsyncGenerator[Backend]:
    """Open a backend by name; it is closed when the block ends.

    Raises:
        ConfigError: if it is none of `BACKENDS`, or no engine answers.
    """
    if name not in BACKENDS:
        raise ConfigError(f"backend is {name!r}; expected {' or '.join(BACKENDS)}")
    backend = BubblewrapBackend() if name == "bubblewrap" else DockerBackend(await asyncio.to_thread(engine))
    try:
        yield backend
    finally:
        await backend.close()
