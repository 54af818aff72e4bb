from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from heredity.errors import ConfigError, UnknownNameError
from heredity.tasks import registry
from heredity.tasks.registry import taskset, taskset_names


def plugged(monkeypatch: pytest.MonkeyPatch, *entries: EntryPoint) -> None:
    monkeypatch.setattr(registry, "entry_points", lambda group: [e for e in entries if e.group == group])


def test_our_environments_are_tasksets():
    assert taskset("gymnasium/CartPole-v1").info.name == "gymnasium/CartPole-v1"
    assert "gymnasium/Acrobot-v1" in taskset_names()


@pytest.mark.parametrize("name", ["gymnasium/CartPol-v1", "gymnasum/CartPole-v1", "CartPole-v1"])
def test_an_unknown_name_suggests_the_nearest(name: str):
    with pytest.raises(UnknownNameError, match="CartPole-v1"):
        taskset(name)


class Source:
    def names(self):
        return ["acme/one"]

    def taskset(self, name: str):
        return name.upper()


SOURCE = Source()
NOT_A_SOURCE = 3


def test_a_package_plugs_in_by_its_first_name(monkeypatch: pytest.MonkeyPatch):
    plugged(monkeypatch, EntryPoint("acme", f"{__name__}:SOURCE", registry.GROUP))
    assert taskset("acme/one") == "ACME/ONE"
    assert "acme/one" in taskset_names()


@pytest.mark.parametrize("target", ["no_such_module:SOURCE", f"{__name__}:ABSENT", f"{__name__}:NOT_A_SOURCE"])
def test_a_plugin_that_fails_to_load_says_its_name(monkeypatch: pytest.MonkeyPatch, target: str):
    plugged(monkeypatch, EntryPoint("acme", target, registry.GROUP))
    with pytest.raises(ConfigError, match="plugin 'acme'"):
        taskset("acme/one")
    with pytest.raises(ConfigError, match="plugin 'acme'"):
        taskset_names()


def test_two_packages_may_not_claim_one_name(monkeypatch: pytest.MonkeyPatch):
    plugged(monkeypatch, EntryPoint("gymnasium", "other:SOURCE", registry.GROUP))
    with pytest.raises(ConfigError, match="two packages"):
        taskset("gymnasium/CartPole-v1")
