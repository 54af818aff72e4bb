from __future__ import annotations

import pytest
from tests.offering import Offer

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.tasks.registry import taskset, taskset_names


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


def test_a_package_plugs_in_by_its_first_name(offer: Offer):
    offer("heredity.tasksets", "acme", f"{__name__}:SOURCE")
    assert taskset("acme/one") == "ACME/ONE"
    assert "acme/one" in taskset_names()


def test_what_offers_no_tasksets_says_its_name(offer: Offer):
    offer("heredity.tasksets", "acme", f"{__name__}:NOT_A_SOURCE")
    with pytest.raises(ConfigError, match="source of tasksets 'acme'"):
        taskset("acme/one")
    with pytest.raises(ConfigError, match="source of tasksets 'acme'"):
        taskset_names()
