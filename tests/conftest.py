from __future__ import annotations

import gc
import hashlib
import os
import secrets
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, settings
from tests.offering import Offer, entry_point

from heredity._core import plugins
from heredity.session import cases

settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any-machine")  # how long an example takes says how busy the machine is
settings.register_profile("every-run", parent=settings.get_profile("any-machine"), max_examples=30)


os.environ["HEREDITY_CONFIG"] = ""  # the settings of whoever runs the tests are not theirs


def pytest_configure(config: pytest.Config) -> None:
    """Where slow tests are left out, try fewer examples of each property as well."""
    if "not slow" in config.option.markexpr:
        settings.load_profile("every-run")


def pytest_collection_finish() -> None:
    # Thousands of tests live until the end: the collector of garbage need not walk them each time.
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test with `fast(count)`, keep so many of its parameters for every run, spread evenly; the others are slow."""
    alike: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("fast"):
            alike.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for group in alike.values():
        (count,) = group[0].get_closest_marker("fast").args
        kept = {number * len(group) // count for number in range(count)}
        for number, item in enumerate(group):
            if number not in kept:
                item.add_marker(pytest.mark.slow)


@pytest.fixture
def offer(monkeypatch: pytest.MonkeyPatch) -> Offer:
    real, offered = plugins._entries, dict[str, dict[str, EntryPoint]]()

    def made(group: str, name: str, thing: object) -> None:
        offered.setdefault(group, {})[name] = entry_point(group, name, thing)

    monkeypatch.setattr(plugins, "_entries", lambda group: {**real(group), **offered.get(group, {})})
    return made


@pytest.fixture(scope="session", autouse=True)
def drawn_by_name() -> Iterator[None]:
    """Draw hidden cases from the name of the test instead of the system's entropy: no test of this process passes by luck."""
    drawn = Counter[str]()

    def token_bytes(count: int) -> bytes:
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
        drawn[test] += 1
        return hashlib.blake2b(f"{test} {drawn[test]}".encode(), digest_size=count).digest()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cases, "secrets", SimpleNamespace(token_bytes=token_bytes, token_hex=secrets.token_hex))
        yield
