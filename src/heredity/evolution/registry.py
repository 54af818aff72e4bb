"""The built-in methods by name, and those of installed packages (entry point group `heredity.methods`)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any, Protocol, cast

from heredity.errors import ConfigError, UnknownNameError
from heredity.evolution.contract import Method
from heredity.evolution.methods.ace import Ace
from heredity.evolution.methods.adaptive import Adaptive
from heredity.evolution.methods.ahe import Ahe
from heredity.evolution.methods.best_of_n import BestOfN
from heredity.evolution.methods.edits import BestOfNEdits, SequentialEdits
from heredity.evolution.methods.gepa_package import Gepa
from heredity.evolution.methods.grpo import Grpo
from heredity.evolution.methods.parametric import Parametric
from heredity.evolution.methods.random_policy import RandomPolicy
from heredity.evolution.methods.refine import Refine
from heredity.evolution.methods.reflection import Reflection
from heredity.evolution.methods.reinforce_pp import ReinforcePP
from heredity.evolution.methods.select_optimise_evaluate import SelectOptimiseEvaluate
from heredity.evolution.methods.sequential import Sequential
from heredity.evolution.methods.static import Static
from heredity.evolution.methods.structural import Structural
from heredity.evolution.methods.textgrad import TextGrad
from heredity.evolution.methods.tf_grpo import TfGrpo
from heredity.evolution.options import MethodOptions, parse_options

GROUP = "heredity.methods"


class MethodClass(Protocol):
    """What is registered: a class (or a function) that makes a method, with its name and its options.

    Methods that take their train tasks from `SessionContract.batches`, where a run has a schedule, say `scheduled = True`.
    """

    name: str
    options_model: type[MethodOptions]

    def __call__(self) -> Method:
        """Make a method; it keeps no state between runs."""
        ...


_BUILT_IN = (
    *(RandomPolicy, BestOfN, Sequential, Parametric, Structural),
    *(Static, BestOfNEdits, SequentialEdits, Reflection, TextGrad, ReinforcePP, Grpo),
    *(SelectOptimiseEvaluate, Adaptive),
    *(Ace, TfGrpo, Ahe, Gepa, Refine),
)
METHODS: Mapping[str, MethodClass] = MappingProxyType({each.name: cast(MethodClass, each) for each in _BUILT_IN})
"""The built-in methods: name to class."""


def method(name: str, options: Mapping[str, Any] | None = None) -> Method:
    """Make the method of that name, built-in or from an installed package.

    Args:
        name: its name, such as `"parametric"`.
        options: the options it will find in its context, to be checked before a run begins.

    Raises:
        UnknownNameError: if there is none; names the nearest.
        ConfigError: if an option is unknown or out of range, or an installed package's method cannot be loaded.
    """
    found = method_class(name)
    model = getattr(found, "options_model", None)
    if model is not None:
        parse_options(model, name, options or {})
    return found()


def method_class(name: str) -> MethodClass:
    """Return the class of the method of that name, with its `options_model`.

    Raises:
        UnknownNameError: if there is none; names the nearest.
        ConfigError: if an installed package's method cannot be loaded.
    """
    if name in METHODS:
        return METHODS[name]
    plugins = _plugins()
    if name not in plugins:
        raise UnknownNameError("method", name, method_names())
    return load_plugin(plugins[name])


def method_names() -> list[str]:
    """Return the names of all methods, built-in ones first; a plugin's code is not loaded for it."""
    return [*METHODS, *(name for name in sorted(_plugins()) if name not in METHODS)]


def load_plugin(point: EntryPoint) -> MethodClass:
    """Load the method that an installed package offers.

    Raises:
        ConfigError: if it cannot be imported or is not a method.
    """
    try:
        loaded = point.load()
    except (ImportError, AttributeError, SyntaxError) as error:
        raise ConfigError(
            f"method {point.name!r} of entry point {point.value!r} failed to load: {error}; repair or uninstall its package"
        ) from error
    if not callable(loaded) or not hasattr(loaded, "evolve"):
        raise ConfigError(
            f"method {point.name!r} of entry point {point.value!r} is {loaded!r}; give a class with `evolve`"
        )
    return cast(MethodClass, loaded)


@cache
def _plugins() -> Mapping[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}
