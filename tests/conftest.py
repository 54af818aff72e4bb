from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest
from hypothesis import HealthCheck, settings

from heredity import plugins
from offering import Offer, entry_point

settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any-machine")  # how long an example takes says how busy the machine is


@pytest.fixture
def offer(monkeypatch: pytest.MonkeyPatch) -> Offer:
    real, offered = plugins._entries, dict[str, dict[str, EntryPoint]]()

    def made(group: str, name: str, thing: object) -> None:
        offered.setdefault(group, {})[name] = entry_point(group, name, thing)

    monkeypatch.setattr(plugins, "_entries", lambda group: {**real(group), **offered.get(group, {})})
    return made
