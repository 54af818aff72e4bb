"""Models by name: PROVIDER/MODEL, scripted/…, replay/…, local/…, offline/…, and whatever installed packages offer.

A package plugs in through the entry point group `heredity.models`. An entry's name is what its models' names begin with, up to the
first slash; it loads a callable `open_model(rest, settings)` that returns a model.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from heredity.errors import ConfigError, UnknownNameError
from heredity.gateway.contract import Model
from heredity.gateway.providers import provider_model
from heredity.gateway.settings import OWN_KINDS, WELL_KNOWN, GatewaySettings

GROUP = "heredity.models"
"""Entry point group of outside packages."""


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
        if first in _own_kinds():
            return importlib.import_module(f"heredity.gateway.{first}").open_model(rest, settings)
        provider = settings.providers.get(first) or WELL_KNOWN.get(first)
        if provider is not None:
            return provider_model(name, provider)
        if (plugin := _plugins().get(first)) is not None:
            return _loaded(plugin, rest, settings)
    raise UnknownNameError("model", name, [f"{known}/{rest or 'MODEL'}" for known in known_kinds(settings)])


def known_kinds(settings: GatewaySettings | None = None) -> tuple[str, ...]:
    """Return what names of models may begin with, sorted."""
    configured: Iterable[str] = settings.providers if settings else ()
    return tuple(sorted({*_own_kinds(), *WELL_KNOWN, *configured, *_plugins()}))


def _own_kinds() -> list[str]:
    return [kind for kind in OWN_KINDS if importlib.util.find_spec(f"heredity.gateway.{kind}") is not None]


def _plugins() -> dict[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=GROUP):
        known = found.get(entry.name)
        if (known is not None and known.value != entry.value) or entry.name in (*OWN_KINDS, *WELL_KNOWN):
            other = known.value if known is not None else "Heredity itself"
            raise ConfigError(
                f"two packages offer models named {entry.name}/…: {other} and {entry.value}; uninstall one"
            )
        found[entry.name] = entry
    return found


def _loaded(entry: EntryPoint, rest: str, settings: GatewaySettings) -> Model:
    try:
        open_model = entry.load()
    except Exception as error:
        raise ConfigError(
            f"the plugin {entry.name!r} ({entry.value}, group {GROUP}) failed to load: {error!r}; fix or uninstall it"
        ) from error
    if not callable(open_model):
        raise ConfigError(
            f"the plugin {entry.name!r} ({entry.value}, group {GROUP}) is {type(open_model).__name__}, "
            "but must be a callable open_model(rest, settings) that returns a model"
        )
    model: Any = open_model(rest, settings)
    if not (hasattr(model, "reply") and hasattr(model, "name")):
        raise ConfigError(
            f"the plugin {entry.name!r} ({entry.value}) returned {type(model).__name__}, which is no model: "
            "a model has name and reply(request)"
        )
    return model
