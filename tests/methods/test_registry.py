from __future__ import annotations

from pathlib import Path

import pytest
from tests.offering import Offer

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.methods.registry import METHODS, method
from heredity.methods.structural import MUTATIONS, PIECES

DOCS = Path(__file__).parents[2] / "docs" / "methods.md"


@pytest.mark.parametrize(
    "name",
    ["random", "best-of-n", "sequential", "parametric", "structural", "reflection", "textgrad", "reinforce-pp", "grpo"],
)
def test_every_built_in_method_is_found(name: str):
    assert name in METHODS.names()
    assert hasattr(method(name), "evolve")


def test_an_unknown_method_names_the_nearest():
    with pytest.raises(UnknownNameError, match="did you mean parametric"):
        method("parametrik")


def test_an_unknown_option_names_the_nearest():
    with pytest.raises(ConfigError, match="did you mean population"):
        method("parametric", {"populaton": 9})


def test_an_option_out_of_range_is_named_with_its_value():
    with pytest.raises(ConfigError, match=r"'structural': crossover = 3: expected"):
        method("structural", {"crossover": 3})


def test_what_is_no_method_is_refused(offer: Offer):
    offer("heredity.methods", "mine", "heredity._core.errors:ConfigError")
    with pytest.raises(ConfigError, match="give a class with `evolve`"):
        method("mine")


def test_the_documentation_lists_the_whole_vocabulary():
    text = DOCS.read_text()
    assert [name for name in (*PIECES, *MUTATIONS) if f"`{name}`" not in text] == []
