"""The gateway: models by name or role, with everything around them that the configuration asks for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self, cast

from heredity.errors import ConfigError, UnknownNameError
from heredity.gateway.cache import Cached
from heredity.gateway.contract import Model, Request
from heredity.gateway.layers import close
from heredity.gateway.limits import Limited
from heredity.gateway.meter import Meter, Metered, SpendLimits
from heredity.gateway.names import known_kinds, resolve
from heredity.gateway.reply_store import ReplyStore
from heredity.gateway.retry import Retrying
from heredity.gateway.routing import Routed
from heredity.gateway.settings import ROLES, GatewaySettings, stand_in
from heredity.gateway.transcripts import Transcribed
from heredity.ids import digest_json


class Gateway:
    """All models of a run.

    Around every model are, from the outside in: transcripts and spans, routes, the cache, retries, the limit of calls at once, the
    meter. `docs/gateway.md` says why in this order. Event loops may use a gateway one after the other, but
    not two at once.

    Args:
        settings: the configuration.
        sink: takes the transcript of every call, as bytes; None for none.
        namespace: gateways of different namespaces share no cached replies: judging has one of its own. So has the role `judge`.
        entropy: what the waits between retries are drawn from.
        resolver: opens a model by its full name.

    Attributes:
        settings: the configuration.
        meter: what was used, by purpose and model.
    """

    def __init__(
        self,
        settings: GatewaySettings | None = None,
        *,
        sink: Callable[[bytes], None] | None = None,
        namespace: str = "",
        entropy: int = 0,
        resolver: Callable[[str, GatewaySettings], Model] = resolve,
    ) -> None:
        self.settings = settings or GatewaySettings()
        self.meter = Meter()
        self._sink, self._namespace, self._entropy, self._resolver = sink, namespace, entropy, resolver
        self._store = _store(self.settings.cache)
        self._models: dict[tuple[str, str], Model] = {}
        self._legs: dict[str, Model] = {}
        self._opened: list[Model] = []

    def model(self, name_or_role: str) -> Model:
        """Return a model by its name (`"openai/gpt-5-mini"`), a route's name, or its role (`"execution"`).

        The same name gives the same model. It is opened, but not asked.

        Raises:
            UnknownNameError: if nothing is called so; the nearest names are suggested.
            ConfigError: if no model is configured for the role, or the model cannot be opened as configured.
            MissingExtraError: if it needs an optional dependency.
        """
        name, namespace = self._named(name_or_role), self._namespace
        if name_or_role == "judge":
            namespace += "/judge"
        if (name, namespace) not in self._models:
            self._models[name, namespace] = Transcribed(self._core(name, namespace), self._sink)
        return self._models[name, namespace]

    def explain(self, name_or_role: str, request: Request) -> str:
        """Say for people whether and why the cache would answer a request: one line for each model that may be asked."""
        core = cast("Transcribed", self.model(name_or_role)).model
        backends = core.models if isinstance(core, Routed) else (core,)
        return "\n".join(
            f"{backend.name}: {backend.explain(request) if isinstance(backend, Cached) else 'off'}"
            for backend in backends
        )

    async def close(self) -> None:
        """Close all models and the cache."""
        for model in self._opened:
            await close(model)
        for models in (self._opened, self._legs, self._models):
            models.clear()
        if self._store is not None:
            self._store.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _named(self, name_or_role: str) -> str:
        name = name_or_role
        if name in ROLES:
            name = str(getattr(self.settings, name))
            if not name:
                raise ConfigError(f"no model is configured for the role {name_or_role}; set gateway.{name_or_role}")
        if "/" in name or name in self.settings.routes:
            return name
        kinds = [f"{kind}/MODEL" for kind in known_kinds(self.settings)]
        raise UnknownNameError("model, route or role", name, [*self.settings.routes, *ROLES, *kinds])

    def _core(self, name: str, namespace: str) -> Model:
        route = self.settings.routes.get(name)
        if route is None:
            return self._cached(name, namespace)
        if nested := [backend for backend in route.models if backend in self.settings.routes]:
            raise ConfigError(
                f"the route {name!r} leads to another route, {nested[0]!r}; name that one's models instead"
            )
        return Routed(name, [self._cached(backend, namespace) for backend in route.models], route.policy)

    def _cached(self, name: str, namespace: str) -> Model:
        backend = self._backend(name)
        # Stand-ins answer at once from files that people edit: a cache of them would only be stale.
        if self._store is None or stand_in(name):
            return backend
        provider = self.settings.provider(name)
        salt = digest_json([namespace, provider.identity if provider else ""])
        return Cached(backend, self._store, salt=salt, sampled=self.settings.cache_sampled)

    def _backend(self, name: str) -> Model:
        """Return one model with what is around it whoever asks: its places and its accounts are shared."""
        if name not in self._legs:
            s = self.settings
            opened = self._resolver(name, s)
            self._opened.append(opened)
            metered = Metered(opened, self.meter, SpendLimits(s.max_tokens, s.max_cost_usd, s.max_calls))
            provider = s.provider(name)
            timeout_s = (provider and provider.timeout_s) or s.timeout_s
            limited = Limited(metered, concurrent=s.concurrent, timeout_s=timeout_s)
            self._legs[name] = Retrying(limited, attempts=s.attempts, longest_s=timeout_s, entropy=self._entropy)
        return self._legs[name]


def _store(cache: bool | str) -> ReplyStore | None:
    if not cache:
        return None
    return ReplyStore(default_cache_path() if cache is True else Path(cache).expanduser())


def default_cache_path() -> Path:
    """Return where `cache = true` keeps replies: `heredity/replies.sqlite` in the user's cache folder."""
    folder = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(folder) / "heredity" / "replies.sqlite"
