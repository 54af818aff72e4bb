"""Asks a provider's server what it serves: the names of its models, and the context it gives one of them.

Nothing here calls a model. Servers that do not say are no error.
"""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any, cast
from urllib.parse import urlsplit

from heredity.models.settings import CLIENTS, Client, ProviderSettings

_CONNECT_S = 5.0
_MOST_BYTES = 1 << 24
_ADDRESSES = {
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
    "mistral": "https://api.mistral.ai",
    "openrouter": "https://openrouter.ai/api/v1",
}
"""Addresses of kinds that need no `base_url`."""

_LISTS = {
    "anthropic": ("/v1/models?limit=1000", "x-api-key"),
    "google": ("/v1beta/models?pageSize=1000", "x-goog-api-key"),
    "mistral": ("/v1/models", ""),
}
"""Kind to the path of its list of models, and the header of its key where it is not a bearer token."""

_CONTEXTS = (
    "loaded_context_length",  # LM Studio
    "max_model_len",  # vLLM
    "context_length",  # OpenRouter, Ollama
    "context_window",  # Groq
    "max_context_length",  # Mistral
    "max_input_tokens",  # Anthropic, LiteLLM
    "inputTokenLimit",  # Google
)
"""Fields of a model's entry that hold its context, in tokens."""


@dataclass(frozen=True, slots=True)
class Served:
    """A server's statement.

    Attributes:
        names: names of its models; empty if it has no list.
        context: tokens of the model's context; None if it does not say.
        source: path that gave the context.
    """

    names: tuple[str, ...] = ()
    context: int | None = None
    source: str = ""


def ask_server(provider: ProviderSettings, model: str) -> Served:
    """Ask a provider's server for its models and for a model's context, with at most four requests, each of 5 s."""
    base = (provider.base_url or _ADDRESSES.get(provider.kind, "")).rstrip("/")
    if not base:
        return Served()
    if provider.kind == "azure" and not base.endswith("/v1"):
        base += "/openai/v1"
    path, header = _LISTS.get(provider.kind, ("/models", ""))
    entries = {name: entry for entry in _entries(_get(base + path, provider, header)) for name in _names_of(entry)}
    names = tuple(entries)
    compatible = CLIENTS.get(provider.kind, Client("openai")).module == "openai" and base.endswith("/v1")
    local = not provider.api_key_env or urlsplit(base).hostname in ("127.0.0.1", "localhost", "::1")
    for root, field in _OWN if compatible and local else ():
        context = _context_at(base.removesuffix("/v1") + root, field, provider, model)
        if context is not None:
            return Served(names, context, root)
    return Served(names, _context_of(entries.get(model, {})), path.partition("?")[0])


_OWN = (
    ("/api/ps", ""),  # Ollama: models in memory, with the context they were loaded with
    ("/api/v0/models", ""),  # LM Studio
    ("/props", "n_ctx"),  # llama.cpp: one model
)
"""Paths at which local servers tell the context that a model really runs with, and the field if there is no list."""


def _context_at(address: str, field: str, provider: ProviderSettings, model: str) -> int | None:
    answer = _get(address, provider, "")
    if field:
        inner = answer.get("default_generation_settings")
        value = cast("Mapping[str, Any]", inner).get(field) if isinstance(inner, Mapping) else None
        return value if isinstance(value, int) else None
    same = {model, f"{model}:latest"}
    return next((_context_of(entry) for entry in _entries(answer) if not same.isdisjoint(_names_of(entry))), None)


def _context_of(entry: Mapping[str, Any]) -> int | None:
    values = (entry.get(field) for field in _CONTEXTS)
    return next((value for value in values if isinstance(value, int) and value > 0), None)


def _entries(answer: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    listed = next((answer[key] for key in ("data", "models") if isinstance(answer.get(key), list)), [])
    yield from (cast("Mapping[str, Any]", entry) for entry in listed if isinstance(entry, Mapping))


def _names_of(entry: Mapping[str, Any]) -> Iterator[str]:
    for key in ("id", "name", "model"):
        if isinstance(name := entry.get(key), str):
            yield name.removeprefix("models/")
            return


def _get(address: str, provider: ProviderSettings, header: str) -> Mapping[str, Any]:
    """Return the JSON object at an address; an empty one for anything else."""
    key = os.environ.get(provider.api_key_env, "") if provider.api_key_env else ""
    request = urllib.request.Request(address, headers={"User-Agent": "heredity"})
    if key:
        # Redirects are not followed with the key: it would be sent to another server.
        request.add_unredirected_header(header or "Authorization", key if header else f"Bearer {key}")
        if provider.kind == "anthropic":
            request.add_header("anthropic-version", "2023-06-01")
    try:
        with urllib.request.urlopen(request, timeout=_CONNECT_S) as answer:
            read = json.loads(answer.read(_MOST_BYTES))
    except (OSError, HTTPException, ValueError):
        return {}
    return cast("Mapping[str, Any]", read) if isinstance(read, dict) else {}
