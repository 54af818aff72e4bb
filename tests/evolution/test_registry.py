from __future__ import annotations

import re
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from heredity.errors import ConfigError, UnknownNameError
from heredity.evolution.operators.mutate import MUTATIONS
from heredity.evolution.proposals import LoopOptions
from heredity.evolution.registry import GROUP, METHODS, load_plugin, method, method_names
from heredity.evolution.vocabulary import PIECES

DOCS = Path(__file__).parents[2] / "docs" / "methods.md"
OPTIMIZERS = DOCS.with_name("optimizers.md")


@pytest.mark.parametrize(
    "name",
    ["random", "best-of-n", "sequential", "parametric", "structural", "reflection", "textgrad", "reinforce-pp", "grpo"],
)
def test_every_built_in_method_is_found(name: str):
    assert name in method_names()
    assert hasattr(method(name), "evolve")


def test_an_unknown_method_names_the_nearest():
    with pytest.raises(UnknownNameError, match="did you mean parametric"):
        method("parametrik")


def test_an_unknown_option_names_the_nearest():
    with pytest.raises(ConfigError, match="did you mean population"):
        method("parametric", {"populaton": 9})


def test_an_option_out_of_range_is_named_with_its_value():
    with pytest.raises(ConfigError, match=r"'crossover'.*'structural'.*3"):
        method("structural", {"crossover": 3})


@pytest.mark.parametrize("value", ["heredity.nowhere:Method", "heredity.errors:Nothing"])
def test_a_plugin_that_fails_to_load_says_so(value: str):
    with pytest.raises(ConfigError, match=f"'mine' of entry point '{value}' failed to load"):
        load_plugin(EntryPoint("mine", value, GROUP))


def test_a_plugin_that_is_not_a_method_says_so():
    with pytest.raises(ConfigError, match="give a class with `evolve`"):
        load_plugin(EntryPoint("mine", "heredity.errors:ConfigError", GROUP))


def test_a_plugin_loads_by_its_entry_point():
    loaded = load_plugin(EntryPoint("mine", "heredity.evolution.methods.parametric:Parametric", GROUP))
    assert loaded is METHODS["parametric"]


def test_the_documentation_lists_every_option_with_its_default():
    text = DOCS.read_text() + OPTIMIZERS.read_text()
    rows = {(m, o): d for m, o, d in re.findall(r"^\| `([\w-]+)` \| `(\w+)` \| (.+?) \|", text, re.M)}
    shared = {("all", option): str(field.default) for option, field in LoopOptions.model_fields.items()}
    fields = {
        (name, option): str(field.default)
        for name, each in METHODS.items()
        for option, field in each.options_model.model_fields.items()
        if not issubclass(each.options_model, LoopOptions) or shared.get(("all", option)) != str(field.default)
    }
    assert rows == shared | fields


def test_the_documentation_lists_the_whole_vocabulary():
    text = DOCS.read_text()
    assert [name for name in (*METHODS, *PIECES, *MUTATIONS) if f"| `{name}` |" not in text] == []
