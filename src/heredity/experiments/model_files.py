"""Digests of models named by a path and of files that tools use: equal names may have different content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from heredity._core.errors import ConfigError
from heredity._core.ids import canonical_json, digest_bytes
from heredity.configuration.config import Config


def model_files(config: Config, more: Iterable[str] = ()) -> dict[str, str]:
    """Return the digest of each model that is a file or folder, such as that of `scripted/rules.toml`.

    Folders of documents and servers that solvers' tools use are included under their configuration keys.

    Args:
        config: names the execution model, judge and routes.
        more: further models.

    Raises:
        ConfigError: if one cannot be read.
    """
    gateway = config.gateway
    routed = (model for route in gateway.routes.values() for model in route.models)
    names = dict.fromkeys(name for name in (gateway.execution, gateway.judge, *routed, *more) if name)
    paths = {name: Path(name.partition("/")[2]) for name in names if "/" in name}
    given = {
        key: Path(value)
        for key, value in config.tools.conditions().items()
        if key in ("corpus.folder", *_folders(config))
    }
    return {name: digest_of(path) for name, path in {**paths, **given}.items() if path.exists()}


def _folders(config: Config) -> list[str]:
    return [f"mcp.{name}.folder" for name in config.tools.servers]


def digest_of(path: Path) -> str:
    """Return the digest of a file's or folder's content.

    Raises:
        ConfigError: if it cannot be read.
    """
    try:
        files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
        seen = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
        return _read(str(path), tuple(seen))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}; make it readable") from error


@lru_cache(maxsize=256)
def _read(path: str, files: Sequence[tuple[str, int, int]]) -> str:
    """Return the digest of all files. They are read again only if sizes or times change, as weights are large."""
    held: list[tuple[str, str]] = []
    for name, _, _ in files:
        with open(name, "rb") as file:
            held.append((name.removeprefix(path), hashlib.file_digest(file, "sha256").hexdigest()))
    return digest_bytes(canonical_json(held))
