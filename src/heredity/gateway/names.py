"""Models by name: PROVIDER/MODEL, scripted/…, replay/…, local/…, offline/…, and whatever installed packages offer.

All but providers are found through the entry point group `heredity.models`. An entry's name is what its models' names begin
with, up to the first slash; it loads a callable `open_model(rest, settings)` that returns a model.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from heredity.errors import ConfigError, UnknownNameError
from heredity.gateway.contract import Model
from heredity.gateway.providers import provider_model
from heredity.gateway.settings import MODELS, WELL_KNOWN, GatewaySettings


def resolve(name: str, settings: GatewaySettings | None = None) -> Model:
    """Return a model by its full name, with nothing around it.

    Raises:
        UnknownNameError: if nothing is called so; the nearest names are suggested.
        ConfigError: if it cannot be opened as configured, or the package that offers it fails to load.
        MissingExtraError: if it needs an optional dependency.
    """
    settings = settings or GatewaySettings()
    first, _, rest = name.partition("/")
    if first and rest:
        provider = settings.provider(name)
        if provider is not None:
            return provider_model(name, provider)
        if first in MODELS:
            return _loaded(first, rest, settings)
    raise UnknownNameError("model", name, [f"{kind}/{rest or 'MODEL'}" for kind in known_kinds(settings)])


def known_kinds(settings: GatewaySettings | None = None) -> tuple[str, ...]:
    """Return what names of models may begin with, sorted."""
    configured: Iterable[str] = settings.providers if settings else ()
    return tuple(sorted({*MODELS.names(), *WELL_KNOWN, *configured}))


def _loaded(kind: str, rest: str, settings: GatewaySettings) -> Model:
    model: Any = MODELS.load(kind)(rest, settings)
    if not (hasattr(model, "reply") and hasattr(model, "name")):
        raise ConfigError(
            f"{kind}/{rest} opened {type(model).__name__}, which is no model: a model has name and reply(request); "
            "repair or uninstall its package"
        )
    return model
