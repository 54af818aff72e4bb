"""Every number of every section of every configuration has a range."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, get_args, get_origin

import pytest
from pydantic import BaseModel, ValidationError

from heredity._core.errors import ConfigError
from heredity.experiments.config import config_of, resolve
from heredity.methods.registry import METHODS
from heredity.protocols.registry import PROTOCOLS
from heredity.team.settings import TeamSettings

FREE = {"canaries", "solved"}
"""Numbers of tasks that are looked up, and a score: neither is counted up to."""


def parts(annotation: Any) -> Iterator[Any]:
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_args(annotation):
        for inner in get_args(annotation):
            yield from parts(inner)
    else:
        yield annotation


def numbers(model: type[BaseModel], seen: set[type]) -> Iterator[tuple[type[BaseModel], str, type]]:
    if model in seen:
        return
    seen.add(model)
    for name, field in model.model_fields.items():
        for part in parts(field.annotation):
            if isinstance(part, type) and issubclass(part, BaseModel):
                yield from numbers(part, seen)
            elif part in (int, float) and name not in FREE:
                yield model, name, part


@cache
def every_number() -> list[tuple[type[BaseModel], str, type]]:
    seen: set[type] = set()
    models = [config_of(name) for name in PROTOCOLS.own()]
    models += [METHODS.load(name).options_model for name in METHODS.own()]
    return [entry for model in [*models, TeamSettings] for entry in numbers(model, seen)]


@pytest.mark.parametrize("entry", every_number(), ids=lambda entry: f"{entry[0].__name__}.{entry[1]}")
def test_a_number_that_is_out_of_all_proportion_is_refused(entry: tuple[type[BaseModel], str, type]) -> None:
    model, name, kind = entry
    wrong = [
        10**17,
        -(10**19),
        *([1e300, float("inf"), float("-inf"), float("nan")] if kind is float else [2.5]),
        "many",
    ]
    # As files have them, where the largest numbers are infinite.
    for value in [*wrong, tomllib.loads("value = 1e400")["value"]]:
        if name.startswith("seed") and value == 10**17:
            value = [10**19]
        with pytest.raises(ValidationError) as refused:
            model.model_validate({name: value})
        assert any(name in map(str, error["loc"]) for error in refused.value.errors()), (value, refused.value)


@pytest.mark.parametrize("count", [10**8, 10**12, 99_999_999])
@pytest.mark.parametrize("key", ["views.heldout", "views.validation", "budget.train_cases", "budget.episodes"])
def test_a_count_too_many_is_refused_before_anything_is_drawn(key: str, count: int) -> None:
    data = {"run": {"tasksets": ["gymnasium/CartPole-v1"]}}
    expected = rf"{key} = {count}: expected less than or equal to 10*; split a larger experiment into several suites"
    with pytest.raises(ConfigError, match=expected):
        resolve(data, [f"{key}={count}"])


def test_what_somebody_may_want_is_allowed() -> None:
    asked = [
        "views.heldout=100000",
        "budget.train_cases=100000",
        "budget.episodes=1000000",
        "budget.tokens=1000000000000",
    ]
    config = resolve({"run": {"tasksets": ["gymnasium/CartPole-v1"]}}, asked)
    assert (config.views.heldout, config.budget.episodes, config.budget.tokens) == (100_000, 1_000_000, 10**12)
