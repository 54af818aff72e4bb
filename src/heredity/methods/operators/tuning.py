"""Programs as points: a fixed text with a vector of tunable constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from heredity.methods.contract import EvolverContext
from heredity.methods.operators.constants import find_constants, rewrite_constants
from heredity.methods.operators.draw import sparse_weights
from heredity.methods.programs import POLICY
from heredity.methods.starter import linear_program, linear_shape
from heredity.resources import Candidate
from heredity.resources.candidate import AGENT

_BIASED = 0.25


@dataclass(frozen=True, eq=False)
class Tunable:
    """A candidate whose policy program has numeric constants to tune.

    Attributes:
        candidate: the candidate; its other parts and files do not change.
        path: the program's file.
    """

    candidate: Candidate
    path: str = POLICY

    @property
    def source(self) -> str:
        """Text of the program, without a byte order mark."""
        return self.candidate.agent.text(self.path).removeprefix("\ufeff")

    @cached_property
    def values(self) -> np.ndarray:
        """The constants in source order, shape (n,)."""
        return np.array([constant.value for constant in find_constants(self.source)])

    def with_values(self, values: np.ndarray) -> Tunable:
        """Return the same program with other constants, shape (n,)."""
        text = rewrite_constants(self.source, [float(v) for v in values])
        return self.with_source(text)

    def with_source(self, text: str) -> Tunable:
        """Return the candidate with another program."""
        program = self.candidate.agent.with_file(self.path, text)
        return Tunable(Candidate({**self.candidate.parts, AGENT: program}), self.path)


def program_file(public: Mapping[str, Any]) -> str:
    """Return the file to tune in a taskset's candidates: its `program_file`, else `policy.py`."""
    return str(public.get("program_file", POLICY))


def has_constants(candidate: Candidate, path: str = POLICY) -> bool:
    """Return True if a candidate's program has constants to tune.

    Raises:
        ConfigError: if it is not valid Python.
    """
    program = candidate.parts.get(AGENT)
    return program is not None and path in program and bool(find_constants(Tunable(candidate, path).source))


def starting_point(context: EvolverContext, rng: np.random.Generator) -> Tunable:
    """Return the initial program if it has constants to tune, else a linear controller drawn at random.

    Raises:
        ConfigError: if the initial program is not valid Python, or a space is wrong.
    """
    path = program_file(context.taskset.public)
    if path != POLICY or has_constants(context.initial):
        return Tunable(context.initial, path)
    return random_linear(context, rng)


def random_linear(context: EvolverContext, rng: np.random.Generator) -> Tunable:
    """Return a linear controller with weights drawn at random, most of them zero and biases rare.

    Raises:
        ConfigError: if a space is missing or cannot be controlled.
    """
    public = context.taskset.public
    weights = sparse_weights(rng, linear_shape(public))
    weights[:, -1] *= rng.random(len(weights)) < _BIASED
    return Tunable(Candidate.program(linear_program(public, weights)))
